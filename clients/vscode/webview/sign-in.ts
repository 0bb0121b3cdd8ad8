/** An agent that works only when one has signed in: a card with the ways that it offers. The extension goes them. */
import type { Agent, SignIn } from "../src/protocol.gen.ts";
import { button, h, icon } from "./dom.ts";
import { post } from "./host.ts";
import { t } from "./l10n.ts";
import { visible } from "./safe.ts";

export class SignInCards {
  readonly element = h("div.sign-ins");
  #shown: SignIn[] = [];

  draw(wanted: SignIn[], agents: Agent[]): void {
    if (wanted.length === this.#shown.length && wanted.every((one, at) => one === this.#shown[at])) return;
    this.#shown = wanted;
    this.element.replaceChildren(...wanted.map((one) => card(one, agents)));
  }
}

function card({ agent, text, methods }: SignIn, agents: Agent[]): HTMLElement {
  const title = agents.find(({ name }) => name === agent)?.title ?? agent;
  const sentence = t("{0} wants you to sign in", visible(title));
  const ways = methods.map(({ id, name, description }, index) => {
    const go = (): void => post({ type: "signIn", agent, methodId: id });
    const way = button(visible(name), go, index === 0 ? "" : "secondary");
    way.title = visible(description ?? "");
    return way;
  });
  return h(
    "section.card",
    { "aria-label": sentence },
    h("div.card-head", {}, icon("key"), h("span.card-who", {}, sentence)),
    h("div.card-title", {}, visible(text)),
    h("div.card-options", {}, ...ways),
  );
}
