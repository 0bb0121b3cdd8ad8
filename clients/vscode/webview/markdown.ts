/**
 * Markdown to DOM: what `markup.ts` made of it, sanitised, with links and images made harmless and code framed. Knows
 * nothing of messages; `stream.ts` feeds it block by block.
 */
import createDOMPurify from "dompurify";
import { h, iconButton } from "./dom.ts";
import { post } from "./host.ts";
import { t } from "./l10n.ts";
import { blocks, HARMLESS, type Block } from "./markup.ts";

const purify = createDOMPurify(window);

/** A whole text as DOM. */
export function render(text: string): DocumentFragment {
  return renderBlocks(blocks(text), true);
}

/** Blocks as DOM. `final`: they will not change any more, so code is highlighted. */
export function renderBlocks(some: Block[], final: boolean): DocumentFragment {
  const fragment = purify.sanitize(some.map((block) => block.html(final)).join(""), {
    RETURN_DOM_FRAGMENT: true,
    FORBID_TAGS: ["style", "form", "input", "button", "img", "svg", "math", "iframe", "video", "audio"],
    FORBID_ATTR: ["style", "id", "name"],
    ALLOWED_URI_REGEXP: HARMLESS,
  });
  for (const link of fragment.querySelectorAll("a")) harmless(link);
  for (const pre of fragment.querySelectorAll("pre")) withToolbar(pre);
  for (const table of fragment.querySelectorAll("table")) scrollable(table);
  return fragment;
}

/** A link goes through the extension, which decides once more what it may open. */
function harmless(link: HTMLAnchorElement): void {
  const href = link.getAttribute("href") ?? "";
  link.title = href;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    post({ type: "openLink", href });
  });
}

function withToolbar(pre: HTMLPreElement): void {
  const frame = h("div.code");
  const language = pre.dataset["language"] ?? "";
  const code = (): string => pre.textContent.replace(/\n$/, "");
  const bar = h(
    "div.code-bar",
    {},
    h("span.code-language", {}, language),
    iconButton("insert", t("Insert at the cursor"), () => post({ type: "insert", text: code() })),
    iconButton("copy", t("Copy"), () => post({ type: "copy", text: code() })),
  );
  pre.replaceWith(frame);
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", language === "" ? t("Code") : t("Code, {0}", language));
  frame.append(bar, pre);
}

function scrollable(table: HTMLTableElement): void {
  const frame = h("div.table", { tabindex: 0, role: "group", "aria-label": t("Table") });
  table.replaceWith(frame);
  frame.append(table);
}
