/** Agents' processes and their sessions: starting, stopping, logs, modes and options. */
import * as vscode from "vscode";
import type { App, Commands } from "../app.ts";
import type { Member, Modes, SessionOption } from "../protocol.gen.ts";
import { agentOf, type Given } from "./pick.ts";

export function agentCommands(app: App): Commands {
  const { bridge } = app;
  const running = ({ state }: { state: string }): boolean => state !== "stopped" && state !== "error";
  return {
    "agent.start": async (given?: Given) => {
      const agent = await agentOf(app, given, vscode.l10n.t("Which agent starts?"), (one) => !running(one));
      if (agent) await bridge.request("sidekicks/agent/start", { agent: agent.name });
    },
    "agent.stop": async (given?: Given) => {
      const agent = await agentOf(app, given, vscode.l10n.t("Which agent stops?"), running);
      if (agent) await bridge.request("sidekicks/agent/stop", { agent: agent.name });
    },
    "agent.restart": async (given?: Given) => {
      const agent = await agentOf(app, given, vscode.l10n.t("Which agent starts anew?"));
      if (agent) await bridge.request("sidekicks/agent/restart", { agent: agent.name });
    },
    "agent.log": async (given?: Given) => {
      const agent = await agentOf(app, given, vscode.l10n.t("Whose log?"));
      if (agent) await showLog(app, agent.name);
    },
    "session.configure": async (given?: Given) => configure(app, given),
  };
}

const logs = new Map<string, vscode.OutputChannel>();

/** The agent's stderr in an output channel, which goes on as the agent writes. */
async function showLog(app: App, agent: string): Promise<void> {
  let channel = logs.get(agent);
  if (!channel) {
    channel = vscode.window.createOutputChannel(`Sidekicks: ${agent}`);
    logs.set(agent, channel);
    const output = channel;
    app.context.subscriptions.push(
      output,
      app.bridge.onEvent((event) => {
        if (event.method === "sidekicks/agent/log" && event.params.agent === agent)
          output.appendLine(event.params.line);
      }),
    );
  }
  const { lines } = await app.bridge.request("sidekicks/agent/logs", { agent });
  channel.replace(lines.map((line) => `${line}\n`).join(""));
  channel.show(true);
}

type Choice = vscode.QuickPickItem & { apply?: () => Promise<unknown> };

/** Modes, models and options of a member's session, as one list; what is chosen is set. */
async function configure(app: App, given: Given): Promise<void> {
  const { channel } = app.chat.conversation;
  if (!channel) return;
  const record = app.overview.current.channels.find(({ id }) => id === channel.id) ?? channel;
  const members = record.members.filter(({ kind }) => kind === "agent");
  const member = await memberOf(members, given);
  if (!member) return;
  const choices = choicesOf(app, channel.id, member);
  if (choices.length === 0) {
    const text = vscode.l10n.t(
      "{0} offers no modes or options here. They appear once its session is open.",
      member.name,
    );
    await vscode.window.showInformationMessage(text);
    return;
  }
  const chosen = await vscode.window.showQuickPick(choices, {
    title: `@${member.name}`,
    matchOnDescription: true,
  });
  await chosen?.apply?.();
}

async function memberOf(members: Member[], given: Given): Promise<Member | undefined> {
  const name = typeof given === "string" ? given : given?.kind === "agent" ? given.agent.name : undefined;
  const named = members.find((member) => member.name === name);
  if (named ?? members.length <= 1) return named ?? members[0];
  const items = members.map((member) => ({ label: `@${member.name}`, member }));
  return (await vscode.window.showQuickPick(items, { placeHolder: vscode.l10n.t("Whose?") }))?.member;
}

function choicesOf(app: App, channelId: string, member: Member): Choice[] {
  const to = { channelId, agent: member.name };
  const set = (what: object): Promise<unknown> =>
    app.bridge.request("sidekicks/session/setMode", { ...to, ...what });
  return [
    ...modeChoices(vscode.l10n.t("Mode"), member.modes, (modeId) => set({ modeId })),
    ...modeChoices(vscode.l10n.t("Model"), member.models, (modelId) => set({ modelId })),
    ...(member.options ?? []).flatMap((option) =>
      optionChoices(option, (value) =>
        app.bridge.request("sidekicks/session/setOption", { ...to, optionId: option.id, value }),
      ),
    ),
  ];
}

function heading(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function modeChoices(
  title: string,
  modes: Modes | undefined,
  set: (id: string) => Promise<unknown>,
): Choice[] {
  if (!modes || modes.available.length === 0) return [];
  const choices = modes.available.map(({ id, name, description }) => ({
    label: id === modes.current ? `$(check) ${name}` : name,
    detail: description,
    apply: () => set(id),
  }));
  return [heading(title), ...choices];
}

function optionChoices(option: SessionOption, set: (value: string | boolean) => Promise<unknown>): Choice[] {
  if (option.kind === "boolean") {
    const on = option.value === true;
    const label = on ? `$(check) ${option.name}` : option.name;
    return [heading(option.name), { label, detail: option.description, apply: () => set(!on) }];
  }
  const choices = (option.choices ?? []).map(({ value, name, description, group }) => ({
    label: value === option.value ? `$(check) ${name}` : name,
    description: group,
    detail: description,
    apply: () => set(value),
  }));
  return choices.length === 0 ? [] : [heading(option.name), ...choices];
}
