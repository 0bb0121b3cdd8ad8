// A folder that is not trusted, a bridge that is not there, a channel of another folder.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { Bed } from "./support/bed.ts";
import { answer } from "./support/stage.ts";
import { launch, Window } from "./support/window.ts";

let browser: Browser;
const beds: Bed[] = [];

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser.close();
  for (const bed of beds) await bed.stop();
});

async function started(options: ConstructorParameters<typeof Bed>[0]): Promise<Bed> {
  const bed = new Bed(options);
  beds.push(bed);
  return bed.start();
}

test("without trust no agent runs, the folder's own settings are not heard, and the view says so", async () => {
  const bed = await started({ trust: false });
  mkdirSync(join(bed.workspace, ".vscode"));
  bed.writeFile(".vscode/settings.json", JSON.stringify({ "sidekicks.bridge.command": ["/bin/false"] }));
  const window = await Window.open(browser, bed);
  await window.page.locator(".statusbar", { hasText: "Restricted Mode" }).waitFor();
  const chat = await window.chat(); // the machine's command, not the folder's, was used
  await chat.locator(".banner", { hasText: "not trusted" }).waitFor();
  await chat.getByRole("button", { name: "Manage Trust" }).waitFor();
  await window.say("@alice run");
  await chat.locator(".message", { hasText: "not trusted" }).first().waitFor();
  assert.equal(bed.received("alice"), "");
  await window.close();
});

test("a channel of another folder says so before anything is sent", async () => {
  const bed = await started({});
  const elsewhere = join(bed.folder, "elsewhere");
  mkdirSync(elsewhere);
  const first = await Window.open(browser, bed);
  await first.chat();
  await first.say("@alice here");
  await answer(await first.chat(), "alice heard: here").waitFor();
  await first.close();
  const second = await Window.open(browser, bed, { folder: elsewhere });
  const chat = await second.chat();
  const banner = chat.locator(".banner.other-root", { hasText: bed.workspace });
  await banner.waitFor();
  await second.say("@alice not yet");
  assert.equal(await chat.locator(".composer textarea").inputValue(), "@alice not yet");
  assert.equal(await chat.locator(".message", { hasText: "not yet" }).count(), 0);
  await banner.getByRole("button", { name: "New Channel Here" }).click();
  await chat.locator("body[data-channel='#elsewhere']").waitFor();
  await second.say("@alice in the new one");
  await answer(chat, "alice heard: in the new one").waitFor();
  await second.close();
});

test("a bridge that is not there is said, with the ways out", async () => {
  const bed = await started({ machine: { "sidekicks.bridge.command": ["/nowhere/sidekicks"] } });
  const window = await Window.open(browser, bed);
  const chat = await window.chat(".composer");
  await chat.locator(".banner", { hasText: "The bridge does not run" }).waitFor();
  await window.row("was not found").waitFor();
  const notice = await window.notification("does not start Sidekicks Bridge");
  for (const way of ["Open Settings", "Show Log", "Install"]) {
    await notice.getByRole("button", { name: way }).waitFor();
  }
  await notice.getByRole("button", { name: "Open Settings" }).click();
  await window.page.locator(".settings-editor", { hasText: "Command" }).waitFor();
  await window.close();
});
