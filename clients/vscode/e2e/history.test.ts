// A long history: opened cold, light however long it is, read upwards, found in, and gone on with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scene } from "./support/scene.ts";
import { answer, until } from "./support/waiting.ts";

const COUNT = 10_000;

scene(
  "A long history",
  { agents: { alice: [] }, channels: [{ name: "long", members: ["alice"] }], history: { long: COUNT } },
  (s) => {
    const count = (): Promise<number> => s.chat.locator(".message").count();
    const first = async (): Promise<number> =>
      Number(/number (\d+)/.exec((await s.chat.locator(".message").first().textContent()) ?? "")?.[1]);

    test("a channel of 10,000 messages opens at its end, with the newest alone", async () => {
      await s.chat.locator(".message", { hasText: `number ${COUNT}` }).waitFor();
      assert.ok((await count()) <= 60, "more than a page was drawn");
      const gap = await s.chat
        .locator(".log")
        .evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
      assert.ok(gap < 40, "it does not stand at the end");
    });

    test("older messages come when one scrolls up, and the reader keeps the place", async () => {
      const log = s.chat.locator(".log");
      for (let pages = 0; pages < 3; pages++) {
        const before = await first();
        await log.evaluate((element) => element.scrollTo(0, 0));
        await until(first, (now) => now < before);
        await until(
          () => log.evaluate((element) => element.scrollTop),
          (top) => top > 0,
        );
      }
    });

    test("back at the end, what is far above is let go again", async () => {
      await s.chat.locator(".log").evaluate((element) => element.scrollTo(0, 0));
      await s.chat.getByRole("button", { name: "Newest Messages" }).click();
      await s.window.say("@alice the next one");
      await answer(s.chat, "alice heard: the next one").waitFor();
      await until(count, (now) => now <= 160);
    });

    test("a message that is found far above is shown amid its neighbours", async () => {
      await s.window.command("Sidekicks: Search Messages…");
      await s.window.page.locator(".quick-input-widget:visible input").first().fill("number 4321");
      await s.window.pick("4321").click();
      await s.chat.locator(".message.revealed", { hasText: "number 4321" }).waitFor();
      await s.chat.locator(".message", { hasText: "number 4322" }).waitFor();
      assert.ok((await count()) <= 160);
    });
  },
);
