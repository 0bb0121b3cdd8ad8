/** What the chat view's buttons and links do in the editor. The view is not trusted: everything it names is checked. */
import { isAbsolute, join, resolve } from "node:path";
import * as vscode from "vscode";
import type { Bridge } from "../bridge.ts";
import { attachmentOf } from "../commands/attach.ts";
import { promptText } from "../documents/prompt.ts";
import type { VirtualDocuments } from "../documents/virtual.ts";
import { attempt } from "../errors.ts";
import type { OverviewStore } from "../overview-store.ts";
import { titleOf } from "../overview.ts";
import { plain, sentence } from "../plain.ts";
import type { Part, ToolCallPart, ToolContent } from "../protocol.gen.ts";
import { VIEW_COMMANDS, VIEW_METHODS, type FromView, type RootChoice } from "./messages.ts";
import type { ChatView } from "./view.ts";

export class ChatActions {
  readonly #bridge: Bridge;
  readonly #chat: ChatView;
  readonly #overview: OverviewStore;
  readonly #documents: VirtualDocuments;

  constructor(bridge: Bridge, chat: ChatView, overview: OverviewStore, documents: VirtualDocuments) {
    this.#bridge = bridge;
    this.#chat = chat;
    this.#overview = overview;
    this.#documents = documents;
    chat.handle = (message) => void attempt(() => this.#do(message));
  }

  async #do(message: FromView): Promise<void> {
    switch (message.type) {
      case "request":
        return this.#request(message);
      case "openDiff":
        return this.#diff(await this.#part(message.messageId, message.part), message.content);
      case "openPermissionDiff": {
        const asked = this.#overview.current.permissions.find(
          ({ requestId }) => requestId === message.requestId,
        );
        return this.#diff(asked?.toolCall, message.content);
      }
      case "openFile":
        return this.#open(message.path, message.line);
      case "openLink":
        return this.#link(message.href);
      case "showPart":
        return this.#showPart(await this.#part(message.messageId, message.part));
      case "showText":
        return this.#documents.show(message.title, message.text, message.language);
      case "showPrompt":
        return this.#showPrompt(message.messageId, message.agent);
      case "copy":
        return vscode.env.clipboard.writeText(message.text);
      case "insert":
        return insertText(message.text);
      case "dropped":
        return this.#chat.attach(message.uris.map((uri) => attachmentOf(vscode.Uri.parse(uri, true))));
      case "root":
        return this.#chooseRoot(message.choice);
      case "signIn":
        await vscode.commands.executeCommand("sidekicks.agent.signIn", message.agent, message.methodId);
        return;
      case "command":
        if (!VIEW_COMMANDS.includes(message.command)) return;
        await vscode.commands.executeCommand(message.command, message.argument);
        return;
      default:
    }
  }

  /** A request of the view to the bridge: only what a view needs, and its answer goes back whatever it is. */
  async #request({ id, method, params }: Extract<FromView, { type: "request" }>): Promise<void> {
    try {
      if (!VIEW_METHODS.includes(method)) throw new Error(`The view may not ask ${method}.`);
      this.#chat.answer({ type: "answer", id, result: await this.#bridge.request(method, params as never) });
    } catch (error) {
      this.#chat.answer({ type: "refusal", id, message: sentence(error) });
    }
  }

  async #part(messageId: string, part: number): Promise<Part> {
    return (await this.#bridge.request("sidekicks/message/part", { messageId, part })).part;
  }

  async #diff(part: Part | undefined, index: number): Promise<void> {
    const change = part?.type === "toolCall" ? part.content[index] : undefined;
    if (change?.type !== "diff") return;
    const { path, oldText, newText } = change;
    const title =
      oldText === undefined
        ? vscode.l10n.t("{0} (new file)", vscode.workspace.asRelativePath(path))
        : vscode.l10n.t("{0} (changes)", vscode.workspace.asRelativePath(path));
    await this.#documents.diff(path, oldText ?? "", newText, title);
  }

  async #showPart(part: Part): Promise<void> {
    if (part.type === "toolCall") await this.#documents.show(part.title, toolText(part));
    else if (part.type === "text")
      await this.#documents.show(vscode.l10n.t("Message"), part.text, "markdown");
    else if (part.type === "thought")
      await this.#documents.show(vscode.l10n.t("Thought"), part.text, "markdown");
  }

  async #showPrompt(messageId: string, agent: string): Promise<void> {
    const prompt = await this.#bridge.request("sidekicks/message/prompt", { messageId });
    const title = vscode.l10n.t("What {0} saw", agent);
    await this.#documents.show(title, promptText(prompt, agent));
  }

  async #open(path: string, line?: number): Promise<void> {
    const root =
      this.#chat.conversation.channel?.root ?? vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "/";
    const uri = vscode.Uri.file(isAbsolute(path) ? path : resolve(root, path));
    const at = line === undefined ? undefined : new vscode.Range(line - 1, 0, line - 1, 0);
    await vscode.commands.executeCommand("vscode.open", uri, {
      preview: true,
      ...(at ? { selection: at } : {}),
    } satisfies vscode.TextDocumentShowOptions);
  }

  /** A link of an agent: the web outside, files in the editor, nothing else (`command:` and the like least of all). */
  async #link(href: string): Promise<void> {
    if (/^(https?|mailto):/i.test(href)) {
      await vscode.env.openExternal(vscode.Uri.parse(href, true));
      return;
    }
    const [, path, line] = /^(?:file:\/\/)?(.+?)(?:(?:#L|:)(\d+)(?:[-:].*)?)?$/.exec(href) ?? [];
    if (!path || /^[a-z][\w+.-]+:/i.test(path)) return;
    await this.#open(decodeURIComponent(path), line === undefined ? undefined : Number(line));
  }

  async #chooseRoot(choice: RootChoice): Promise<void> {
    const { channel } = this.#chat.conversation;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    if (!channel || !folder || choice === "stay") return;
    if (choice === "move") {
      await this.#bridge.request("sidekicks/channel/update", { channelId: channel.id, root: folder });
      await this.#chat.show(channel.id);
    } else if (channel.kind === "direct" && channel.agent) {
      const made = await this.#bridge.request("sidekicks/channel/direct", { agent: channel.agent });
      await this.#chat.show(made.id);
    } else
      await this.#createHere(
        folder,
        channel.members.filter(({ kind }) => kind === "agent").map(({ name }) => name),
      );
  }

  /** A channel for this folder, named after it. */
  async #createHere(folder: string, members: string[]): Promise<void> {
    const taken = new Set(this.#overview.current.channels.map(titleOf));
    const base = nameFrom(join(folder).split(/[\\/]/).filter(Boolean).at(-1) ?? "here");
    let name = base;
    for (let count = 2; taken.has(`#${name}`); count++) name = `${base}-${count}`;
    const made = await this.#bridge.request("sidekicks/channel/create", { name, members, root: folder });
    await this.#chat.show(made.id);
  }
}

/** A channel name made of a folder's. */
function nameFrom(folder: string): string {
  const name = folder.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/-{2,}/g, "-");
  return name.replace(/^[^A-Za-z0-9]+|[.-]+$/g, "").slice(0, 60) || "here";
}

async function insertText(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    await vscode.window.showInformationMessage(
      vscode.l10n.t("Open a file first: the code is inserted at its cursor."),
    );
    return;
  }
  await editor.edit((edit) => edit.replace(editor.selection, text));
  await vscode.window.showTextDocument(editor.document, editor.viewColumn);
}

/** A tool call as plain text: what was given, what came out. */
function toolText(part: ToolCallPart): string {
  const blocks = [part.title];
  if (part.input !== undefined) blocks.push(plain(part.input));
  blocks.push(...part.content.map(contentText));
  if (part.output !== undefined) blocks.push(plain(part.output));
  return blocks.filter((block) => block !== "").join("\n\n");
}

function contentText(content: ToolContent): string {
  if (content.type === "text") return content.text;
  if (content.type === "diff") return `${content.path}\n${content.newText}`;
  if (content.type === "resource") return content.text ?? content.uri;
  return "";
}
