/**
 * The messages of a conversation: keeps the elements in step with the snapshot, follows the end while the reader is
 * there, asks for older ones when the reader goes up. Draws only what changed.
 */
import type { Message } from "../src/protocol.gen.ts";
import { button, h, icon } from "./dom.ts";
import { t } from "./l10n.ts";
import { MessageView, type Around } from "./message.ts";

const NEAR_END = 40;
const NEAR_START = 600;

export class Transcript {
  readonly element: HTMLElement;
  readonly #log = h("div.log", {
    role: "log",
    "aria-live": "off",
    "aria-label": t("Conversation"),
    tabindex: 0,
  });
  readonly #list = h("div.messages");
  readonly #older: HTMLButtonElement;
  readonly #present: HTMLButtonElement;
  readonly #views = new Map<string, MessageView>();
  readonly #need: (where: "older" | "newer") => void;
  #hasOlder = false;
  #hasNewer = false;
  #loading = false;
  following = true;
  /** The reader came to the end, or left it. */
  onFollow: () => void = () => undefined;
  /** The reader wants to see the newest messages. */
  onPresent: () => void = () => undefined;

  constructor(need: (where: "older" | "newer") => void) {
    this.#need = need;
    this.#older = button(t("Load Older Messages"), () => this.#ask("older"), "link older");
    this.#present = button(t("Newest Messages"), () => this.onPresent(), "secondary present");
    this.#present.prepend(icon("arrow-down"));
    this.#older.hidden = true;
    this.#present.hidden = true;
    this.#log.append(this.#older, this.#list);
    this.element = h("div.transcript", {}, this.#log, this.#present);
    this.#log.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    // Whatever grows (an answer, an opened thought, the window): who is at the end stays there.
    const observer = new ResizeObserver(() => {
      if (this.following) this.toEnd();
    });
    observer.observe(this.#list);
    observer.observe(this.#log);
  }

  get empty(): boolean {
    return this.#views.size === 0;
  }

  draw(messages: Message[], hasOlder: boolean, hasNewer: boolean, around: Around): void {
    this.#hasOlder = hasOlder;
    this.#hasNewer = hasNewer;
    this.#older.hidden = !hasOlder;
    const known = new Set(messages.map(({ id }) => id));
    for (const [id, view] of this.#views) {
      if (known.has(id)) continue;
      view.element.remove();
      this.#views.delete(id);
    }
    let place = this.#list.firstElementChild;
    for (const message of messages) {
      let view = this.#views.get(message.id);
      if (!view) {
        view = new MessageView(around);
        this.#views.set(message.id, view);
      }
      view.update(message, around);
      if (view.element === place) place = place.nextElementSibling;
      else this.#list.insertBefore(view.element, place);
    }
    this.#drawPresent();
  }

  /** Older or newer messages have come, or will not. */
  loaded(): void {
    this.#loading = false;
    // The browser keeps the reader's place, but not at the very top.
    if (this.#log.scrollTop === 0) this.#log.scrollTop = 1;
  }

  toEnd(): void {
    this.following = true;
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Show one message and mark it for a moment. */
  reveal(id: string): void {
    const element = this.#views.get(id)?.element;
    if (!element) return;
    this.following = false;
    element.scrollIntoView({ block: "center" });
    element.classList.add("revealed");
    setTimeout(() => element.classList.remove("revealed"), 2_000);
  }

  clear(): void {
    this.#views.clear();
    this.#list.replaceChildren();
    this.following = true;
    this.#loading = false;
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR_END;
    if (this.#hasOlder && scrollTop < NEAR_START) this.#ask("older");
    if (this.#hasNewer && atEnd) this.#ask("newer");
    const following = atEnd && !this.#hasNewer;
    if (following === this.following) return;
    this.following = following;
    this.#drawPresent();
    this.onFollow();
  }

  #drawPresent(): void {
    this.#present.hidden = this.following && !this.#hasNewer;
  }

  #ask(where: "older" | "newer"): void {
    if (this.#loading) return;
    this.#loading = true;
    this.#need(where);
  }
}
