/**
 * Collects a conversation's events for its view: text that follows text in the same part becomes one event, and all of
 * a few milliseconds travel in one message. Order is kept. Pure but for the timer it is given.
 */
import type { Event } from "./protocol.gen.ts";

export class EventBatch {
  #events: Event[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #deliver: (events: Event[]) => void;
  readonly #milliseconds: number;

  constructor(deliver: (events: Event[]) => void, milliseconds: number) {
    this.#deliver = deliver;
    this.#milliseconds = milliseconds;
  }

  add(event: Event): void {
    const last = this.#events.at(-1);
    const joined = last && join(last, event);
    if (joined) this.#events[this.#events.length - 1] = joined;
    else this.#events.push(event);
    this.#timer ??= setTimeout(() => this.flush(), this.#milliseconds);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#events;
    this.#events = [];
    if (events.length > 0) this.#deliver(events);
  }

  /** Forget what was collected: a snapshot replaces it. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#events = [];
  }
}

/** Two events as one, if the second only appends text to what the first appended to. */
export function join(first: Event, second: Event): Event | undefined {
  if (first.method !== "sidekicks/message/delta" || second.method !== "sidekicks/message/delta")
    return undefined;
  const [a, b] = [first.params, second.params];
  if (a.channelId !== b.channelId || a.messageId !== b.messageId || a.part !== b.part) return undefined;
  if (a.value !== undefined || b.value !== undefined || a.text === undefined || b.text === undefined)
    return undefined;
  return { ...first, params: { ...a, text: a.text + b.text } };
}
