/**
 * Permission questions: cards in the order they came, one at a time. Nothing is chosen beforehand, a card takes no
 * answer in its first half second, and Escape is no.
 */
import { commandOf, plain } from "../src/plain.ts";
import type { Agent, Permission } from "../src/protocol.gen.ts";
import { button, h, icon } from "./dom.ts";
import { post, request } from "./host.ts";
import { t } from "./l10n.ts";
import { visible } from "./safe.ts";
import { diffElement, output, placesOf } from "./tool.ts";

const INERT_MILLISECONDS = 500;

export class PermissionCards {
  readonly element = h("div.permissions");
  readonly #failed: (error: unknown) => void;
  readonly #say: (sentence: string) => void;
  #shown: string | undefined;
  #answered = new Set<string>();

  constructor(failed: (error: unknown) => void, say: (sentence: string) => void) {
    this.#failed = failed;
    this.#say = say;
  }

  draw(permissions: Permission[], agents: Agent[]): void {
    const open = permissions.filter(({ requestId }) => !this.#answered.has(requestId));
    const first = open[0];
    const count = this.element.querySelector(".card-count");
    if (count) count.textContent = open.length > 1 ? t("1 of {0}", open.length) : "";
    if (first?.requestId === this.#shown) return;
    this.#shown = first?.requestId;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.replaceChildren();
    if (!first) return;
    const card = this.#card(first, agents, open.length);
    this.element.append(card);
    if (hadFocus) card.focus(); // who answers several in a row keeps the keyboard
  }

  #card(permission: Permission, agents: Agent[], count: number): HTMLElement {
    const title = agents.find(({ name }) => name === permission.agent)?.title ?? permission.agent;
    const silence = permission.about === "silence";
    const sentence = silence ? t("{0} is silent", title) : t("{0} asks for permission", title);
    this.#say(`${sentence}: ${permission.toolCall.title}`);
    const since = performance.now();
    const answer = (optionId?: string): void => {
      if (performance.now() - since >= INERT_MILLISECONDS) this.#answer(permission.requestId, optionId);
    };
    const options = permission.options.map(({ optionId, name, kind }) => {
      const style = kind === "allow_once" || kind === "allow_always" ? "" : "secondary";
      const one = button(visible(name), () => answer(optionId), style);
      one.dataset["option"] = optionId;
      one.setAttribute("aria-disabled", "true");
      return one;
    });
    setTimeout(() => {
      for (const option of options) option.removeAttribute("aria-disabled");
    }, INERT_MILLISECONDS);
    const head = h(
      "div.card-head",
      {},
      icon(silence ? "watch" : "shield"),
      h("span.card-who", {}, visible(sentence)),
      h("span.card-count", {}, count > 1 ? t("1 of {0}", count) : ""),
    );
    const card = h("section.card.permission", {
      "aria-label": sentence,
      tabindex: -1,
      "data-request": permission.requestId,
    });
    card.append(head, h("div.card-title", {}, visible(permission.toolCall.title)));
    card.append(h("div.card-about", {}, ...about(permission)), h("div.card-options", {}, ...options));
    card.addEventListener("keydown", (event) => {
      if (event.key === "Escape") answer();
    });
    return card;
  }

  #answer(requestId: string, optionId?: string): void {
    this.#answered.add(requestId);
    const given = optionId === undefined ? { requestId } : { requestId, optionId };
    request("sidekicks/permission/answer", given).catch((error: unknown) => {
      this.#answered.delete(requestId);
      this.#failed(error);
    });
  }
}

/** What it is about: the command, the places, the change, or else whatever the tool was given. */
function about({ requestId, toolCall }: Permission): Node[] {
  const nodes: Node[] = [];
  const command = commandOf(toolCall.input);
  if (command !== undefined) nodes.push(output(command, t("Command")));
  const places = placesOf(toolCall);
  if (places.length > 0) nodes.push(h("div.locations", {}, ...places));
  toolCall.content.forEach((content, at) => {
    const openDiff = (): void => post({ type: "openPermissionDiff", requestId, content: at });
    if (content.type === "diff") nodes.push(diffElement(content, openDiff));
    else if (content.type === "text") nodes.push(output(content.text, t("Details")));
  });
  const given = toolCall.input;
  if (nodes.length === 0 && given !== undefined && given !== null)
    nodes.push(output(plain(given), t("Input")));
  return nodes;
}
