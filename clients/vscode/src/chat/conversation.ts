/**
 * The conversation on screen: opening it, forwarding its events in order, opening it again when the bridge came back or
 * was too quick for us. Keeps the channel's record and its turns; the messages are the view's.
 */
import * as vscode from "vscode";
import { EventBatch } from "../batch.ts";
import type { Bridge } from "../bridge.ts";
import { codeOf } from "../errors.ts";
import type { Channel, Event, Message, OpenedChannel, Turn } from "../protocol.gen.ts";
import type { ToView } from "./messages.ts";

const BATCH_MILLISECONDS = 16;
const FIRST_PAGE = 40;

export class Conversation implements vscode.Disposable {
  readonly #bridge: Bridge;
  readonly #post: (message: ToView) => void;
  readonly #batch: EventBatch;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly #endings = new vscode.EventEmitter<Message>();
  readonly #subscription: vscode.Disposable;
  #started = new Map<string, number>();
  #opening = 0;
  channelId: string | undefined;
  channel: Channel | undefined;
  turns: Turn[] = [];
  otherRoot: string | undefined;
  /** The channel, its record or its turns changed. */
  readonly onChange = this.#changes.event;
  /** An answer ended. */
  readonly onAnswered = this.#endings.event;

  constructor(bridge: Bridge, post: (message: ToView) => void) {
    this.#bridge = bridge;
    this.#post = post;
    this.#batch = new EventBatch((events) => this.#post({ type: "events", events }), BATCH_MILLISECONDS);
    this.#subscription = bridge.onEvent((event) => this.#event(event));
  }

  /** Show a channel: a snapshot goes to the view, then its events. Answers undefined if it is gone. */
  async open(channelId: string): Promise<OpenedChannel | undefined> {
    const opening = ++this.#opening;
    const before = this.channelId;
    let opened: OpenedChannel;
    try {
      opened = await this.#bridge.request("sidekicks/channel/open", { channelId, limit: FIRST_PAGE });
    } catch (error) {
      if (codeOf(error) === "channelNotFound") return undefined;
      throw error;
    }
    if (opening !== this.#opening) return opened;
    this.#batch.clear();
    this.channelId = channelId;
    this.channel = opened.channel;
    this.turns = opened.turns;
    this.otherRoot = opened.otherRoot;
    this.#post({ type: "open", opened });
    this.#changes.fire();
    if (before !== undefined && before !== channelId) {
      await this.#bridge.request("sidekicks/channel/close", { channelId: before }).catch(() => undefined);
    }
    return opened;
  }

  /** Show nothing: the channel is gone. */
  leave(): void {
    this.#opening++;
    this.#batch.clear();
    this.channelId = undefined;
    this.channel = undefined;
    this.turns = [];
    this.#post({ type: "closed" });
    this.#changes.fire();
  }

  /** Tell the view at once what has come so far. */
  flush(): void {
    this.#batch.flush();
  }

  /** How long an answer has been coming, in milliseconds. */
  took(message: Message): number {
    const start = message.turn ? Date.parse(message.turn.startedAt) : Number.NaN;
    return Number.isNaN(start) ? 0 : Date.now() - start;
  }

  #event(event: Event): void {
    if (this.channelId === undefined) return;
    const { params } = event;
    if ("channelId" in params && params.channelId !== this.channelId) return;
    switch (event.method) {
      case "sidekicks/channel/desynced":
        void this.open(this.channelId);
        return;
      case "sidekicks/agent/log":
        return;
      case "sidekicks/turn/changed":
        this.turns = event.params.turns;
        this.#changes.fire();
        break;
      case "sidekicks/channels/changed":
      case "sidekicks/config/changed":
        this.channel = event.params.channels.find(({ id }) => id === this.channelId) ?? this.channel;
        this.#changes.fire();
        break;
      case "sidekicks/message/updated":
        this.#message(event.params.message);
        break;
      default:
    }
    this.#batch.add(event);
  }

  #message(message: Message): void {
    if (message.author.kind !== "agent") return;
    if (message.state === "streaming") this.#started.set(message.id, Date.now());
    else if (this.#started.delete(message.id)) this.#endings.fire(message);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#batch.clear();
    this.#changes.dispose();
    this.#endings.dispose();
  }
}
