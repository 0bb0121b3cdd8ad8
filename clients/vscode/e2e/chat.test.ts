// The conversation in the chat view: what agents do and say, shown. Against the real bridge and real processes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scene } from "./support/scene.ts";
import { answer, until } from "./support/waiting.ts";

scene(
  "The conversation",
  {
    agents: { alice: ["--modes", "ask,code", "--commands", "plan:Make a plan,fix:Mend it:what"], bob: [] },
    files: { "app.py": "def main():\n    print('hi')\n\nmain()\n" },
  },
  (s) => {
    test("a message is answered, and the answer streams into the transcript", async () => {
      await s.window.say("@alice !words one_two three !hold go !say  **done**");
      const streaming = s.chat.locator(".message.by-agent.streaming");
      await streaming.filter({ hasText: "three" }).waitFor();
      assert.equal(await streaming.getAttribute("aria-busy"), "true");
      await s.chat.locator(".turn", { hasText: "Alice is writing" }).waitFor();
      await s.window.page.locator(".statusbar", { hasText: "alice writes" }).waitFor();
      s.bed.openGate("go");
      const finished = answer(s.chat, "three");
      await finished.locator("strong", { hasText: "done" }).waitFor();
      assert.equal(await finished.locator(".author").textContent(), "Alice");
      await until(
        () => s.chat.locator(".turn").count(),
        (count) => count === 0,
      );
    });

    test("Markdown is rendered, code is highlighted, copied and inserted", async () => {
      await s.window.openFile("app.py");
      await s.window.say(
        "@alice !say | a | b |\\n|---|---|\\n| 1 | 2 |\\n\\n```python\\ndef f():\\n    return 1\\n```\\n\\n- item",
      );
      const block = answer(s.chat, "item").locator(".code");
      await block.locator(".hljs-keyword", { hasText: "def" }).waitFor();
      assert.equal(await answer(s.chat, "item").locator("table td").count(), 2);
      await block.getByRole("button", { name: "Copy" }).click();
      await until(
        () => s.window.page.evaluate(() => navigator.clipboard.readText()),
        (text) => text === "def f():\n    return 1",
      );
      await block.getByRole("button", { name: "Insert at the cursor" }).click();
      await s.window.page
        .locator(".monaco-editor[data-uri$='app.py'] .view-line", { hasText: "return 1" })
        .first()
        .waitFor();
      await s.window.page.keyboard.press("Control+Z");
    });

    test("code that grows long is plain until it is complete, then highlighted and whole", async () => {
      const lines = Array.from({ length: 600 }, (_, line) => `    return ${line + 1_000}`);
      const [first, second] = [lines.slice(0, 550), lines.slice(550)].map((some) => some.join("\n"));
      const words = `First.\n\n\`\`\`python\n${first} !hold code !say \n${second}\n\`\`\`\n\nLast.`;
      await s.window.say(`@alice !say ${words.replaceAll("\n", "\\n")}`);
      const message = s.chat.locator(".message.by-agent", { hasText: "First." });
      await message.locator(".plain.code-like", { hasText: "return 1549" }).waitFor();
      s.bed.openGate("code");
      await answer(s.chat, "Last.").waitFor();
      await message.locator(".hljs-keyword").nth(599).waitFor();
      assert.equal(await message.locator("pre code").textContent(), `${lines.join("\n")}\n`);
      assert.equal(await message.locator(".plain").count(), 0);
      assert.equal(
        (await message.locator(".markdown").innerText()).match(/First\.|Last\./g)?.join(),
        "First.,Last.",
      );
    });

    test("thoughts are folded, tool calls show status and places, a place opens its file at the line", async () => {
      await s.window.say(
        "@alice !think Let_me_see. !tool read Look | app.py:4 !tool-failed execute Broken !say Looked.",
      );
      const message = answer(s.chat, "Looked.");
      await message.waitFor();
      assert.equal(
        await message.locator("details.thought").evaluate((one: HTMLDetailsElement) => one.open),
        false,
      );
      await message.locator("details.thought summary").click();
      await message.locator(".thought", { hasText: "Let_me_see" }).waitFor();
      await message.locator(".tool-status.failed").waitFor();
      await message.locator("details.tool summary", { hasText: "Look" }).click();
      await message.locator(".location", { hasText: "app.py:4" }).click();
      await s.window.page.locator(".statusbar", { hasText: "Ln 4, Col 1" }).waitFor();
    });

    test("a diff opens in VS Code's diff editor, and the files an answer touched are listed", async () => {
      await s.window.say("@alice !diff app.py|a\\nb\\nc|a\\nB\\nc\\nd !say Changed.");
      const message = answer(s.chat, "Changed.");
      const touched = message.locator(".touched");
      await touched.waitFor();
      assert.match((await touched.textContent()) ?? "", /1 file changed.*app\.py.*\+3.*−2/s);
      await touched.getByRole("button", { name: "app.py" }).click();
      await s.window.page
        .locator(".monaco-diff-editor .modified .view-line", { hasText: "B" })
        .first()
        .waitFor();
      await s.window.page.locator(".tab.active", { hasText: "app.py (changes)" }).waitFor();
    });

    test("a plan is shown in place", async () => {
      await s.window.say("@alice !plan Read;Write !plan +Read;>Write !say Planned.");
      const message = answer(s.chat, "Planned.");
      await message.waitFor();
      assert.equal(await message.locator(".plan").count(), 1);
      assert.match((await message.locator(".plan-title").textContent()) ?? "", /1 of 2/);
    });

    test("queued messages say why they wait and can be removed", async () => {
      await s.window.say("@alice !hold slow !say First.");
      await s.chat.locator(".turn", { hasText: "Alice" }).waitFor();
      await s.window.say("@bob second");
      const queued = s.chat.locator(".message.queued", { hasText: "second" });
      await queued.locator(".queued-line", { hasText: "an earlier answer comes first" }).waitFor();
      await s.chat.locator(".turn", { hasText: "Bob waits: an earlier answer comes first" }).waitFor();
      await queued.getByRole("button", { name: "Remove" }).click();
      await queued.waitFor({ state: "detached" });
      s.bed.openGate("slow");
      await answer(s.chat, "First.").waitFor();
    });

    test("stopping keeps what was said and says so", async () => {
      await s.window.say("@alice !say Half_of_it !hang");
      await s.chat.locator(".message.streaming", { hasText: "Half_of_it" }).waitFor();
      await s.chat.getByRole("button", { name: "Stop Answering" }).click();
      await answer(s.chat, "Half_of_it").locator(".stopped", { hasText: "Stopped" }).waitFor();
    });

    test("an error says what happened, and can be tried again", async () => {
      await s.window.say("@bob !say Before !stderr-say the_reason !crash 3");
      const failed = s.chat.locator(".message.finished", { hasText: "Before" }).last();
      await failed.locator(".error", { hasText: "3" }).waitFor();
      const before = await s.chat.locator(".message.finished .error").count();
      await failed.getByRole("button", { name: "Try Again" }).click();
      await until(
        () => s.chat.locator(".message.finished .error").count(),
        (count) => count === before + 1,
      );
    });

    test("what did bob see? opens the exact prompt as a read-only document", async () => {
      await s.window.say("@bob and you?");
      const message = answer(s.chat, "bob heard: ");
      await message.waitFor();
      await message.hover();
      await message.getByRole("button", { name: "What did bob see?" }).click();
      const tab = s.window.page.locator(".tab.active", { hasText: "What bob saw" });
      await tab.waitFor();
      const lines = s.window.page.locator(".monaco-editor[data-uri^='sidekicks-view'] .view-lines");
      await until(
        () => lines.innerText(),
        (text) => /you.have.not.seen.yet/.test(text),
      );
      await lines.click();
      await s.window.page.keyboard.type("x");
      await s.window.page.getByText("Cannot edit in read-only editor").first().waitFor();
      await s.window.page.keyboard.press("Escape");
    });

    test("whatever an agent writes is harmless", async () => {
      const hostile = [
        "<img src=x onerror=document.body.dataset.hacked=1><script>document.body.dataset.hacked=1</script>",
        "[click](javascript:document.body.dataset.hacked=1) [run](command:workbench.action.quit)",
        "<style>body{display:none}</style> \u202egnp.exe\u202c ![far](https://example.invalid/x.png)",
        "```js\nunclosed fence " + "x".repeat(3000),
      ];
      await s.window.say(`@alice !say ${hostile.join("\\n\\n").replaceAll("\n", "\\n")}`);
      const message = answer(s.chat, "unclosed fence");
      await message.waitFor();
      assert.equal(await s.chat.evaluate(() => document.body.dataset["hacked"]), undefined);
      assert.equal(await message.locator("script, style, img, iframe").count(), 0);
      const links = await message
        .locator("a")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
      assert.deepEqual(links, ["https://example.invalid/x.png"]);
      assert.match((await message.textContent()) ?? "", /‹U\+202E›/);
      const width = await s.chat.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(width, 0, "a long line widens the page");
      const trick = "<img/src=x/onerror=document.body.dataset.hacked=2>";
      await s.window.say(`@alice !tool execute ${trick} !plan ${trick} !permit ${trick} !say Tricked.`);
      const card = s.chat.locator(".permission");
      await card.locator(".card-title", { hasText: "<img/src=x" }).waitFor();
      await card.locator("[data-option]:not([aria-disabled])").first().waitFor();
      await card.getByRole("button", { name: "Allow" }).click();
      await answer(s.chat, "Tricked.").waitFor();
      assert.equal(await s.chat.evaluate(() => document.body.dataset["hacked"]), undefined);
      await s.window.say("@alice still here");
      await answer(s.chat, "alice heard: still here").waitFor();
    });

    test("the transcript follows only while one is at its end", async () => {
      await s.window.say("@alice !chunks 400 !hold more !chunks 400 !say THE_END");
      await s.chat.locator(".message.streaming", { hasText: "399" }).waitFor();
      const log = s.chat.locator(".log");
      const gap = (): Promise<number> =>
        log.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
      await until(gap, (pixels) => pixels < 40);
      await log.evaluate((one) => (one.scrollTop = 0));
      await s.chat.getByRole("button", { name: "Newest Messages" }).waitFor();
      s.bed.openGate("more");
      await answer(s.chat, "THE_END").waitFor();
      assert.ok((await gap()) > 200, "the view moved under the reader");
      await s.chat.getByRole("button", { name: "Newest Messages" }).click();
      await until(gap, (pixels) => pixels < 40);
    });

    test("use of context and the mode stand beside the agent, and the mode can be changed", async () => {
      await s.window.say("@alice !usage 50000 200000 !say Used.");
      await answer(s.chat, "Used.").waitFor();
      const chip = s.chat.locator(".member", { hasText: "Alice" });
      await chip.filter({ hasText: "25%" }).waitFor();
      await chip.click();
      await s.window.pick("Code").click();
      await s.chat.locator(".member", { hasText: /Alice · Code/ }).waitFor();
    });
  },
);
