/**
 * Read-only documents made of what the bridge said: prompts, whole tool outputs, both sides of a diff. A document lives
 * as long as somebody shows it.
 */
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import * as vscode from "vscode";

const SCHEME = "sidekicks-view";

export class VirtualDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #registrations: vscode.Disposable[];

  constructor() {
    this.#registrations = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === SCHEME) this.#texts.delete(uri.authority);
      }),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.authority) ?? "";
  }

  /** Show a text in an editor of its own. */
  async show(title: string, text: string, language?: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(this.#uri(title, text));
    if (language) await vscode.languages.setTextDocumentLanguage(document, language);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  /** Show a change in the diff editor; no `before`: the file is new. */
  async diff(path: string, before: string, after: string, title: string): Promise<void> {
    const name = basename(path);
    await vscode.commands.executeCommand(
      "vscode.diff",
      this.#uri(name, before),
      this.#uri(name, after),
      title,
      {
        preview: true,
      } satisfies vscode.TextDocumentShowOptions,
    );
  }

  #uri(name: string, text: string): vscode.Uri {
    const authority = randomUUID();
    this.#texts.set(authority, text);
    return vscode.Uri.from({ scheme: SCHEME, authority, path: `/${name.replaceAll("/", "∕")}` });
  }

  dispose(): void {
    for (const registration of this.#registrations) registration.dispose();
  }
}
