/**
 * What is typed and not sent, by channel. The bridge keeps it; what it has not got yet is kept here, over a reload of
 * the page. That may be older than it looks, so it goes before the bridge's only where it was written upon it. Pure.
 */
export interface Memory {
  get(): unknown;
  set(state: unknown): void;
}

interface Kept {
  text: string;
  /** The bridge's draft when this was typed. */
  upon: string;
}

export class Drafts {
  readonly #memory: Memory;
  readonly #bridges = new Map<string, string>();

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** What to show in a channel that is opened, whose draft at the bridge is `draft`. */
  opened(channelId: string, draft: string): string {
    this.#bridges.set(channelId, draft);
    const kept = this.#kept[channelId];
    if (kept?.upon === draft) return kept.text;
    this.#keep(channelId, undefined);
    return draft;
  }

  /** It was typed here, and the bridge has not got it yet. */
  typed(channelId: string, text: string): void {
    this.#keep(channelId, { text, upon: this.#bridges.get(channelId) ?? "" });
  }

  /** The bridge has this now, from here or from another client. */
  stored(channelId: string, draft: string): void {
    this.#bridges.set(channelId, draft);
    const kept = this.#kept[channelId];
    if (kept) this.#keep(channelId, kept.text === draft ? undefined : { text: kept.text, upon: draft });
  }

  /** Whether something was typed that the bridge has not got. */
  waits(channelId: string): boolean {
    return this.#kept[channelId] !== undefined;
  }

  get #kept(): Partial<Record<string, Kept>> {
    return (this.#memory.get() as Partial<Record<string, Kept>> | undefined) ?? {};
  }

  #keep(channelId: string, kept: Kept | undefined): void {
    const others = Object.entries(this.#kept).filter(([id]) => id !== channelId);
    this.#memory.set(Object.fromEntries(kept ? [...others, [channelId, kept]] : others));
  }
}
