/**
 * Messages written in an editor: `sidekicks:/<slug>/compose`, language `sidekicks-compose`, so that every completion of
 * the editor works. Saving keeps the draft; sending empties it.
 */
import * as vscode from "vscode";
import type { App, Commands } from "../app.ts";
import { slugOf } from "../overview.ts";
import { Tokens } from "../tokens.ts";

const SCHEME = "sidekicks";

const KEPT = "sidekicks.compose";

export class ComposeFiles implements vscode.FileSystemProvider {
  readonly #state: vscode.Memento;
  readonly #texts: Map<string, string>;
  readonly #changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changes.event;

  /** `state`: what is saved outlives the window there. */
  constructor(state: vscode.Memento) {
    this.#state = state;
    this.#texts = new Map(Object.entries(state.get<Record<string, string>>(KEPT, {})));
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const type = uri.path.endsWith("/compose") ? vscode.FileType.File : vscode.FileType.Directory;
    return { type, ctime: 0, mtime: Date.now(), size: this.readFile(uri).length };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return Buffer.from(this.#texts.get(uri.path) ?? "");
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    if (content.length === 0) this.#texts.delete(uri.path);
    else this.#texts.set(uri.path, Buffer.from(content).toString());
    await this.#state.update(KEPT, Object.fromEntries(this.#texts));
    this.#changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(uri: vscode.Uri): Promise<void> {
    return this.writeFile(uri, new Uint8Array());
  }

  rename(): void {
    throw vscode.FileSystemError.NoPermissions();
  }
}

export function composeCommands(app: App): Commands {
  const files = new ComposeFiles(app.context.workspaceState);
  const tokens = new Tokens();
  app.context.subscriptions.push(
    vscode.workspace.registerFileSystemProvider(SCHEME, files, { isCaseSensitive: true }),
  );
  return {
    "compose.open": async () => {
      const { channel } = app.chat.conversation;
      if (!channel) return;
      const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${slugOf(channel)}/compose` });
      const document = await vscode.workspace.openTextDocument(uri);
      await vscode.languages.setTextDocumentLanguage(document, "sidekicks-compose");
      await vscode.window.showTextDocument(document);
    },
    "compose.send": () => send(app, tokens),
  };
}

/** Send the document in front to the channel its name gives; any other `.sidekicks` document to the one on screen. */
async function send(app: App, tokens: Tokens): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "sidekicks-compose") return;
  const { document } = editor;
  const text = document.getText();
  const slug = document.uri.scheme === SCHEME ? document.uri.path.split("/")[1] : undefined;
  const named = app.overview.current.channels.find((channel) => slugOf(channel) === slug);
  const channelId = named?.id ?? app.chat.conversation.channelId;
  if (channelId === undefined || text.trim() === "") return;
  const sending = { channelId, text, attachments: [] };
  const clientToken = tokens.of(sending);
  tokens.doubt(sending, clientToken); // until it is answered the text stands there, and may be sent again
  await app.bridge.request("sidekicks/message/send", { ...sending, clientToken });
  tokens.taken(clientToken);
  const whole = new vscode.Range(document.positionAt(0), document.positionAt(text.length));
  await editor.edit((edit) => edit.delete(whole));
  await document.save();
  await app.chat.show(channelId, false);
}
