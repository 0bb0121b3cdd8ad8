/**
 * A text that grows, as Markdown: blocks that are complete are rendered once, only the last one again. One too long for
 * that is plain text in pieces until it is complete. A long text takes several frames, a step in each, so that no step
 * takes long however much has come.
 */
import { h } from "./dom.ts";
import { renderBlocks } from "./markdown.ts";
import { blocks, type Block } from "./markup.ts";
import { visible } from "./safe.ts";
import { Steps } from "./steps.ts";

/** How much is shown in one step: parsed, sanitised, laid out and painted, all in the same frame. */
const STEP = 8_000;
/** A block longer than this is plain text for good. */
const BLOCK_AT_MOST = 16_000;
const PLAIN_PIECE = 4_000;

const steps = new Steps(
  (run) => requestAnimationFrame(run),
  () => performance.now(),
);

export class MarkdownStream {
  readonly element = h("div.markdown");
  readonly #tail = h("div");
  readonly #step = (): boolean => (this.#plain ? this.#growPlain(this.#plain) : this.#grow());
  #text = "";
  #final = false;
  /** How much of the text stands in blocks that do not change any more. */
  #settled = 0;
  #plain: PlainBlock | undefined;

  constructor() {
    this.element.append(this.#tail);
  }

  /** Show this text. One that only grew costs what grew. */
  update(text: string, final: boolean): void {
    if (text === this.#text && final === this.#final) return;
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    this.#final = final;
    if (!steps.has(this.#step) && this.#step()) steps.add(this.#step);
  }

  /** A step; answers whether there is more to do. */
  #grow(): boolean {
    const rest = this.#text.slice(this.#settled);
    const complete = blocks(rest.slice(0, STEP));
    const last = complete.splice(-1);
    if (complete.length > 0) this.#settle(complete);
    if (rest.length <= STEP) this.#tail.replaceChildren(renderBlocks(last, this.#final));
    else if (complete.length === 0) return this.#growLong(rest);
    return rest.length > STEP;
  }

  /** The next block is longer than a step. While it grows, it is not parsed again with every piece of text. */
  #growLong(rest: string): boolean {
    const [block, next] = blocks(rest.slice(0, BLOCK_AT_MOST));
    if (block && next) {
      this.#settle([block]);
      return true;
    }
    if (block && this.#final && rest.length <= BLOCK_AT_MOST) {
      this.#tail.replaceChildren(renderBlocks([block], true));
      return false;
    }
    this.#plain = new PlainBlock(rest);
    this.#tail.replaceChildren(this.#plain.element);
    return this.#growPlain(this.#plain);
  }

  #growPlain(plain: PlainBlock): boolean {
    const rest = this.#text.slice(this.#settled);
    const end = plain.update(rest, STEP);
    if (end !== undefined) {
      this.#plain = undefined;
      if (end <= BLOCK_AT_MOST) this.#settle(blocks(rest.slice(0, end)));
      else this.#put(plain.element, end);
      return true;
    }
    if (plain.shown < rest.length) return true;
    if (this.#final && rest.length <= BLOCK_AT_MOST) {
      this.#plain = undefined;
      this.#tail.replaceChildren(renderBlocks(blocks(rest), true));
    }
    return false;
  }

  /** These blocks, which the rest of the text begins with, are complete. */
  #settle(some: Block[]): void {
    this.#put(h("div", {}, renderBlocks(some, true)), some.at(-1)?.end ?? 0);
  }

  #put(block: HTMLElement, length: number): void {
    this.#settled += length;
    this.#tail.replaceChildren();
    this.#tail.before(block);
  }

  #reset(): void {
    steps.remove(this.#step);
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
