/** A tool call: one line with its status, and folded below it what went in and came out. */
import { commandOf, plain } from "../src/plain.ts";
import type { DiffContent, Location, ToolCallPart, ToolContent } from "../src/protocol.gen.ts";
import { change } from "./changes.ts";
import { button, h, icon } from "./dom.ts";
import { post } from "./host.ts";
import { t } from "./l10n.ts";
import { render } from "./markdown.ts";
import { visible } from "./safe.ts";

const OUTPUT_AT_MOST = 8_000;
const DIFF_LINES = 12;

const STATUS_ICONS = {
  pending: "circle-large-outline",
  in_progress: "loading",
  completed: "check",
  failed: "error",
  cancelled: "circle-slash",
};
const KIND_ICONS: Record<string, string> = {
  read: "file",
  edit: "edit",
  delete: "trash",
  move: "arrow-swap",
  search: "search",
  execute: "terminal",
  think: "lightbulb",
  fetch: "globe",
};

/** Where the folder of the conversation is, so that paths in it are shown short. */
let root = "";
export function setRoot(path: string | undefined): void {
  root = path ?? "";
}

export function shortPath(path: string): string {
  return root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

export function toolElement(
  part: ToolCallPart,
  messageId: string,
  index: number,
  open: boolean,
): HTMLElement {
  const body = toolBody(part, messageId, index);
  const statuses = {
    pending: t("pending"),
    in_progress: t("running"),
    completed: t("completed"),
    failed: t("failed"),
    cancelled: t("cancelled"),
  };
  const line = [
    h(
      "span",
      { class: `tool-status ${part.status}` },
      icon(STATUS_ICONS[part.status], part.status === "in_progress"),
      h("span.sr-only", {}, statuses[part.status]),
    ),
    icon(KIND_ICONS[part.kind] ?? "tools"),
    h("span.tool-title", {}, visible(part.title)),
  ];
  if (body.length === 0)
    return h("div.tool", { "data-status": part.status }, h("div.tool-line", {}, ...line));
  const details = h("details.tool", { "data-status": part.status }, h("summary.tool-line", {}, ...line));
  details.open = open;
  details.append(h("div.tool-body", {}, ...body));
  return details;
}

function toolBody(part: ToolCallPart, messageId: string, index: number): Node[] {
  const nodes: Node[] = [];
  const places = placesOf(part);
  if (places.length > 0) nodes.push(h("div.locations", {}, ...places));
  const command = commandOf(part.input);
  if (command !== undefined) nodes.push(output(command, t("Command")));
  else if (hasMore(part.input)) nodes.push(output(plain(part.input), t("Input")));
  part.content.forEach((content, at) => {
    const node = contentNode(content, () => post({ type: "openDiff", messageId, part: index, content: at }));
    if (node) nodes.push(node);
  });
  if (part.output !== undefined && part.content.length === 0)
    nodes.push(output(plain(part.output), t("Output")));
  if (part.truncated) {
    nodes.push(button(t("Show all of it"), () => post({ type: "showPart", messageId, part: index }), "link"));
  }
  return nodes;
}

/** Links to the places of a tool call that no change of it names already. */
export function placesOf({ locations, content }: ToolCallPart): HTMLElement[] {
  const changed = new Set(content.map((one) => (one.type === "diff" ? shortPath(one.path) : undefined)));
  return locations.filter(({ path }) => !changed.has(shortPath(path))).map(locationLink);
}

function locationLink({ path, line }: Location): HTMLElement {
  const label = line === undefined ? shortPath(path) : `${shortPath(path)}:${line}`;
  return button(visible(label), () => post({ type: "openFile", path, line }), "link location");
}

function contentNode(content: ToolContent, openDiff: () => void): Node | undefined {
  if (content.type === "diff") return diffElement(content, openDiff);
  if (content.type === "text") {
    if (content.text.length > OUTPUT_AT_MOST || isPlain(content.text))
      return output(content.text, t("Output"));
    return h("div.markdown", {}, render(content.text));
  }
  if (content.type === "resource") {
    return button(content.title ?? content.uri, () => post({ type: "openLink", href: content.uri }), "link");
  }
  return undefined;
}

/** A change: its file, how much, its first lines, and the way to the diff editor. */
export function diffElement(diff: DiffContent, openDiff: () => void): HTMLElement {
  const { added, removed, lines, more } = change(diff.oldText, diff.newText, DIFF_LINES);
  const head = h(
    "div.diff-head",
    {},
    button(visible(shortPath(diff.path)), openDiff, "link"),
    counts(added, removed),
    button(t("Open Changes"), openDiff, "secondary small"),
  );
  const rows = lines.map(({ sign, text }) =>
    h("div", { class: sign === "+" ? "added" : "removed" }, `${sign} ${visible(text.slice(0, 500))}`),
  );
  if (more > 0) rows.push(h("div.more", {}, t("… {0} more lines", more)));
  return h(
    "div.diff",
    {},
    head,
    h("div.diff-lines", { tabindex: 0, role: "group", "aria-label": t("Changes") }, ...rows),
  );
}

export function counts(added: number, removed: number): HTMLElement {
  return h("span.counts", {}, h("span.plus", {}, `+${added}`), " ", h("span.minus", {}, `−${removed}`));
}

export function output(text: string, label: string): HTMLElement {
  const cut = text.length > OUTPUT_AT_MOST;
  const shown = visible(cut ? text.slice(0, OUTPUT_AT_MOST) : text);
  const pre = h("pre.output", { tabindex: 0, role: "group", "aria-label": label }, shown);
  if (!cut) return pre;
  const show = (): void => post({ type: "showText", title: label, text });
  return h("div", {}, pre, button(t("Show all of it"), show, "link"));
}

/** Whether an input is worth showing: more than nothing. */
function hasMore(input: unknown): boolean {
  if (input === undefined || input === null || input === "") return false;
  return typeof input !== "object" || Object.keys(input).length > 0;
}

/** Output without any Markdown is shown as it is. */
function isPlain(text: string): boolean {
  return !/```|^#{1,6} |\*\*|\[[^\]]+\]\(/m.test(text);
}
