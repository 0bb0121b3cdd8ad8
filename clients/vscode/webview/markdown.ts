/**
 * Markdown to DOM: parsed without HTML, sanitised, links and images made harmless, code highlighted. Knows nothing of
 * messages; `stream.ts` feeds it block by block.
 */
import createDOMPurify from "dompurify";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import lua from "highlight.js/lib/languages/lua";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import MarkdownIt from "markdown-it";
import { h, iconButton } from "./dom.ts";
import { post } from "./host.ts";
import { t } from "./l10n.ts";
import { visible } from "./safe.ts";

const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  lua,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const HIGHLIGHT_AT_MOST = 20_000;
/** Schemes that a link may have; without one it is a file. */
const HARMLESS = /^(https?:|mailto:|file:\/\/|(?![a-z][\w+.-]*:))/i;

const purify = createDOMPurify(window);
const md = new MarkdownIt({ html: false, linkify: true, breaks: false });
md.validateLink = (url) => HARMLESS.test(url.trim());

// Nothing is fetched from afar: an image is a link to it.
md.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const source = String(token?.attrGet("src") ?? "");
  const label = token?.content === "" || token === undefined ? source : token.content;
  return `<a href="${md.utils.escapeHtml(source)}">${md.utils.escapeHtml(label)}</a>`;
};
md.renderer.rules.fence = (tokens, index, _options, env) => {
  const token = tokens[index];
  return codeBlock(token?.content ?? "", token?.info.trim().split(/\s+/)[0] ?? "", env?.["final"] === true);
};
md.renderer.rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? "", "", true);

/** Where the top-level blocks of a text begin, as lines. */
export function blockStarts(text: string): number[] {
  const starts: number[] = [];
  for (const token of md.parse(text, {})) {
    if (token.level === 0 && token.map && token.nesting >= 0) starts.push(token.map[0]);
  }
  return starts;
}

/** A piece of Markdown as DOM. `final`: it will not change any more, so code is highlighted. */
export function render(text: string, final: boolean): DocumentFragment {
  const html = md.render(visible(text), { final });
  const fragment = purify.sanitize(html, {
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

function codeBlock(code: string, language: string, final: boolean): string {
  const known = final && code.length <= HIGHLIGHT_AT_MOST && hljs.getLanguage(language) !== undefined;
  const html = known
    ? hljs.highlight(code, { language, ignoreIllegals: true }).value
    : md.utils.escapeHtml(code);
  const shown = md.utils.escapeHtml(language.slice(0, 30));
  return `<pre data-language="${shown}"><code>${html}</code></pre>\n`;
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
