/** The chat view: holds the snapshot of the conversation, applies its events, and draws once a frame. */
import type { Surroundings, ToView } from "../src/chat/messages.ts";
import type { Channel, Event, Message, OpenedChannel } from "../src/protocol.gen.ts";
import { titleOf } from "../src/overview.ts";
import { reduce } from "../src/reducer.ts";
import { Announcer } from "./announce.ts";
import { banners } from "./banners.ts";
import { beginning } from "./beginning.ts";
import { Composer } from "./composer.ts";
import { h, icon } from "./dom.ts";
import { FormCards } from "./forms.ts";
import { listen, post, request } from "./host.ts";
import { setStrings } from "./l10n.ts";
import type { Around } from "./message.ts";
import { PermissionCards } from "./permissions.ts";
import { SignInCards } from "./sign-in.ts";
import { setRoot } from "./tool.ts";
import { Transcript } from "./transcript.ts";
import { doing } from "./turns.ts";

const PAGE = 50;
/** More messages than this are let go at the top while the reader is at the end. */
const KEPT_AT_MOST = 160;
const KEPT = 100;

const NOWHERE: Surroundings = {
  bridge: "starting",
  agents: [],
  channels: [],
  elicitations: [],
  signIns: [],
  storage: { persistent: true },
  trusted: true,
};

/** Messages around an older one, while the reader is there; the conversation goes on meanwhile. */
interface Window {
  messages: Message[];
  hasOlder: boolean;
  hasNewer: boolean;
}

class Chat {
  readonly #announcer = new Announcer();
  readonly #composer = new Composer();
  readonly #cards: PermissionCards;
  readonly #forms = new FormCards((sentence) => this.#announcer.say(sentence));
  readonly #signIns = new SignInCards();
  readonly #transcript: Transcript;
  readonly #banners = h("div.banners");
  readonly #turns = h("div.turns", { role: "status" });
  readonly #beginning = h("div.beginning");
  #snapshot: OpenedChannel | undefined;
  #surroundings = NOWHERE;
  #window: Window | undefined;
  #decided = new Set<string>();
  #scheduled = false;
  #read = 0;
  #around: Around | undefined;

