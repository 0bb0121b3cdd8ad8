/** Elements without a framework: `h("p.note", { title }, "text")`. Text is always text, never HTML. */
type Child = Node | string | undefined | false;
type Attributes = Record<string, string | boolean | number | ((event: never) => void) | undefined>;

/** An element: tag and classes, attributes (`on…`: a listener), children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  selector: K | `${K}.${string}`,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag as K);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function")
      element.addEventListener(name.slice(2), value as unknown as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** A codicon; decoration only. */
export function icon(name: string, spins = false): HTMLElement {
  return h("span", {
    class: `codicon codicon-${name}${spins ? " codicon-modifier-spin" : ""}`,
    "aria-hidden": "true",
  });
}

/** A button that shows an icon; its label is read and shown on hover. */
export function iconButton(name: string, label: string, action: () => void, classes = ""): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: `icon-button ${classes}`, title: label, "aria-label": label, onclick: action },
    icon(name),
  );
}

export function button(label: string, action: () => void, classes = ""): HTMLButtonElement {
  return h("button", { type: "button", class: `button ${classes}`, onclick: action }, label);
}
