// Writing: completion, the route while typing, drafts, attachments; and answering permissions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, scene, until } from "./support/scene.ts";

scene(
  "Writing",
  {
    agents: { alice: ["--commands", "plan:Make a plan,fix:Mend it:what"], bob: [] },
    channels: [
      { name: "general", members: ["alice", "bob"] },
      { name: "small", members: ["alice"] },
    ],
    files: { "notes.md": "one\ntwo\nthree\n", "other.md": "other\n" },
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
      await s.chat.locator(".chip", { hasText: "notes.md:1–" }).waitFor();
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

    test("a permission is a card that names who asks, inert at first, answered by the agent's options", async () => {
      await s.window.say("@alice !permit Delete_everything !permit-diff notes.md|one|ONE !say After.");
      const card = s.chat.locator(".permission");
      await card.locator(".permission-who", { hasText: "Alice asks for permission" }).waitFor();
      const focused = () => s.chat.evaluate(() => document.activeElement?.closest(".permission") !== null);
      assert.equal(await focused(), false, "it took the focus");
      await card.getByRole("button", { name: "Allow" }).click({ force: true });
      assert.equal(await card.count(), 1, "answered in its first half second");
      await card.locator("[data-option]:not([aria-disabled])").first().waitFor();
      await card.getByRole("button", { name: "Reject" }).click();
      await s.chat.locator(".permission .diff", { hasText: "ONE" }).waitFor();
      await s.chat.locator(".permission [data-option]:not([aria-disabled])").first().waitFor();
      await s.chat.locator(".permission").focus();
      await s.window.page.keyboard.press("Escape");
      const message = answer(s.chat, "After.");
      await message.waitFor();
      const text = (await message.textContent()) ?? "";
      assert.match(text, /permit Delete_everything: reject/);
      assert.match(text, /Permission: Not answered/);
    });

    test("questions asked together are answered in their order", async () => {
      await s.window.say("@bob !permit-all first;second !say Both.");
      const card = s.chat.locator(".permission");
      await card.filter({ hasText: "first" }).filter({ hasText: "1 of 2" }).waitFor();
      await card.locator("[data-option]:not([aria-disabled])").first().waitFor();
      await card.getByRole("button", { name: "Allow" }).click();
      await card.filter({ hasText: "second" }).waitFor();
      await card.locator("[data-option]:not([aria-disabled])").first().waitFor();
      await card.getByRole("button", { name: "Allow" }).click();
      await answer(s.chat, "Both.").waitFor();
    });

    test("a permission of a conversation that is not on screen is a notification and a badge", async () => {
      await s.window.say("@alice !hold elsewhere !permit Hidden_one !say Answered_from_afar");
      await s.chat.locator(".turn", { hasText: "Alice" }).waitFor();
      await s.window.openChannel("#small");
      await s.chat.locator(".nothing h2", { hasText: "#small" }).waitFor();
      s.bed.openGate("elsewhere");
      const notice = await s.window.notification("@alice asks in #general: Hidden_one");
      await s.window.row("@alice asks in #general: Hidden_one").waitFor();
      await s.window.page.locator(".statusbar .warning-kind, .statusbar", { hasText: "1" }).first().waitFor();
      await notice.getByRole("button", { name: "Allow" }).click();
      await s.window.openChannel("#general");
      await answer(s.chat, "Answered_from_afar").waitFor();
    });
  },
);
