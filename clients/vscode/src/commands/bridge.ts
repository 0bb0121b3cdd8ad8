/** The bridge itself: restart, log, installation, doctor, its configuration. */
import * as vscode from "vscode";
import type { App, Commands } from "../app.ts";
import { sentence } from "../plain.ts";

export function bridgeCommands(app: App): Commands {
  return {
    "bridge.restart": () => app.bridge.restart(),
    "bridge.log": () => app.log.show(true),
    "bridge.install": install,
    "bridge.doctor": () => doctor(app),
    "bridge.settings": openSettings,
    "configuration.open": async () => {
      const { path } = await app.bridge.request("sidekicks/config/get", {});
      await vscode.window.showTextDocument(vscode.Uri.file(path));
    },
    "turn.stop": async () => {
      const { channelId } = app.chat.conversation;
      if (channelId) await app.bridge.request("sidekicks/turn/cancel", { channelId });
    },
  };
}

/** The settings of the bridge: where VS Code works remotely they are that machine's. */
async function openSettings(): Promise<void> {
  const local = vscode.env.remoteName === undefined;
  const command = local ? "workbench.action.openSettings" : "workbench.action.openRemoteSettings";
  await vscode.commands.executeCommand(command, { query: "sidekicks.bridge" });
}

/** A terminal with the command typed and not yet run: what is installed is the user's decision. */
function install(): void {
  const terminal = vscode.window.createTerminal({ name: vscode.l10n.t("Install Sidekicks Bridge") });
  terminal.show();
  terminal.sendText("pipx install ./sidekicks-bridge", false);
}

/** What one would ask first when something does not work, as a document. */
async function doctor(app: App): Promise<void> {
  const { bridge, overview } = app;
  const lines = [
    `# Sidekicks`,
    `- extension ${(app.context.extension.packageJSON as { version: string }).version}, VS Code ${vscode.version}`,
    `- bridge: ${bridge.found ? `${bridge.found.version}, \`${bridge.found.command.join(" ")}\`` : "not found"}`,
    `- state: ${bridge.state}${bridge.problem && bridge.state !== "ready" ? `: ${bridge.problem.message}` : ""}`,
    `- folder trusted: ${vscode.workspace.isTrusted ? "yes" : "no"}`,
  ];
  if (bridge.state === "ready") lines.push(...(await bridgeLines(app)));
  const { config, storage, agents } = overview.current;
  lines.push(
    "",
    "## Configuration",
    `- \`${config.path}\``,
    ...config.problems.map(({ line, column, message }) => `- line ${line}, column ${column}: ${message}`),
    "",
    "## History",
    `- ${storage.persistent ? "kept on disk" : `not kept: ${storage.reason ?? ""}`}`,
    "",
    "## Agents",
    ...agents.map(
      ({ name, state, error }) => `- @${name}: ${state}${error === undefined ? "" : `: ${error}`}`,
    ),
    "",
  );
  await app.documents.show(vscode.l10n.t("Sidekicks: how things stand"), lines.join("\n"), "markdown");
}

async function bridgeLines(app: App): Promise<string[]> {
  try {
    const status = await app.bridge.request("sidekicks/bridge/status", {});
    const clients = status.clients.map(
      ({ name, folder, you }) => `${name}${folder ? ` (${folder})` : ""}${you ? ", this one" : ""}`,
    );
    return [
      `- owner: process ${status.pid}, ${status.kind}, since ${status.startedAt}`,
      `- attached: ${clients.join("; ")}`,
    ];
  } catch (error) {
    return [`- status: ${sentence(error)}`];
  }
}
