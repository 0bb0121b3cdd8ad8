/** Signing in to agents and out of them: by the agent itself, by its command in a terminal, or by variables to set. */
import * as vscode from "vscode";
import type { App, Commands } from "../app.ts";
import type { Agent, Authenticated, SignInMethod, TerminalCommand } from "../protocol.gen.ts";
import { agentOf, type Given } from "./pick.ts";

export function signInCommands(app: App): Commands {
  return {
    "agent.signIn": async (given?: Given, methodId?: string) => {
      const known = (agent: Agent): boolean => methodsOf(app, agent.name).length > 0;
      const agent = await agentOf(app, given, vscode.l10n.t("Where do you want to sign in?"), known);
      if (!agent) return;
      const id = typeof methodId === "string" ? methodId : (await pick(app, agent))?.id;
      if (id !== undefined) await signIn(app, agent.name, id);
    },
    "agent.signOut": async (given?: Given) => {
      const can = ({ canLogOut }: Agent): boolean => canLogOut === true;
      const agent = await agentOf(app, given, vscode.l10n.t("Where do you want to sign out?"), can);
      if (!agent) return;
      await app.bridge.request("sidekicks/agent/logout", { agent: agent.name });
      void vscode.window.showInformationMessage(vscode.l10n.t("Signed out of @{0}.", agent.name));
    },
  };
}

/** The ways that an agent has named: with what it wants now, else when it was started last. */
function methodsOf(app: App, agent: string): SignInMethod[] {
  const { agents, signIns = [] } = app.overview.current;
  const wanted = signIns.find((one) => one.agent === agent);
  return wanted?.methods ?? agents.find(({ name }) => name === agent)?.signIn ?? [];
}

async function pick(app: App, agent: Agent): Promise<SignInMethod | undefined> {
  const items = methodsOf(app, agent.name).map((method) => ({
    label: method.name,
    detail: method.description,
    method,
  }));
  const title = vscode.l10n.t("Sign in to {0}", agent.title);
  return (await vscode.window.showQuickPick(items, { title }))?.method;
}

async function signIn(app: App, agent: string, methodId: string): Promise<void> {
  const ask = { agent, methodId };
  const first = await app.bridge.request("sidekicks/agent/authenticate", ask);
  if (!first.terminal) {
    await tell(first);
    return;
  }
  const code = await run(vscode.l10n.t("Sign in to {0}", agent), first.terminal);
  if (code === 0) await tell(await app.bridge.request("sidekicks/agent/authenticate", { ...ask, ran: true }));
  else throw new Error(vscode.l10n.t("Not signed in: the command ended with {0}.", code ?? "?"));
}

/** Run a command in a terminal in front of the user; answers its exit code when it has ended. */
function run(name: string, { command, args, env, cwd }: TerminalCommand): Promise<number | undefined> {
  const added = env as Record<string, string>;
  const terminal = vscode.window.createTerminal({
    name,
    shellPath: command,
    shellArgs: args,
    env: added,
    cwd,
  });
  terminal.show();
  return new Promise((resolve) => {
    const closing = vscode.window.onDidCloseTerminal((closed) => {
      if (closed !== terminal) return;
      closing.dispose();
      resolve(closed.exitStatus?.code);
    });
  });
}

async function tell({ done, text }: Authenticated): Promise<void> {
  if (done) {
    void vscode.window.showInformationMessage(text);
    return;
  }
  const open = vscode.l10n.t("Open Configuration");
  if ((await vscode.window.showWarningMessage(text, open)) === open)
    await vscode.commands.executeCommand("sidekicks.configuration.open");
}
