/**
 * What agents ask the user for: forms and pages to visit, as cards in the order they came, one at a time. What was
 * filled in stays while the card does; nothing is sent but by its button.
 */
import { sentence } from "../src/plain.ts";
import type { Agent, Elicitation, FormField } from "../src/protocol.gen.ts";
import { button, h, icon } from "./dom.ts";
import { post, request } from "./host.ts";
import { t } from "./l10n.ts";
import { visible } from "./safe.ts";

type Action = "accept" | "cancel" | "decline";

export class FormCards {
  readonly element = h("div.forms");
  readonly #say: (sentence: string) => void;
  #shown: string | undefined;

  constructor(say: (sentence: string) => void) {
    this.#say = say;
  }

  draw(asked: Elicitation[], agents: Agent[]): void {
    const first = asked[0];
    if (first?.requestId === this.#shown) return;
    this.#shown = first?.requestId;
    this.element.replaceChildren(...(first ? [this.#card(first, agents)] : []));
  }

  #card(asked: Elicitation, agents: Agent[]): HTMLElement {
    const title = agents.find(({ name }) => name === asked.agent)?.title ?? asked.agent;
    const asks = t("{0} asks you", visible(title));
    this.#say(`${asks}: ${asked.message}`);
    const refused = h("div.card-error", { role: "alert" });
    const answer = (action: Action, content = {}): void => {
      request("sidekicks/elicitation/answer", { requestId: asked.requestId, action, content }).catch(
        (error: unknown) => (refused.textContent = sentence(error)),
      );
    };
    return h(
      "section.card",
      { "aria-label": asks },
      h("div.card-head", {}, icon("question"), h("span.card-who", {}, asks)),
      h("div.card-title", {}, visible(asked.message)),
      asked.mode === "url" ? page(asked.url ?? "", answer) : form(asked.fields ?? [], answer),
      refused,
    );
  }
}

/** A page to visit: its whole address, and only the user opens it. */
function page(url: string, answer: (action: Action) => void): HTMLElement {
  return h(
    "div",
    {},
    h("div.card-url", {}, visible(url)),
    h(
      "div.card-options",
      {},
      button(t("Open Page"), () => post({ type: "openLink", href: url })),
      button(t("I Have Been There"), () => answer("accept"), "secondary"),
      button(t("Decline"), () => answer("decline"), "secondary"),
    ),
  );
}

function form(fields: FormField[], answer: (action: Action, content?: object) => void): HTMLElement {
  const made = fields.map((field) => ({ name: field.name, ...input(field) }));
  const options = h(
    "div.card-options",
    {},
    h("button.button", { type: "submit" }, t("Send")),
    button(t("Decline"), () => answer("decline"), "secondary"),
  );
  const element = h("form", {}, ...made.map((one) => one.element), options);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = made.map(({ name, value }) => [name, value()] as const);
    answer("accept", Object.fromEntries(values.filter(([, value]) => value !== undefined)));
  });
  return element;
}

interface Input {
  element: HTMLElement;
  /** What is filled in; undefined: nothing. */
  value: () => unknown;
}

function input(field: FormField): Input {
  switch (field.kind) {
    case "boolean":
      return checkBox(field);
    case "choice":
      return oneOf(field);
    case "choices":
      return someOf(field);
    default:
      return typed(field);
  }
}

/** A label above its control, and below it what the agent says about it. */
function labelled(field: FormField, control: HTMLElement): HTMLElement {
  return h("label.field", {}, h("span", {}, titleOf(field)), control, aboutOf(field));
}

function titleOf({ title, required }: FormField): string {
  return required === true ? `${visible(title)} *` : visible(title);
}

function aboutOf({ description }: FormField): HTMLElement | undefined {
  return description === undefined ? undefined : h("span.field-about", {}, visible(description));
}

function typed(field: FormField): Input {
  const number = field.kind === "number" || field.kind === "integer";
  const control = h("input", {
    type: number ? "number" : "text",
    required: field.required === true,
    min: field.minimum,
    max: field.maximum,
    step: field.kind === "integer" ? 1 : number ? "any" : undefined,
    minlength: field.minLength,
    maxlength: field.maxLength,
    value: typedText(field.default),
  });
  const value = (): unknown =>
    control.value === "" ? undefined : number ? control.valueAsNumber : control.value;
  return { element: labelled(field, control), value };
}

function checkBox(field: FormField): Input {
  const control = h("input", { type: "checkbox" });
  control.checked = field.default === true;
  const about = field.description === undefined ? "" : visible(field.description);
  const label = h("label.check", { title: about }, control, visible(field.title));
  return { element: label, value: () => control.checked };
}

function oneOf(field: FormField): Input {
  const choices = (field.choices ?? []).map(({ value, title }) => h("option", { value }, visible(title)));
  const none = h("option", { value: "" }, field.required === true ? t("Choose…") : t("Leave out"));
  const control = h("select", { required: field.required === true }, none, ...choices);
  control.value = typedText(field.default);
  return { element: labelled(field, control), value: () => control.value || undefined };
}

function someOf(field: FormField): Input {
  const given = Array.isArray(field.default) ? field.default : [];
  const boxes = (field.choices ?? []).map(({ value, title }) => {
    const control = h("input", { type: "checkbox", value });
    control.checked = given.includes(value);
    return { control, label: h("label.check", {}, control, visible(title)) };
  });
  const chosen = (): string[] =>
    boxes.filter(({ control }) => control.checked).map(({ control }) => control.value);
  const value = (): unknown => (chosen().length > 0 || field.required === true ? chosen() : undefined);
  // The browser knows no limits for several boxes, so the first one carries the problem.
  const check = (): void => boxes[0]?.control.setCustomValidity(countProblem(field, value()));
  const element = h(
    "fieldset.field",
    {},
    h("legend", {}, titleOf(field)),
    ...boxes.map(({ label }) => label),
    aboutOf(field),
  );
  element.addEventListener("change", check);
  check();
  return { element, value };
}

/** What is wrong with how many were chosen, as a sentence. */
function countProblem({ minLength = 0, maxLength = Infinity }: FormField, value: unknown): string {
  if (!Array.isArray(value)) return "";
  if (value.length < minLength) return t("Choose at least {0}.", minLength);
  return value.length > maxLength ? t("Choose at most {0}.", maxLength) : "";
}

function typedText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
