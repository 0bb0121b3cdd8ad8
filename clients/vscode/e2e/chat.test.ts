// The chat view against the real bridge: one VS Code, one window, agents that do what a test tells them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Frame } from "playwright-core";
import { Bed } from "./support/bed.ts";
import { launch, Window } from "./support/window.ts";

let bed: Bed;
let browser: Browser;
let window: Window;
let chat: Frame;

before(async () => {
  bed = await new Bed({ files: { "notes.md": "one\ntwo\nthree\n" } }).start();
  browser = await launch();
  window = await Window.open(browser, bed);
  chat = await window.chat();
});

after(async () => {
  await browser.close();
  await bed.stop();
});

test("a message is answered, and the answer streams into the transcript", async () => {
  await window.say("@alice hello");
  const answer = chat.locator(".message.by-agent.finished", { hasText: "alice heard: hello" });
  await answer.waitFor();
  assert.equal(await answer.locator(".author").textContent(), "Alice");
  assert.equal(
    await chat
      .locator(".message.by-user")
      .textContent()
      .then((text) => text?.includes("@alice hello")),
    true,
  );
});
