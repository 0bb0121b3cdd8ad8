/**
 * Where a message is written: text, attachments, completion, the route, sending and stopping. What is typed is never
 * lost: a refused message comes back, a draft is kept with the channel.
 */
import { titleOf } from "../src/overview.ts";
import { sentence } from "../src/plain.ts";
import type { Agent, Attachment, Channel, Message, Route } from "../src/protocol.gen.ts";
import { Tokens, type Sending } from "../src/tokens.ts";
import { Attachments, takeIn } from "./attachments.ts";
import { Completion } from "./completion.ts";
import { button, h, iconButton } from "./dom.ts";
import { Drafts } from "./drafts.ts";
import { memory, post, request } from "./host.ts";
import { t } from "./l10n.ts";
import { routeLine } from "./route.ts";

const PREVIEW_MILLISECONDS = 120;
const DRAFT_MILLISECONDS = 400;

export interface ComposerState {
  channel: Channel | undefined;
  agents: Agent[];
  channelNames: Map<string, string>;
  messages: Message[];
  answering: boolean;
  ready: boolean;
}

export class Composer {
  readonly element: HTMLElement;
  readonly field: HTMLTextAreaElement;
  readonly #attachments = new Attachments(() => this.#drawSend());
  readonly #members = h("div.members");
  readonly #route = h("div.route", { role: "status" });
  readonly #error = h("div.composer-error", { role: "alert" });
  readonly #send: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #completion: Completion;
  readonly #drafts = new Drafts(memory);
  readonly #tokens = new Tokens();
  /** The tokens of what was sent and is neither answered nor seen in the conversation. */
  readonly #underway = new Set<string>();
  #state: ComposerState | undefined;
  #channelId: string | undefined;
  #focusDue = false;
  #history = -1;
  #prepared = new Set<string>();
  #timers: { preview?: number; draft?: number } = {};
  #previewed = 0;
  #lastRoute: Route | undefined;
  /** Something keeps the message back; true: it was shown, do not send. */
  heldBack: () => boolean = () => false;
  onSent: () => void = () => undefined;

