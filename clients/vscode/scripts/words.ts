/**
 * Collects the strings that people read, from `l10n.t("…")` of the extension and `t("…")` of the chat view, into
 * l10n/bundle.l10n.json, the base that translations start from. `--check`: fails when it is not fresh.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const BUNDLE = join(ROOT, "l10n/bundle.l10n.json");
const CALL = /(?<![\w.])(?:vscode\.l10n\.)?t\(\s*"((?:[^"\\]|\\.)*)"/g;

function words(): string[] {
  const found = new Set<string>();
  for (const folder of ["src", "webview"]) {
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts")) continue;
      for (const [, text = ""] of readFileSync(join(ROOT, folder, name), "utf8").matchAll(CALL)) {
        found.add(JSON.parse(`"${text}"`) as string);
      }
    }
  }
  return [...found].sort();
}

const text = `${JSON.stringify(Object.fromEntries(words().map((word) => [word, word])), null, 2)}\n`;
if (!process.argv.includes("--check")) writeFileSync(BUNDLE, text);
else if (readFileSync(BUNDLE, "utf8") !== text) {
  console.error("l10n/bundle.l10n.json is not fresh: run `npm run words`.");
  process.exitCode = 1;
}