  constructor() {
    const failed = (error: unknown): void => this.#composer.fail(error);
    this.#cards = new PermissionCards(failed, (sentence) => this.#announcer.say(sentence));
    this.#transcript = new Transcript((where) => void this.#page(where).catch(failed));
    this.#transcript.onFollow = () => this.#schedule();
    this.#transcript.onPresent = () => this.#toPresent();
    this.#composer.heldBack = () => this.#mustDecide();
    this.#composer.onSent = () => this.#toPresent();
    const questions = [this.#cards, this.#forms, this.#signIns].map(({ element }) => element);
    const below = h("div.below", {}, this.#banners, ...questions, this.#turns, this.#composer.element);
    const main = h(
      "main.chat",
      {},
      h("h1.sr-only", {}, "Sidekicks"),
      this.#beginning,
      this.#transcript.element,
      below,
    );
    document.body.append(main, this.#announcer.element);
  }

  hear(message: ToView): void {
    switch (message.type) {
      case "surroundings":
        this.#surroundings = message.surroundings;
        break;
      case "open":
        this.#open(message.opened);
        break;
      case "closed":
        this.#snapshot = undefined;
        this.#transcript.clear();
        break;
      case "events":
        this.#events(message.events);
        break;
      case "attach":
        this.#composer.attach(message.attachments);
        return;
      case "focus":
        this.#composer.focus();
        return;
      case "reveal":
        void this.#reveal(message.channelId, message.messageId, message.seq);
        return;
      default:
        return;
    }
    this.#schedule();
  }

  #open(opened: OpenedChannel): void {
    const other = opened.channel.id !== this.#snapshot?.channel.id;
    if (other) {
      this.#transcript.clear();
      this.#read = 0;
      this.#window = undefined;
    }
    this.#snapshot = opened;
    setRoot(opened.channel.root);
    for (const { id, parts } of opened.messages) this.#announcer.skip(id, textOf(parts).length);
    this.#composer.open(opened.channel, opened.draft);
  }

  #events(events: Event[]): void {
    for (const event of events) {
      if (this.#snapshot) this.#snapshot = reduce(this.#snapshot, event);
      if (event.method === "sidekicks/commands/changed") this.#composer.commandsChanged();
      else if (event.method === "sidekicks/draft/changed") this.#composer.draftChanged(event.params);
      else if (event.method === "sidekicks/message/updated" && event.params.clientToken !== undefined)
        this.#composer.arrived(event.params.clientToken);
    }
    const streaming = this.#snapshot?.messages.slice(-4) ?? [];
    for (const { id, author, parts, state } of streaming) {
      if (author.kind === "agent")
        this.#announcer.follow(id, author.name ?? "", textOf(parts), state === "finished");
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#draw();
    });
  }

  #draw(): void {
    const snapshot = this.#trimmed();
    const { agents, bridge } = this.#surroundings;
    const around = this.#aroundNow(snapshot);
    const window = this.#window;
    this.#beginning.replaceChildren(...this.#nothingYet(snapshot));
    if (snapshot) {
      const messages = window?.messages ?? snapshot.messages;
      this.#transcript.draw(
        messages,
        window?.hasOlder ?? snapshot.hasMore,
        window?.hasNewer ?? false,
        around,
      );
    }
    this.#cards.draw(snapshot?.permissions ?? [], agents);
    this.#drawAsked(snapshot?.channel);
    this.#drawTurns(snapshot, around);
    this.#banners.replaceChildren(
      ...banners({
        surroundings: this.#surroundings,
        otherRoot: this.#undecidedRoot(),
        decide: (choice) => this.#decide(choice),
        direct: snapshot?.channel.kind === "direct",
      }),
    );
    this.#composer.draw({
      channel: snapshot?.channel,
      agents,
      channelNames: around.channelNames,
      messages: snapshot?.messages ?? [],
      answering: (snapshot?.turns.length ?? 0) > 0,
      ready: bridge === "ready",
    });
    document.body.dataset["bridge"] = bridge;
    document.body.dataset["channel"] = snapshot && around.channelNames.get(snapshot.channel.id);
    if (this.#transcript.following && !window) this.#transcript.toEnd();
    this.#markRead(snapshot);
  }

  /** What the agents here ask for, but for permission. */
  #drawAsked(channel: Channel | undefined): void {
    const { agents, elicitations, signIns } = this.#surroundings;
    const here = ({ channelId }: { channelId?: string }): boolean => channelId === channel?.id;
    const members = new Set(channel?.members.map(({ name }) => name));
    this.#forms.draw(elicitations.filter(here), agents);
    this.#signIns.draw(
      signIns.filter(({ agent }) => members.has(agent)),
      agents,
    );
  }

  /** What messages need to know of the rest; the same object while that is the same. */
  #aroundNow(snapshot: OpenedChannel | undefined): Around {
    const { agents, channels } = this.#surroundings;
    const turns = snapshot?.turns ?? [];
    const known = this.#around;
    if (known && known.agents === agents && known.turns === turns) return known;
    this.#around = {
      agents,
      turns,
      channelNames: new Map(channels.map((channel) => [channel.id, titleOf(channel)])),
      useSuggestion: (suggestion) => this.#composer.useSuggestion(suggestion),
      failed: (error) => this.#composer.fail(error),
    };
    return this.#around;
  }

  /** While the reader is at the end, what is far above is let go; it is loaded again when wanted. */
  #trimmed(): OpenedChannel | undefined {
    const snapshot = this.#snapshot;
    if (snapshot && !this.#window && this.#transcript.following && snapshot.messages.length > KEPT_AT_MOST) {
      this.#snapshot = { ...snapshot, messages: snapshot.messages.slice(-KEPT), hasMore: true };
    }
    return this.#snapshot;
  }

  #drawTurns(snapshot: OpenedChannel | undefined, around: Around): void {
    const title = (name: string): string => around.agents.find((agent) => agent.name === name)?.title ?? name;
    const lines = (snapshot?.turns ?? []).map((turn) => {
      const waits = turn.state === "queued" || turn.state === "awaitingPermission";
      const text = doing(turn, title(turn.agent), around.channelNames);
      return {
        key: `${turn.id} ${text}`,
        make: () =>
          h(
            "div.turn",
            { "data-state": turn.state },
            icon(waits ? "clock" : "loading", !waits),
            h("span", {}, text),
          ),
      };
    });
    const key = lines.map((line) => line.key).join("\n");
    if (key === this.#turns.dataset["key"]) return;
    this.#turns.dataset["key"] = key;
    this.#turns.replaceChildren(...lines.map((line) => line.make()));
  }

  #nothingYet(snapshot: OpenedChannel | undefined): Node[] {
    const starting = this.#surroundings.bridge !== "ready" && !snapshot;
    return starting || (snapshot && snapshot.messages.length > 0) ? [] : [beginning(snapshot?.channel)];
  }

  #undecidedRoot(): string | undefined {
    const snapshot = this.#snapshot;
    return snapshot && !this.#decided.has(snapshot.channel.id) ? snapshot.otherRoot : undefined;
  }

  #mustDecide(): boolean {
    if (this.#undecidedRoot() === undefined) return false;
    this.#banners.querySelector<HTMLElement>(".other-root button")?.focus();
    return true;
  }

  #decide(choice: "stay" | "move" | "create"): void {
    if (!this.#snapshot) return;
    if (choice === "stay") this.#decided.add(this.#snapshot.channel.id);
    post({ type: "root", choice });
    this.#schedule();
    this.#composer.focus();
  }

  /** Load a page above or below what is shown. */
  async #page(where: "older" | "newer"): Promise<void> {
    const snapshot = this.#snapshot;
    if (!snapshot) return;
    const channelId = snapshot.channel.id;
    const shown = this.#window?.messages ?? snapshot.messages;
    const edge = where === "older" ? shown[0]?.seq : shown.findLast(({ seq }) => seq !== undefined)?.seq;
    const range = where === "older" ? { before: edge } : { after: edge };
    try {
      const page = await request("sidekicks/message/list", { channelId, ...range, limit: PAGE });
      if (this.#snapshot?.channel.id === channelId) this.#take(page.messages, page.hasMore, where);
    } finally {
      this.#draw();
      this.#transcript.loaded();
    }
  }

  #take(messages: Message[], hasMore: boolean, where: "older" | "newer"): void {
    const window = this.#window;
    if (window && where === "newer") {
      const finished = messages.filter(({ seq }) => seq !== undefined);
      this.#window = { ...window, messages: [...window.messages, ...finished], hasNewer: hasMore };
      if (!hasMore) this.#window = undefined;
    } else if (window) {
      this.#window = { ...window, messages: [...messages, ...window.messages], hasOlder: hasMore };
    } else if (this.#snapshot) {
      const known = new Set(this.#snapshot.messages.map(({ id }) => id));
      const older = messages.filter(({ id, seq }) => seq !== undefined && !known.has(id));
      this.#snapshot = { ...this.#snapshot, messages: [...older, ...this.#snapshot.messages], hasMore };
    }
  }

  /** Show a message that was found, with what stands around it. */
  async #reveal(channelId: string, messageId: string, seq?: number): Promise<void> {
    const snapshot = this.#snapshot;
    if (snapshot?.channel.id !== channelId) return;
    if (seq !== undefined && !snapshot.messages.some(({ id }) => id === messageId)) {
      const after = Math.max(0, seq - PAGE / 2);
      const page = await request("sidekicks/message/list", { channelId, after, limit: PAGE });
      const messages = page.messages.filter((message) => message.seq !== undefined);
      this.#window = { messages, hasOlder: after > 0, hasNewer: page.hasMore };
    }
    this.#transcript.following = false;
    this.#draw();
    this.#transcript.reveal(messageId);
  }

  #toPresent(): void {
    this.#window = undefined;
    this.#transcript.following = true;
    this.#schedule();
  }

  /** What stands at the end, with the reader there, is read. */
  #markRead(snapshot: OpenedChannel | undefined): void {
    if (!snapshot || !this.#transcript.following || this.#window) return;
    const seq = snapshot.messages.findLast((message) => message.seq !== undefined)?.seq ?? 0;
    if (seq <= this.#read) return;
    this.#read = seq;
    post({ type: "read", channelId: snapshot.channel.id, seq });
  }
}

function textOf(parts: Message["parts"]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

// The first message brings the words, so the page is built then.
let chat: Chat | undefined;
listen((message) => {
  if (message.type === "surroundings" && message.strings) setStrings(message.strings);
  chat ??= new Chat();
  chat.hear(message);
});
// For the keys that hold in the chat alone.
window.addEventListener("focus", () => post({ type: "focused", focused: true }));
window.addEventListener("blur", () => post({ type: "focused", focused: false }));
post({ type: "ready" });
