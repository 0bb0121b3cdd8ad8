/** Puts the extension together and takes it apart. */
import * as vscode from "vscode";
import type { App } from "./app.ts";
import { Bridge } from "./bridge.ts";
import { ChatActions } from "./chat/actions.ts";
import { ChatView } from "./chat/view.ts";
import { agentCommands } from "./commands/agents.ts";
import { attachCommands } from "./commands/attach.ts";
import { bridgeCommands } from "./commands/bridge.ts";
import { channelCommands } from "./commands/channels.ts";
import { findCommands } from "./commands/find.ts";
import { sessionCommands } from "./commands/sessions.ts";
import { signInCommands } from "./commands/sign-in.ts";
import { configuration } from "./configuration.ts";
import { composeCommands } from "./documents/compose.ts";
import { VirtualDocuments } from "./documents/virtual.ts";
import { attempt } from "./errors.ts";
import { notifications } from "./notify.ts";
import { OverviewStore } from "./overview-store.ts";
import { statusBar } from "./status.ts";
import { Tree } from "./tree.ts";

let running: Bridge | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Sidekicks", { log: true });
  const bridge = new Bridge(log);
  const overview = new OverviewStore(bridge); // before the views: it asks first when the bridge is ready
  const documents = new VirtualDocuments();
  const chat = new ChatView(context, bridge, overview);
  const app: App = { context, log, bridge, overview, chat, documents };
  running = bridge;
  new ChatActions(bridge, chat, overview, documents);
  const commands = {
    ...channelCommands(app),
    ...agentCommands(app),
    ...signInCommands(app),
    ...sessionCommands(app),
    ...attachCommands(chat),
    ...findCommands(app),
    ...bridgeCommands(app),
    ...composeCommands(app),
  };
  for (const [name, run] of Object.entries(commands)) {
    const command = (...given: never[]): Promise<unknown> => attempt(() => run(...given));
    context.subscriptions.push(vscode.commands.registerCommand(`sidekicks.${name}`, command));
  }
  context.subscriptions.push(
    log,
    bridge,
    overview,
    documents,
    chat,
    new Tree(bridge, overview),
    statusBar(app),
    notifications(app),
    configuration(app),
    ...restartWhenNeeded(bridge),
  );
  void bridge.start();
}

/** What the handshake said holds for the bridge's life: trust and these settings. */
function restartWhenNeeded(bridge: Bridge): vscode.Disposable[] {
  return [
    vscode.workspace.onDidGrantWorkspaceTrust(() => void bridge.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const ours = ["sidekicks.bridge", "sidekicks.completion"].some((key) =>
        change.affectsConfiguration(key),
      );
      if (ours) void bridge.restart();
    }),
  ];
}

export async function deactivate(): Promise<void> {
  await running?.end();
}
