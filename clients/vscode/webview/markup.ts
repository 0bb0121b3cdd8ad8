/**
 * Markdown to HTML, block by block: parsed without HTML, code highlighted. Pure; what the HTML may do on the page is
 * decided in `markdown.ts`.
 */
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

/** Highlighting takes more than a millisecond for each thousand characters. */
const HIGHLIGHT_AT_MOST = 12_000;
/** Schemes that a link may have; without one it is a file. */
export const HARMLESS = /^(https?:|mailto:|file:\/\/|(?![a-z][\w+.-]*:))/i;

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

/** A top-level block: a paragraph, a list, a table, a piece of code. */
export interface Block {
  /** Where the next one begins in the text, or the text ends. */
  end: number;
  /** `final`: it will not change any more, so code is highlighted. */
  html: (final: boolean) => string;
}

/** A text as its blocks, parsed once. They cover it without a gap; a text without any is one. */
export function blocks(text: string): Block[] {
  const env: Record<string, unknown> = {};
  const tokens = md.parse(visible(text), env);
  const firsts = tokens.flatMap(({ level, map, nesting }, index) =>
    level === 0 && map && nesting >= 0 ? [{ index, line: map[0] }] : [],
  );
  const lines = lineOffsets(text);
  return (firsts.length > 0 ? firsts : [{ index: 0 }]).map(({ index }, block) => {
    const next = firsts[block + 1];
    const own = tokens.slice(index, next?.index);
    return {
      end: next ? (lines[next.line] ?? text.length) : text.length,
      html: (final) => md.renderer.render(own, md.options, { ...env, final }),
    };
  });
}

/** Where each line begins; lines end as Markdown has it. */
function lineOffsets(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\r\n?|\n/g), ({ 0: end, index }) => index + end.length)];
}

function codeBlock(code: string, language: string, final: boolean): string {
  const known = final && code.length <= HIGHLIGHT_AT_MOST && hljs.getLanguage(language) !== undefined;
  const html = known
    ? hljs.highlight(code, { language, ignoreIllegals: true }).value
    : md.utils.escapeHtml(code);
  const shown = md.utils.escapeHtml(language.slice(0, 30));
  return `<pre data-language="${shown}"><code>${html}</code></pre>\n`;
}
