// What agents ask the user: permissions, forms, pages to visit, signing in.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { scene } from "./support/scene.ts";
import { answer } from "./support/waiting.ts";

scene(
  "Questions",
  {
    agents: {
      alice: [],
      bob: [],
      terry: ["--auth", "terminal,env_var", "--auth-required", "new"],
      vera: ["--auth", "env_var", "--auth-required", "new"],
      gina: ["--auth", "agent", "--auth-required", "new,prompt", "--caps", "logout"],
    },
    channels: [
      { name: "general", members: ["alice", "bob", "terry", "vera", "gina"] },
      { name: "small", members: ["alice"] },
    ],
    files: { "notes.md": "one\ntwo\n" },
  },
  (s) => {
    test("a permission is a card that names who asks, inert at first, answered by the agent's options", async () => {
      await s.chat.evaluate(() => {
        const press = (_changes: unknown, observer: MutationObserver): void => {
          const allow = document.querySelector<HTMLElement>(".permission [data-option]");
          if (!allow) return;
          observer.disconnect();
          allow.click();
        };
        new MutationObserver(press).observe(document.body, { childList: true, subtree: true });
      });
      await s.window.say("@alice !permit Delete_everything !permit-diff notes.md|one|ONE !say After.");
      const card = s.chat.locator(".permission");
      await card.locator(".card-who", { hasText: "Alice asks for permission" }).waitFor();
      const focused = () => s.chat.evaluate(() => document.activeElement?.closest(".permission") !== null);
      assert.equal(await focused(), false, "it took the focus");
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

    test("a permission is answered by the keyboard alone", async () => {
      await s.window.say("@alice !permit By_key !say Keyed.");
      await s.chat.locator(".permission [data-option]:not([aria-disabled])").first().waitFor();
      await s.chat.locator(".composer textarea").focus();
      for (let tabs = 0; tabs < 8; tabs++) {
        await s.window.page.keyboard.press("Shift+Tab");
        if (await s.chat.evaluate(() => document.activeElement?.textContent === "Allow")) break;
      }
      await s.window.page.keyboard.press("Enter");
      await answer(s.chat, "permit By_key: allow").waitFor();
    });

    test("while the view is hidden a permission is a notification with the agent's choices, and a badge", async () => {
      await s.window.say("@alice !hold hidden !permit Unseen !say Seen.");
      await s.chat.locator(".turn", { hasText: "Alice" }).waitFor();
      await s.window.command("View: Toggle Secondary Side Bar Visibility");
      await s.window.page.locator(".auxiliarybar").waitFor({ state: "hidden" });
      s.bed.openGate("hidden");
      const notice = await s.window.notification("@alice asks in #general: Unseen");
      await notice.getByRole("button", { name: "Reject" }).waitFor();
      await s.window.page.locator(".statusbar", { hasText: "alice asks" }).waitFor();
      await notice.getByRole("button", { name: "Allow" }).click();
      await s.window.command("View: Toggle Secondary Side Bar Visibility");
      s.chat = await s.window.chat();
      await answer(s.chat, "permit Unseen: allow").waitFor();
    });

    test("a question that is taken back closes its card", async () => {
      await s.window.say("@alice !permit-withdraw gone Taken_back !say Went_on.");
      await s.chat.locator(".permission", { hasText: "Taken_back" }).waitFor();
      s.bed.openGate("gone");
      await s.chat.locator(".permission").waitFor({ state: "detached" });
      await answer(s.chat, "Went_on.").waitFor();
    });

    test("a form has a control for each kind of field, keeps to its limits, and sends what was filled in", async () => {
      await s.window.say("@alice !elicit form Tell_me_more !say Thanks.");
      const card = s.chat.locator(".forms .card", { hasText: "Tell_me_more" });
      await card.locator(".card-who", { hasText: "Alice asks you" }).waitFor();
      const send = card.getByRole("button", { name: "Send" });
      await send.click();
      assert.equal(await card.count(), 1, "sent without what is required");
      await card.getByLabel("Name *").fill("Ada");
      await card.getByLabel("Count").fill("12");
      await send.click();
      assert.equal(await card.count(), 1, "sent with a number that is too large");
      await card.getByLabel("Count").fill("7");
      await card.getByLabel("Ratio").fill("0.5");
      await card.getByLabel("Sure?").uncheck();
      await card.getByLabel("Colour").selectOption("green");
      await send.click();
      const said = (await answer(s.chat, "Thanks.").textContent()) ?? "";
      const sent = { name: "Ada", count: 7, ratio: 0.5, sure: false, colour: "green" };
      assert.deepEqual(JSON.parse(/elicit form: (.*\})\s*Thanks/s.exec(said)?.[1] ?? "{}"), {
        action: "accept",
        content: sent,
      });
    });

    test("of a list as many can be ticked as the agent allows", async () => {
      await s.window.say("@alice !elicit choices Which_ones !say Chosen.");
      const card = s.chat.locator(".forms .card", { hasText: "Which_ones" });
      const list = card.getByRole("group", { name: "Tags *" });
      const send = card.getByRole("button", { name: "Send" });
      const problem = () => list.getByLabel("A").evaluate((box: HTMLInputElement) => box.validationMessage);
      await list.getByText("One or two").waitFor();
      assert.equal(await list.getByLabel("B").isChecked(), true, "what the agent proposes");
      await list.getByLabel("B").uncheck();
      await send.click();
      assert.equal(await problem(), "Choose at least 1.");
      for (const name of ["A", "B", "C"]) await list.getByLabel(name).check();
      await send.click();
      assert.equal(await problem(), "Choose at most 2.");
      await list.getByLabel("B").uncheck();
      await send.click();
      const said = (await answer(s.chat, "Chosen.").textContent()) ?? "";
      assert.match(said, /elicit choices: \{"action": "accept", "content": \{"tags": \["a", "c"\]\}\}/);
    });

    test("a form can be declined, and is gone then", async () => {
      await s.window.say("@alice !elicit form No_thanks !say Fine.");
      const card = s.chat.locator(".forms .card");
      await card.getByRole("button", { name: "Decline" }).click();
      await answer(s.chat, "Fine.").filter({ hasText: '"decline"' }).waitFor();
      await card.waitFor({ state: "detached" });
    });

    test("a page to visit shows its whole address, and is not opened unasked", async () => {
      await s.window.say("@alice !elicit url Visit_it !say Been.");
      const card = s.chat.locator(".forms .card", { hasText: "Visit_it" });
      await card.locator(".card-url", { hasText: "https://example.com/sign-in?code=1" }).waitFor();
      await card.getByRole("button", { name: "Open Page" }).click();
      await s.window.page.locator(".monaco-dialog-box", { hasText: "example.com" }).waitFor();
      await s.window.page.keyboard.press("Escape");
      await card.getByRole("button", { name: "I Have Been There" }).click();
      await answer(s.chat, "Been.").filter({ hasText: '"accept"' }).waitFor();
    });

    const signIn = (title: string): Locator => s.chat.locator(".sign-ins .card", { hasText: title });

    test("signing in by a terminal opens one, and what had failed is tried again", async () => {
      await s.window.say("@terry work please");
      const card = signIn("Terry wants you to sign in");
      await s.window.row("@terry wants you to sign in").waitFor();
      await card.getByRole("button", { name: "Sign in in a terminal" }).click();
      await answer(s.chat, "terry heard: work please").waitFor();
      await card.waitFor({ state: "detached" });
      assert.ok(existsSync(`${s.bed.folder}/terry.credentials`), "its command was not run");
      await s.window.notification("Signed in to @terry.");
    });

    test("signing in by variables says which, and leads to the configuration", async () => {
      await s.window.say("@vera work please");
      await signIn("Vera wants you to sign in").getByRole("button", { name: "API key" }).click();
      const notice = await s.window.notification("FAKE_AGENT_KEY");
      await notice.getByRole("button", { name: "Open Configuration" }).click();
      await s.window.page.locator(".tab.active", { hasText: "sidekicks.yaml" }).waitFor();
    });

    test("signing in by the agent itself needs a click alone, and one can sign out again", async () => {
      await s.window.say("@gina work please");
      const card = signIn("Gina wants you to sign in");
      await card.getByRole("button", { name: "Sign in with the browser" }).click();
      await answer(s.chat, "gina heard: work please").waitFor();
      await card.waitFor({ state: "detached" });
      await s.window.notification("Signed in to @gina.");
      await s.window.command("Sidekicks: Sign Out of Agent…");
      await s.window.pick("Gina").click();
      await s.window.notification("Signed out of @gina.");
      await s.window.say("@gina once more");
      await card.waitFor();
    });
  },
);
