// The chat in each kind of theme: no violation of the accessibility rules, colours of the theme alone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import type { Frame } from "playwright-core";
import { scene } from "./support/scene.ts";
import { answer } from "./support/waiting.ts";

const THEMES = {
  "Dark Modern": "vscode-dark",
  "Light Modern": "vscode-light",
  "Default High Contrast": "vscode-high-contrast",
  "Default High Contrast Light": "vscode-high-contrast-light",
};
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** The rules that the page breaks, and where. */
async function violations(chat: Frame): Promise<string[]> {
  await chat.evaluate(AXE); // the page's policy lets no script in; this is the browser's own door
  return chat.evaluate(async () => {
    // What is behind the page is the side bar's; the tool would take it for white.
    document.documentElement.style.background = "var(--vscode-sideBar-background)";
    const tool = (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe;
    const { violations } = await tool.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ""}`),
    );
  });
}

/** Everything that an answer can hold. */
const EVERYTHING =
  "!think Hm !tool read Look | a.py:1 !diff a.py|a|b !plan +A;>B;C !say # T\\n\\n`x` [l](https://example.invalid) \\n\\n```python\\ndef f(): # c\\n  return 'a', 1\\n```\\n\\n| a |\\n|---|\\n| 1 |\\n\\n> q";
const VERA = ["--auth", "env_var", "--auth-required", "new"];

scene("Looks", { agents: { alice: ["--modes", "ask,code"], bob: [], vera: VERA } }, (s) => {
  const inEachTheme = async (): Promise<void> => {
    const { bed, chat } = s;
    await chat.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
    await chat.locator(".composer textarea").fill("@");
    await chat.locator(".completion").first().waitFor();
    for (const [theme, kind] of Object.entries(THEMES)) {
      bed.writeSettings({ "workbench.colorTheme": theme });
      await chat.locator(`body.${kind}`).waitFor();
      assert.deepEqual(await violations(chat), [], theme);
    }
    await chat.locator(".composer textarea").fill("");
  };

  test("nothing is inaccessible in any theme: answers, errors, forms, signing in", async () => {
    await s.window.say(`@alice ${EVERYTHING}`);
    await answer(s.chat, "return").waitFor();
    await s.window.say("@bob !stderr-say why !crash 2");
    await s.chat.locator(".error").waitFor();
    await s.window.say("@vera hello");
    await s.chat.locator(".sign-ins .card").waitFor();
    await s.window.say("@alice !elicit form More !say formed");
    await s.chat.locator(".forms .card").waitFor();
    await inEachTheme();
    await s.chat.getByRole("button", { name: "Decline" }).click();
    await answer(s.chat, "formed").waitFor();
  });

  test("nothing is inaccessible in any theme: a question for permission", async () => {
    await s.window.say("@alice !permit-diff a.py|one|two !say permitted");
    await s.chat.locator(".permission [data-option]:not([aria-disabled])").first().waitFor();
    await inEachTheme();
    await s.chat.getByRole("button", { name: "Reject" }).click();
    await answer(s.chat, "permitted").waitFor();
  });

  test("the page obeys its policy: no other script, no style of its own, no other place", async () => {
    const policy = await s.chat.locator("meta[http-equiv='Content-Security-Policy']").getAttribute("content");
    assert.match(
      policy ?? "",
      /^default-src 'none'; script-src 'nonce-[0-9a-f]{32}'; style-src [^;]+; font-src [^;]+; img-src [^;]+$/,
    );
    assert.doesNotMatch(policy ?? "", /unsafe/);
    for (const name of ["main", "composer", "parts", "markdown"]) {
      const css = readFileSync(new URL(`../webview/${name}.css`, import.meta.url), "utf8");
      assert.doesNotMatch(css, /#[0-9a-f]{3,8}\b|rgba?\(/i);
    }
  });

  test("with a screen reader answers are read by sentences", async () => {
    await s.window.say("@alice !say One_sentence. !say \\sAnd !say \\sunfinished !hold rest !say \\sone.");
    const status = s.chat.locator(".sr-only[aria-live=polite]");
    await status.locator("p", { hasText: "One_sentence." }).waitFor();
    assert.doesNotMatch(await status.innerText(), /unfinished/);
    s.bed.openGate("rest");
    await status.locator("p", { hasText: "And unfinished one." }).waitFor();
    assert.equal(await s.chat.locator("[role=log]").getAttribute("aria-label"), "Conversation");
  });
});
