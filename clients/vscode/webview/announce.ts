/** Reads answers aloud by whole sentences, as they come, to who uses a screen reader; never single words. */
import { h } from "./dom.ts";

const KEPT = 20;

export class Announcer {
  readonly element = h("div.sr-only", { role: "status", "aria-live": "polite", "aria-atomic": "false" });
  readonly #told = new Map<string, number>();

  /** Text of a message so far; the sentences in it that are new are read. */
  follow(id: string, speaker: string, text: string, ended: boolean): void {
    const told = this.#told.get(id) ?? 0;
    const fresh = text.slice(told);
    const end = ended ? fresh.length : lastSentence(fresh);
    if (end === 0) return;
    this.#told.set(id, told + end);
    const words = fresh
      .slice(0, end)
      .replace(/[`*#>|]+|(?<!\w)_+|_+(?!\w)/g, " ")
      .replace(/\s+/g, " ")
      .trim();
    if (words !== "") this.say(told === 0 ? `${speaker}: ${words}` : words);
  }

  /** What stands there already is not read. */
  skip(id: string, length: number): void {
    this.#told.set(id, length);
  }

  say(sentence: string): void {
    this.element.append(h("p", {}, sentence.slice(0, 1_000)));
    while (this.element.childElementCount > KEPT) this.element.firstElementChild?.remove();
  }
}

/** Where the last whole sentence ends. */
function lastSentence(text: string): number {
  const ends = [...text.matchAll(/[.!?…:][)"'”’]?(?=\s)|\n\n|[。！？]/g)];
  const last = ends.at(-1);
  return last ? last.index + last[0].length : 0;
}
