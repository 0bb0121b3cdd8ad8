/** The parts that commands work with. */
import type * as vscode from "vscode";
import type { Bridge } from "./bridge.ts";
import type { ChatView } from "./chat/view.ts";
import type { VirtualDocuments } from "./documents/virtual.ts";
import type { OverviewStore } from "./overview-store.ts";

export interface App {
  context: vscode.ExtensionContext;
  log: vscode.LogOutputChannel;
  bridge: Bridge;
  overview: OverviewStore;
  chat: ChatView;
  documents: VirtualDocuments;
}

/** Commands by their id without the extension's prefix. */
export type Commands = Record<string, (...given: never[]) => unknown>;
