/** The list of completions above the composer. The bridge says what fits; this shows it and puts it in. */
import { h } from "./dom.ts";
import { request } from "./host.ts";

interface Item {
  label: string;
  detail?: string;
  documentation?: string;
  textEdit: { range: { start: Place; end: Place }; newText: string };
}
interface Place {
  line: number;
  character: number;
}

export class Completion {
  readonly element = h("ul.completions", { role: "listbox", id: "completions", "aria-label": "Completions" });
  readonly #field: HTMLTextAreaElement;
  readonly #changed: () => void;
  #items: Item[] = [];
  #selected = 0;
  #asked = 0;

  constructor(field: HTMLTextAreaElement, changed: () => void) {
    this.#field = field;
    this.#changed = changed;
    this.element.hidden = true;
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  /** Ask what fits before the cursor, if something may. */
  async refresh(channelId: string): Promise<void> {
    const { value: text, selectionStart: offset } = this.#field;
    const asked = ++this.#asked;
    if (!/[@/][\w.:-]*$/.test(text.slice(0, offset))) {
      this.close();
      return;
    }
    try {
      const { items } = await request("sidekicks/message/complete", { channelId, text, offset });
      if (asked === this.#asked) this.#show(items as unknown as Item[]);
    } catch {
      this.close();
    }
  }

  close(): void {
    this.#asked++;
    this.#show([]);
  }

  /** A key while the list is open; answers whether it was the list's. */
  key(event: KeyboardEvent): boolean {
    if (!this.open) return false;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) this.#select((this.#selected + step + this.#items.length) % this.#items.length);
    else if (event.key === "Escape") this.close();
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey))
      this.#take(this.#items[this.#selected]);
    else return false;
    return true;
  }

  #show(items: Item[]): void {
    this.#items = items;
    this.element.hidden = items.length === 0;
    this.element.replaceChildren(
      ...items.map((item, index) => {
        const row = h(
          "li.completion",
          { role: "option", id: `completion-${index}`, title: item.documentation },
          h("span.completion-label", {}, item.label),
          h("span.completion-detail", {}, item.detail ?? ""),
        );
        row.addEventListener("mousedown", (event) => {
          event.preventDefault();
          this.#take(item);
        });
        return row;
      }),
    );
    if (items.length > 0) this.#select(0);
    else this.#field.removeAttribute("aria-activedescendant");
  }

  #select(index: number): void {
    this.#selected = index;
    [...this.element.children].forEach((row, at) => {
      row.setAttribute("aria-selected", String(at === index));
      if (at === index) row.scrollIntoView({ block: "nearest" });
    });
    this.#field.setAttribute("aria-activedescendant", `completion-${index}`);
  }

  #take(item: Item | undefined): void {
    if (!item) return;
    const text = this.#field.value;
    const { range, newText } = item.textEdit;
    this.#field.setRangeText(`${newText} `, offsetOf(text, range.start), offsetOf(text, range.end), "end");
    this.close();
    this.#field.focus();
    this.#changed();
  }
}

function offsetOf(text: string, { line, character }: Place): number {
  let start = 0;
  for (let index = 0; index < line; index++) start = text.indexOf("\n", start) + 1;
  return start + character;
}