  constructor() {
    this.field = h("textarea", {
      rows: 1,
      "aria-label": t("Message"),
      "aria-autocomplete": "list",
      "aria-haspopup": "listbox",
      "aria-controls": "completions",
      spellcheck: "true",
    });
    this.field.disabled = true; // until it is known which channel one writes to
    this.#completion = new Completion(this.field, () => this.#edited());
    this.#send = iconButton("send", t("Send (Enter)"), () => this.#submit(), "send");
    this.#stop = iconButton("debug-stop", t("Stop Answering"), () => this.#cancel(), "stop");
    const attach = iconButton("attach", t("Attach…"), () =>
      post({ type: "command", command: "sidekicks.attach.pick" }),
    );
    const bar = h("div.composer-bar", {}, attach, this.#members, this.#stop, this.#send);
    const box = h("div.composer-box", {}, this.#attachments.element, this.field, bar);
    this.element = h("div.composer", {}, this.#completion.element, this.#error, box, this.#route);
    this.field.addEventListener("input", () => this.#edited());
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("blur", () => this.#left());
    takeIn(box, this.#attachments, (error) => this.fail(error));
  }

  draw(state: ComposerState): void {
    const before = this.#state;
    this.#state = state;
    this.#stop.hidden = !state.answering;
    this.field.disabled = state.channel === undefined;
    if (this.#focusDue && !this.field.disabled) this.focus();
    if (before?.channel !== state.channel || before?.agents !== state.agents) this.#drawMembers(state);
    this.#drawSend();
  }

  /** Another channel: its draft, nothing attached. The same one again leaves everything as it is. */
  open(channel: Channel, draft = ""): void {
    this.#keepDraft();
    const again = channel.id === this.#channelId;
    const text = this.#drafts.opened(channel.id, draft);
    this.#channelId = channel.id;
    if (again) {
      const typed = this.field.value;
      if (draft === "" && typed !== "") this.#store(channel.id, typed); // the bridge died before it had kept it
      return;
    }
    this.#attachments.take();
    this.#history = -1;
    this.#setText(text);
    this.#keepDraft();
    this.#showError("");
    const name = titleOf(channel);
    this.field.placeholder =
      channel.kind === "named" ? t("Message {0}: @ an agent", name) : t("Message {0}", name);
  }

  attach(attachments: Attachment[]): void {
    this.#attachments.add(attachments);
    this.focus();
  }

  /** Now, or as soon as there is a channel to write to: a field that is disabled takes no focus. */
  focus(): void {
    this.#focusDue = this.field.disabled;
    this.field.focus();
  }

  /** Another client wrote here: show it, unless something is being written. */
  draftChanged({ channelId, text }: { channelId: string; text: string }): void {
    const here = document.hasFocus() && document.activeElement === this.field;
    const mine = here || this.#timers.draft !== undefined;
    if (channelId === this.#channelId && !mine) {
      this.#drafts.typed(channelId, text); // in place of what waits here
      this.#setText(text);
    }
    this.#drafts.stored(channelId, text);
  }

  /** Put the suggestion in place of what is wrong. */
  useSuggestion(suggestion: string): void {
    const problem = this.#lastRoute?.problem;
    if (problem?.start !== undefined && problem.end !== undefined) {
      this.field.setRangeText(suggestion, problem.start, problem.end, "end");
    } else this.field.setRangeText(`${suggestion} `, 0, 0, "end");
    this.field.focus();
    this.#edited();
  }

  /** An agent announced its commands: a list that is open may have more to offer. */
  commandsChanged(): void {
    if (
      document.activeElement === this.field &&
      this.#channelId !== undefined &&
      this.field.value.includes("/")
    ) {
      void this.#completion.refresh(this.#channelId);
    }
  }

  fail(error: unknown): void {
    this.#showError(sentence(error));
  }

  #edited(): void {
    this.#showError("");
    this.#drawSend();
    if (this.#channelId === undefined) return;
    this.#drafts.typed(this.#channelId, this.field.value);
    void this.#completion.refresh(this.#channelId);
    this.#prepare(this.#channelId);
    clearTimeout(this.#timers.preview);
    clearTimeout(this.#timers.draft);
    this.#timers.preview = window.setTimeout(() => void this.#preview(), PREVIEW_MILLISECONDS);
    this.#timers.draft = window.setTimeout(() => this.#keepDraft(), DRAFT_MILLISECONDS);
  }

  /** The first `/` of a conversation has the members tell their commands. */
  #prepare(channelId: string): void {
    if (this.#prepared.has(channelId) || !/^\s*(@[\w.-]+[,:]?\s+)*\/[\w.:-]*$/.test(this.field.value)) return;
    this.#prepared.add(channelId);
    request("sidekicks/channel/prepare", { channelId }).catch(() => this.#prepared.delete(channelId));
  }

  async #preview(): Promise<void> {
    const text = this.field.value;
    const asked = ++this.#previewed;
    const channelId = this.#channelId;
    if (text.trim() === "" || channelId === undefined || !this.#state?.ready) {
      this.#drawRoute(undefined);
      return;
    }
    try {
      const route = await request("sidekicks/message/preview", { channelId, text });
      if (asked === this.#previewed && channelId === this.#channelId) this.#drawRoute(route);
    } catch {
      this.#drawRoute(undefined);
    }
  }

  #drawRoute(route: Route | undefined): void {
    this.#lastRoute = route;
    this.field.setAttribute("aria-invalid", String(route?.problem !== undefined));
    const { agents = [], channelNames = new Map<string, string>() } = this.#state ?? {};
    const use = (suggestion: string): void => this.useSuggestion(suggestion);
    this.#route.replaceChildren(...(route ? routeLine(route, agents, channelNames, use) : []));
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (this.#completion.key(event)) event.preventDefault();
    else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      if (this.#recall(event.key === "ArrowUp" ? 1 : -1)) event.preventDefault();
    } else this.#history = -1;
  }

  /** Through what was sent before, as in a shell, while nothing else is being written. */
  #recall(step: 1 | -1): boolean {
    const sent = (this.#state?.messages ?? [])
      .filter(({ author }) => author.kind === "user")
      .map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
    const going = this.#history >= 0;
    if (!going && (this.field.value !== "" || step < 0)) return false;
    this.#history = Math.min(this.#history + step, sent.length - 1);
    this.#setText(this.#history < 0 ? "" : (sent.at(-1 - this.#history) ?? ""));
    this.#edited();
    this.#completion.close();
    return true;
  }

  #submit(): void {
    const text = this.field.value;
    const channelId = this.#channelId;
    if (this.#empty || channelId === undefined) return;
    if (!this.#state?.ready) {
      this.fail(new Error(t("The bridge does not run. Your message is kept here.")));
      return;
    }
    if (this.heldBack()) return;
    const sending = { channelId, text, attachments: this.#attachments.take() };
    this.#clear();
    void this.#deliver(sending, this.#tokens.of(sending));
  }

  async #deliver(sending: Sending, clientToken: string): Promise<void> {
    this.#underway.add(clientToken);
    try {
      await request("sidekicks/message/send", { ...sending, clientToken });
    } catch (error) {
      if (this.#underway.has(clientToken)) {
        this.#tokens.doubt(sending, clientToken);
        this.#giveBack(sending, error);
        return;
      }
    } finally {
      this.#underway.delete(clientToken);
    }
    this.#tokens.taken(clientToken);
    this.onSent();
  }

  /** The message with this token is in its channel, whatever becomes of the request. */
  arrived(clientToken: string): void {
    this.#underway.delete(clientToken);
  }

  #clear(): void {
    this.#history = -1;
    this.#setText("");
    this.#edited();
    this.#drawRoute(undefined);
    this.#keepDraft();
  }

  #giveBack({ channelId, text, attachments }: Sending, error: unknown): void {
    if (channelId === this.#channelId && this.field.value === "") {
      this.#setText(text);
      this.#attachments.add(attachments);
      this.#edited();
    } else this.#store(channelId, text);
    this.fail(error);
  }

  #cancel(): void {
    if (this.#channelId === undefined) return;
    request("sidekicks/turn/cancel", { channelId: this.#channelId }).catch((error: unknown) =>
      this.fail(error),
    );
  }

  #keepDraft(): void {
    clearTimeout(this.#timers.draft);
    this.#timers.draft = undefined;
    const channelId = this.#channelId;
    if (channelId !== undefined && this.#drafts.waits(channelId)) this.#store(channelId, this.field.value);
  }

  /** Give a draft to the bridge; it waits here while there is none. */
  #store(channelId: string, text: string): void {
    this.#drafts.typed(channelId, text);
    request("sidekicks/draft/set", { channelId, text }).then(
      () => this.#drafts.stored(channelId, text),
      () => undefined,
    );
  }

  #setText(text: string): void {
    this.field.value = text;
    this.field.setSelectionRange(text.length, text.length);
    this.#drawSend();
  }

  #showError(text: string): void {
    this.#error.textContent = text;
  }

  get #empty(): boolean {
    return this.field.value.trim() === "" && this.#attachments.empty;
  }

  #drawSend(): void {
    this.#send.disabled = this.#empty;
  }

  /** The reader is elsewhere: what stands here is kept at once, for the next window may be another. */
  #left(): void {
    this.#completion.close();
    if (this.#timers.draft !== undefined) this.#keepDraft();
  }

  /** The agents here, with mode and use of context; a click leads to their options. */
  #drawMembers({ channel, agents }: ComposerState): void {
    const members = channel?.members.filter(({ kind }) => kind === "agent") ?? [];
    this.#members.replaceChildren(
      ...members.map((member) => {
        const agent = agents.find(({ name }) => name === member.name);
        const mode = member.modes?.available.find(({ id }) => id === member.modes?.current)?.name;
        const used = member.usage?.size
          ? `${Math.round((100 * member.usage.used) / member.usage.size)}%`
          : undefined;
        const configure = (): void =>
          post({ type: "command", command: "sidekicks.session.configure", argument: member.name });
        const one = button(
          [agent?.title ?? member.name, mode, used].filter(Boolean).join(" · "),
          configure,
          "member",
        );
        one.dataset["state"] = agent?.state ?? "";
        one.title = usageText(member.usage) || t("Mode and options of {0}", member.name);
        return one;
      }),
    );
  }
}

function usageText(
  usage: { used: number; size?: number; cost?: { amount: number; currency: string } } | undefined,
): string {
  if (!usage) return "";
  const tokens = usage.size
    ? t("{0} of {1} tokens used", usage.used.toLocaleString(), usage.size.toLocaleString())
    : t("{0} tokens used", usage.used.toLocaleString());
  return usage.cost ? `${tokens} · ${usage.cost.amount.toFixed(2)} ${usage.cost.currency}` : tokens;
}
