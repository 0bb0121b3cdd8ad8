/** Agents' processes: starting, stopping, their logs. */
import * as vscode from "vscode";
import type { App, Commands } from "../app.ts";
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
