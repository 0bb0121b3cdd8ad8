/** The status bar item: whose turn it is, and how much waits. Also the context keys of the conversation on screen. */
import * as vscode from "vscode";
import type { App } from "./app.ts";
import type { Turn } from "./protocol.gen.ts";

export function statusBar(app: App): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("sidekicks", vscode.StatusBarAlignment.Right, 100);
  item.name = "Sidekicks";
  const refresh = (): void => {
    draw(app, item);
    const { channel, turns } = app.chat.conversation;
    void vscode.commands.executeCommand("setContext", "sidekicks.channel", channel?.kind);
    void vscode.commands.executeCommand("setContext", "sidekicks.answering", turns.length > 0);
  };
  refresh();
  item.show();
  return vscode.Disposable.from(
    item,
    app.overview.onChange(refresh),
    app.bridge.onState(refresh),
    app.chat.conversation.onChange(refresh),
  );
}

function draw(app: App, item: vscode.StatusBarItem): void {
  const { attention, agents, permissions } = app.overview.current;
  const { state } = app.bridge;
  item.backgroundColor = undefined;
  if (state === "missing" || state === "failed") {
    item.text = "$(comment-discussion) $(warning)";
    item.tooltip = vscode.l10n.t("Sidekicks: the bridge does not run. Click to start it.");
    item.command = "sidekicks.bridge.restart";
    return;
  }
  const running = app.chat.conversation.turns.find((turn) => turn.state !== "queued");
  const busy = agents.filter((agent) => agent.state === "busy").map(({ title }) => title);
  const words = running ? [doing(running)] : busy.length > 0 ? [busy.join(", ")] : [];
  if (attention > 0) words.push(`$(bell-dot) ${attention}`);
  const icon =
    state === "starting" || running || busy.length > 0 ? "$(loading~spin)" : "$(comment-discussion)";
  item.text = [icon, ...words].join(" ");
  if (permissions.length > 0) item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
  item.tooltip =
    attention > 0
      ? vscode.l10n.t("Sidekicks: {0} things wait for you", attention)
      : vscode.l10n.t("Sidekicks: open the chat");
  item.accessibilityInformation = { label: [item.tooltip, ...(running ? [doing(running)] : [])].join(", ") };
  item.command = attention > 0 ? "sidekicks.attention" : "sidekicks.chat.focus";
}

function doing(turn: Turn): string {
  const words: Record<Turn["state"], string> = {
    queued: vscode.l10n.t("{0} waits", turn.agent),
    starting: vscode.l10n.t("{0} starts", turn.agent),
    thinking: vscode.l10n.t("{0} thinks", turn.agent),
    tool: vscode.l10n.t("{0} works", turn.agent),
    writing: vscode.l10n.t("{0} writes", turn.agent),
    awaitingPermission: vscode.l10n.t("{0} asks", turn.agent),
    cancelling: vscode.l10n.t("{0} stops", turn.agent),
  };
  return words[turn.state];
}
