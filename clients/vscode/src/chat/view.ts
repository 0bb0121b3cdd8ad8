/**
 * The chat view: its page, what it is told, which conversation it shows. What its buttons do is in `actions.ts`; the
 * view itself renders and asks.
 */
import * as vscode from "vscode";
import type { Bridge } from "../bridge.ts";
import type { OverviewStore } from "../overview-store.ts";
import { titleOf } from "../overview.ts";
import type { Attachment } from "../protocol.gen.ts";
import { Conversation } from "./conversation.ts";
import { chatPage } from "./html.ts";
import type { FromView, ToView } from "./messages.ts";

const VIEW = "sidekicks.chat";
const LAST_CHANNEL = "sidekicks.channel";

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly conversation: Conversation;
  readonly #context: vscode.ExtensionContext;
  readonly #bridge: Bridge;
  readonly #overview: OverviewStore;
  readonly #disposables: vscode.Disposable[] = [];
  readonly #visibility = new vscode.EventEmitter<void>();
  #view: vscode.WebviewView | undefined;
  #ready = false;
  #waiting: ToView[] = [];
  #unread: { channelId: string; seq: number } | undefined;
  /** What the view asks for. Set once by whoever acts on it. */
  handle: (message: FromView) => void = () => undefined;
  readonly onVisibility = this.#visibility.event;

  constructor(context: vscode.ExtensionContext, bridge: Bridge, overview: OverviewStore) {
    this.#context = context;
    this.#bridge = bridge;
    this.#overview = overview;
    this.conversation = new Conversation(bridge, (message) => this.post(message));
    this.#disposables.push(
      this.conversation,
      this.#visibility,
      vscode.window.registerWebviewViewProvider(VIEW, this, {
        webviewOptions: { retainContextWhenHidden: true },
      }),
      overview.onChange(() => this.#surroundings()),
      bridge.onState((state) => {
        this.#surroundings();
        if (state === "ready") void this.#restore();
      }),
      this.conversation.onChange(() => this.#title()),
      vscode.window.onDidChangeWindowState(() => this.#markRead()),
    );
  }

  get visible(): boolean {
    return this.#view?.visible ?? false;
  }

  /** Whether the user sees this channel now. */
  shows(channelId: string): boolean {
    return this.visible && this.conversation.channelId === channelId;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    this.#ready = false;
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(this.#context.extensionUri, "dist")],
    };
    view.webview.onDidReceiveMessage((message: FromView) => this.#received(message));
    view.onDidChangeVisibility(() => {
      this.#markRead();
      this.#visibility.fire();
    });
    view.onDidDispose(() => {
      this.#view = undefined;
      this.#ready = false;
      this.#visibility.fire();
    });
    view.webview.html = chatPage(view.webview, this.#context.extensionUri);
    this.#title();
    this.#visibility.fire();
  }

  /** Show a channel, in front. The focus comes at once: late, it would be taken from what the user went on to. */
  async show(channelId: string, focus = true): Promise<void> {
    const kept = this.#context.workspaceState.update(LAST_CHANNEL, channelId);
    await Promise.all([kept, this.reveal(focus), this.#open(channelId)]);
  }

  async #open(channelId: string): Promise<void> {
    if (this.#ready && !(await this.conversation.open(channelId))) this.conversation.leave();
  }

  /** Bring the view to the front; `focus`: into the composer. */
  async reveal(focus: boolean): Promise<void> {
    if (this.#view && !focus) {
      this.#view.show(true);
      return;
    }
    await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: !focus });
    if (focus) this.post({ type: "focus" });
  }

  /** Put attachments into the composer. */
  async attach(attachments: Attachment[]): Promise<void> {
    if (attachments.length === 0) return;
    await this.reveal(true);
    this.post({ type: "attach", attachments });
  }

  /** Answer a request of the view's, after the events that came before the answer. */
  answer(message: Extract<ToView, { type: "answer" | "refusal" }>): void {
    this.conversation.flush();
    this.post(message);
  }

  /** Tell the view; what is said before it listens waits for it. */
  post(message: ToView): void {
    if (this.#ready) void this.#view?.webview.postMessage(message);
    else if (message.type === "attach" || message.type === "focus") this.#waiting.push(message);
  }

  #received(message: FromView): void {
    if (message.type === "ready") {
      this.#ready = true;
      this.#surroundings(true);
      void this.#restore().then(() => {
        for (const late of this.#waiting.splice(0)) this.post(late);
      });
    } else if (message.type === "read") {
      this.#unread = { channelId: message.channelId, seq: message.seq };
      this.#markRead();
    } else if (message.type === "reopen") void this.#restore();
    else if (message.type === "focused")
      void vscode.commands.executeCommand("setContext", "sidekicks.chatFocused", message.focused);
    else this.handle(message);
  }

  /** Show again what was shown: after a start, a restart, or when the view's page is new. */
  async #restore(): Promise<void> {
    if (!this.#ready || this.#bridge.state !== "ready") return;
    const { channels } = await this.#overview.loaded();
    const last = this.conversation.channelId ?? this.#context.workspaceState.get<string>(LAST_CHANNEL);
    const wanted =
      channels.find(({ id }) => id === last) ?? channels.find(({ kind }) => kind === "named") ?? channels[0];
    if (wanted && (await this.conversation.open(wanted.id))) return;
    this.conversation.leave();
  }

  /** What was read, is read, once the user can have seen it. */
  #markRead(): void {
    if (!this.#unread || !this.visible || !vscode.window.state.focused) return;
    const read = this.#unread;
    this.#unread = undefined;
    this.#bridge.request("sidekicks/channel/markRead", read).catch(() => undefined);
  }

  #surroundings(withStrings = false): void {
    const { agents, channels, elicitations = [], signIns = [], storage } = this.#overview.current;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    this.post({
      type: "surroundings",
      surroundings: {
        bridge: this.#bridge.state,
        agents,
        channels: channels.map(({ id, kind, name, agent, peers }) => ({ id, kind, name, agent, peers })),
        elicitations,
        signIns,
        storage,
        folder,
        trusted: vscode.workspace.isTrusted,
      },
      ...(withStrings ? { strings: vscode.l10n.bundle } : {}),
    });
  }

  #title(): void {
    if (!this.#view) return;
    const { channel } = this.conversation;
    this.#view.description = channel ? titleOf(channel) : "";
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
