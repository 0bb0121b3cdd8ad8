/**
 * A text that grows, as Markdown: blocks that are complete are rendered once, only the last one again. A block too big
 * for that is shown as plain text in pieces, and a long text takes several frames, so that no step takes long however
 * much has come.
 */
import { h } from "./dom.ts";
import { blockStarts, render } from "./markdown.ts";
import { visible } from "./safe.ts";

/** A last block longer than this is not parsed again with every piece of text. */
const TAIL_AT_MOST = 8_000;
/** How much is parsed and rendered in one step. */
const STEP = 24_000;
const PLAIN_PIECE = 4_000;

export class MarkdownStream {
  readonly element = h("div.markdown");
  readonly #tail = h("div");
  #text = "";
  #final = false;
  /** How much of the text stands in blocks that do not change any more. */
  #settled = 0;
  #plain: PlainBlock | undefined;
  #next: number | undefined;

  constructor() {
    this.element.append(this.#tail);
  }

  /** Show this text. One that only grew costs what grew. */
  update(text: string, final: boolean): void {
    if (text === this.#text && final === this.#final) return;
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    this.#final = final;
    if (this.#next === undefined) this.#step();
  }

  /** One step; what is left is done in the next frame. */
  #step(): void {
    this.#next = undefined;
    if (this.#plain ? this.#growPlain(this.#plain) : this.#growMarkdown()) {
      this.#next = requestAnimationFrame(() => this.#step());
    }
  }

  /** Answers whether there is more to do. */
  #growMarkdown(): boolean {
    const rest = this.#text.slice(this.#settled);
    const whole = rest.length <= STEP;
    const piece = whole ? rest : rest.slice(0, STEP);
    const starts = blockStarts(piece);
    const end = offsetOfLine(piece, starts.at(-1) ?? 0);
    if (end > 0) {
      this.#settle(h("div", {}, render(piece.slice(0, end), true)), end);
      if (!whole) return true;
    }
    const tail = this.#text.slice(this.#settled);
    if (tail.length > (this.#final ? STEP : TAIL_AT_MOST)) {
      this.#plain = new PlainBlock(tail);
      this.#tail.replaceChildren(this.#plain.element);
      return this.#growPlain(this.#plain);
    }
    this.#tail.replaceChildren(render(tail, this.#final));
    return false;
  }

  #growPlain(plain: PlainBlock): boolean {
    const rest = this.#text.slice(this.#settled);
    const end = plain.update(rest, STEP);
    if (end !== undefined) {
      this.#plain = undefined;
      this.#settle(plain.element, end);
      return true;
    }
    if (this.#final && plain.shown >= rest.length && rest.length <= STEP) {
      this.#plain = undefined;
      return true;
    }
    return plain.shown < rest.length;
  }

  #settle(block: HTMLElement, length: number): void {
    this.#settled += length;
    this.#tail.replaceChildren();
    this.#tail.before(block);
  }

  #reset(): void {
    if (this.#next !== undefined) cancelAnimationFrame(this.#next);
    this.#next = undefined;
    this.#settled = 0;
    this.#plain = undefined;
    this.#tail.replaceChildren();
    this.element.replaceChildren(this.#tail);
  }
}

/** A huge block as it is, in pieces of its own, so that the browser lays out only the last. */
class PlainBlock {
  readonly element: HTMLElement;
  readonly #end: RegExp;
  #searched = 0;
  #last: Text | undefined;
  shown = 0;

  constructor(text: string) {
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1];
    this.element = h("div", { class: fence === undefined ? "plain" : "plain code-like" });
    this.#end = fence === undefined ? /\n[ \t]*\n/g : new RegExp(`\\n {0,3}${fence}[ \\t]*(?:\\n|$)`, "g");
  }

  /** Show at most `most` further characters; answers where the block ended, if it did. */
  update(text: string, most: number): number | undefined {
    this.#end.lastIndex = Math.max(0, this.#searched - 100);
    const found = this.#end.exec(text);
    const end = found ? found.index + found[0].length : undefined;
    this.#searched = text.length;
    const until = Math.min(end ?? text.length, this.shown + most);
    while (this.shown < until) this.#append(text.slice(this.shown, until));
    if (end !== undefined && this.shown < end) this.#searched = 0;
    return this.shown === end ? end : undefined;
  }

  #append(text: string): void {
    const room = PLAIN_PIECE - (this.#last?.length ?? PLAIN_PIECE);
    if (room <= 0) {
      this.#last = document.createTextNode("");
      this.element.append(h("div", {}, this.#last));
      return;
    }
    const piece = text.slice(0, room);
    this.#last?.appendData(visible(piece));
    this.shown += piece.length;
  }
}

function offsetOfLine(text: string, line: number): number {
  let offset = 0;
  for (let index = 0; index < line; index++) offset = text.indexOf("\n", offset) + 1;
  return offset;
}
