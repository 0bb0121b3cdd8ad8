// Writing: completion, the route while typing, drafts, what is attached.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scene } from "./support/scene.ts";
import { answer, until } from "./support/waiting.ts";

scene(
  "Writing",
  {
    agents: { alice: ["--commands", "plan:Make a plan,fix:Mend it:what"], bob: [] },
    channels: [
      { name: "general", members: ["alice", "bob"] },
      { name: "small", members: ["alice"] },
    ],
    files: { "notes.md": "one\ntwo\nthree\n", "other.md": "other\n" },
    losing: true,
  },
  (s) => {
    const field = () => s.chat.locator(".composer textarea");

    test("@ completes agents, by key and by mouse", async () => {
      await field().click();
      await s.window.page.keyboard.type("@a");
      await s.chat.locator(".completion[aria-selected=true]", { hasText: "@alice" }).waitFor();
      await s.window.page.keyboard.press("Enter");
      assert.equal(await field().inputValue(), "@alice ");
      await s.window.page.keyboard.type("@");
      await s.chat.locator(".completion", { hasText: "@bob" }).click();
      assert.equal(await field().inputValue(), "@alice @bob ");
    });

    test("the route is shown while typing, before anything is sent", async () => {
      await field().fill("@alice @bob ");
      await s.chat.locator(".route", { hasText: "Alice, then Bob" }).waitFor();
    });

    test("a slip is a problem with a suggestion that mends it", async () => {
      await field().fill("@alicce hello");
      const problem = s.chat.locator(".route .problem", { hasText: "@alicce" });
      await problem.waitFor();
      assert.equal(await field().getAttribute("aria-invalid"), "true");
      await s.chat.getByRole("button", { name: "Use @alice" }).click();
      assert.equal(await field().inputValue(), "@alice hello");
      await s.chat.locator(".route .route-to", { hasText: "Alice" }).waitFor();
    });

    test("/ completes the commands that the members announce", async () => {
      await field().fill("");
      await field().click();
      await s.window.page.keyboard.type("/");
      await s.chat.locator(".completion", { hasText: "/alice:plan" }).waitFor({ timeout: 20_000 });
      await s.window.page.keyboard.press("Escape");
      await until(() => s.chat.locator(".completions").isHidden(), Boolean);
    });

    test("Shift+Enter breaks the line, Enter sends, arrow up brings it back", async () => {
      await field().fill("@alice one");
      await field().press("Shift+Enter");
      await s.window.page.keyboard.type("two");
      assert.equal(await field().inputValue(), "@alice one\ntwo");
      await field().press("Enter");
      await answer(s.chat, "alice heard: one").waitFor();
      assert.equal(await field().inputValue(), "");
      await field().press("ArrowUp");
      assert.equal(await field().inputValue(), "@alice one\ntwo");
      await field().fill("");
    });

    test("a draft stays with its channel", async () => {
      await field().fill("half a thought");
      await s.window.openChannel("#small");
      await until(
        () => field().inputValue(),
        (text) => text === "",
      );
      await s.window.openChannel("#general");
      await until(
        () => field().inputValue(),
        (text) => text === "half a thought",
      );
      await field().fill("");
    });

    test("the selection, files, open editors and what is dropped are attached as chips", async () => {
      const editor = await s.window.openFile("notes.md");
      await editor.locator(".view-lines").click();
      await s.window.page.keyboard.press("Control+A");
      await s.window.page.keyboard.press("Control+Alt+l");
      await s.chat.locator(".chips .chip", { hasText: "notes.md:1–" }).waitFor();
      await s.window.command("Sidekicks: Add File to Channel");
      await s.chat.locator(".chip", { hasText: /^notes\.md$/ }).waitFor();
      const uri = `file://${s.bed.workspace}/other.md`;
      await s.chat.locator(".composer-box").evaluate((box, given) => {
        const data = new DataTransfer();
        data.setData("text/uri-list", given);
        box.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
      }, uri);
      await s.chat.locator(".chip", { hasText: "other.md" }).waitFor();
      await s.chat.getByRole("button", { name: /^Remove notes\.md$/ }).click();
      assert.equal(await s.chat.locator(".chips .chip").count(), 2);
      await s.window.say("@alice read them");
      await answer(s.chat, "alice heard: read them").waitFor();
      assert.equal(await s.chat.locator(".chips .chip").count(), 0);
      assert.match(s.bed.received("alice"), /notes\.md/);
      await s.chat.locator(".message.by-user .chip", { hasText: "other.md" }).waitFor();
    });

    test("the menus of the explorer and of an editor add files and selections", async () => {
      const page = s.window.page;
      await page
        .locator(".explorer-folders-view .monaco-list-row", { hasText: "other.md" })
        .click({ button: "right" });
      await s.window.menu("Add File to Channel");
      await s.chat.locator(".chips .chip", { hasText: /^other\.md$/ }).waitFor();
      const editor = await s.window.openFile("notes.md");
      await editor.locator(".view-lines").click();
      await page.keyboard.press("Control+A");
      await editor.locator(".view-line", { hasText: "two" }).click({ button: "right" });
      await s.window.menu("Add Selection to Channel");
      await s.chat.locator(".chips .chip", { hasText: "notes.md:1–" }).waitFor();
      for (const name of [/^Remove other\.md$/, /^Remove notes\.md/]) {
        await s.chat.getByRole("button", { name }).click();
      }
    });

    test("attachments go without words, too", async () => {
      await s.window.openFile("notes.md");
      await s.window.command("Sidekicks: Add File to Channel");
      await s.chat.locator(".chips .chip", { hasText: "notes.md" }).waitFor();
      await s.window.openChannel("#small");
      assert.equal(await s.chat.locator(".chips .chip").count(), 0, "they went along to another channel");
      await s.window.command("Sidekicks: Add File to Channel");
      await s.chat.locator(".chips .chip", { hasText: "notes.md" }).waitFor();
      await s.chat.getByRole("button", { name: "Send (Enter)" }).click();
      await s.chat.locator(".message.by-user .chip", { hasText: "notes.md" }).waitFor();
      await s.window.openChannel("#general");
    });

    test("a message whose answer is lost comes back, and sending it again sends nothing twice", async () => {
      await s.window.openChannel("#small");
      s.bed.loseNextAnswer();
      await s.window.say("only once");
      await until(
        () => field().inputValue(),
        (text) => text === "only once",
      );
      await s.chat.locator(".message.by-user", { hasText: "only once" }).waitFor(); // it was taken
      await field().press("Enter");
      await until(
        () => field().inputValue(),
        (text) => text === "",
      );
      await s.window.say("and another");
      await answer(s.chat, "alice heard: and another").waitFor();
      assert.equal(await s.chat.locator(".message.by-user", { hasText: "only once" }).count(), 1);
    });

    test("nor does a message that was written in an editor", async () => {
      await s.window.openChannel("#small");
      await s.window.command("Sidekicks: Write in an Editor");
      const editor = s.window.page.locator(".monaco-editor[data-uri^='sidekicks:']");
      await editor.locator(".view-lines").click();
      await s.window.page.keyboard.type("edited once");
      s.bed.loseNextAnswer();
      await s.window.page.keyboard.press("Control+Enter");
      await s.chat.locator(".message.by-user", { hasText: "edited once" }).waitFor();
      assert.match(await editor.innerText(), /edited.once/);
      await editor.locator(".view-lines").click();
      await s.window.page.keyboard.press("Control+Enter");
      await until(
        () => editor.innerText(),
        (text) => !text.includes("edited"),
      );
      await s.window.say("and one more");
      await answer(s.chat, "alice heard: and one more").waitFor();
      assert.equal(await s.chat.locator(".message.by-user", { hasText: "edited once" }).count(), 1);
    });
  },
);
