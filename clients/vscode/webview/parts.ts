/** The parts of a message but its tool calls: text, thoughts, plans, permissions that were asked, notices. */
import type { Part, PermissionPart, PlanPart } from "../src/protocol.gen.ts";
import { button, h, icon } from "./dom.ts";
import { t } from "./l10n.ts";
import { visible } from "./safe.ts";
import { MarkdownStream } from "./stream.ts";
import { toolElement } from "./tool.ts";

/** One part on screen: updated in place as long as its type stays. */
export class PartView {
  readonly element = h("div.part");
  #part: Part | undefined;
  #final: boolean | undefined;
  #stream: MarkdownStream | undefined;
  readonly #useSuggestion: (suggestion: string) => void;

  constructor(useSuggestion: (suggestion: string) => void) {
    this.#useSuggestion = useSuggestion;
  }

  /** `final`: the message will not change any more. */
  update(part: Part, final: boolean, messageId: string, index: number): void {
    if (part === this.#part && final === this.#final) return;
    const before = this.#part;
    this.#part = part;
    this.#final = final;
    if (before?.type !== part.type) this.#begin(part);
    if (part.type === "text" || part.type === "thought") this.#stream?.update(part.text, final);
    else this.element.replaceChildren(...this.#content(part, messageId, index));
  }

  #begin(part: Part): void {
    this.element.className = `part part-${part.type}`;
    this.#stream = undefined;
    this.element.replaceChildren();
    if (part.type === "text") {
      this.#stream = new MarkdownStream();
      this.element.append(this.#stream.element);
    } else if (part.type === "thought") {
      this.#stream = new MarkdownStream();
      const summary = h("summary", {}, icon("lightbulb"), t("Thought"));
      this.element.append(h("details.thought", {}, summary, this.#stream.element));
    }
  }

  #content(part: Part, messageId: string, index: number): Node[] {
    switch (part.type) {
      case "toolCall": {
        const open = this.element.querySelector("details")?.open;
        return [toolElement(part, messageId, index, open ?? false)];
      }
      case "plan":
        return [planElement(part)];
      case "permission":
        return permissionLine(part);
      case "notice": {
        const line = h(
          "div.notice",
          { "data-code": part.code },
          icon("info"),
          h("span", {}, visible(part.text)),
        );
        const { suggestion } = part;
        if (suggestion !== undefined) {
          line.append(button(t("Use {0}", suggestion), () => this.#useSuggestion(suggestion), "link"));
        }
        return [line];
      }
      default:
        return [];
    }
  }
}

function planElement({ entries }: PlanPart): HTMLElement {
  const icons: Record<string, string> = { completed: "pass-filled", in_progress: "circle-filled" };
  const words: Record<string, string> = { completed: t("done"), in_progress: t("in progress") };
  const rows = entries.map(({ content, status }) =>
    h(
      "li",
      { "data-status": status },
      icon(icons[status] ?? "circle-large-outline"),
      h("span", {}, visible(content)),
      h("span.sr-only", {}, words[status] ?? t("to do")),
    ),
  );
  const done = entries.filter(({ status }) => status === "completed").length;
  const title = h("div.plan-title", {}, icon("checklist"), t("Plan ({0} of {1})", done, entries.length));
  return h("div.plan", {}, title, h("ul", {}, ...rows));
}

/** What became of a question; the open one is a card above the composer. */
function permissionLine({ options, outcome }: PermissionPart): Node[] {
  if (!outcome) return [h("div.permission-line", {}, icon("shield"), t("Asks for permission…"))];
  const chosen = options.find(({ optionId }) => optionId === outcome.optionId);
  const rejected = outcome.outcome === "cancelled" || (chosen?.kind.startsWith("reject") ?? false);
  const text = chosen ? visible(chosen.name) : t("Not answered");
  return [
    h("div.permission-line", {}, icon(rejected ? "circle-slash" : "shield"), t("Permission: {0}", text)),
  ];
}
