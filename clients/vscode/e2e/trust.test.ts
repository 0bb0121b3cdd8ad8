// A folder that is not trusted, a bridge that is not there, a channel of another folder.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Bed, BRIDGE } from "./support/bed.ts";
import { answer } from "./support/scene.ts";
import { Server } from "./support/server.ts";
import { sharedBrowser, sharedServer } from "./support/shared.ts";
import { Window } from "./support/window.ts";

suite("Where nothing may be taken for granted", () => {
  test("without trust no agent runs, the folder's own settings are not heard, and the view says so", async () => {
    const server = await Server.start({ trust: false, machine: { "sidekicks.bridge.command": BRIDGE } });
    const bed = new Bed(server, { settings: { "sidekicks.bridge.command": ["/bin/false"] } });
    const window = await Window.open(await sharedBrowser(), bed);
    try {
      await window.page.locator(".statusbar", { hasText: "Restricted Mode" }).waitFor();
      const chat = await window.chat(); // the machine's command, not the folder's, was used
      await chat.locator(".banner", { hasText: "not trusted" }).waitFor();
      await chat.getByRole("button", { name: "Manage Trust" }).waitFor();
      await window.row(/Scout/).waitFor(); // nor the folder's configuration
      await window.openChannel("@scout");
      await window.say("run");
      await chat.locator(".message", { hasText: "not trusted" }).first().waitFor();
      await window.row(/Scout.*stopped/).waitFor();
    } finally {
      await window.close();
      await server.stop();
      bed.remove();
    }
  });

  test("a channel of another folder says so before anything is sent", async () => {
    const bed = new Bed(await sharedServer());
    const browser = await sharedBrowser();
    const elsewhere = join(bed.folder, "elsewhere");
    mkdirSync(elsewhere);
    bed.writeSettings({}, elsewhere);
    bed.sidekicks("say", "#general", "@alice here");
    const window = await Window.open(browser, bed, { folder: elsewhere });
    try {
      const chat = await window.chat();
      const banner = chat.locator(".banner.other-root", { hasText: bed.workspace });
      await banner.waitFor();
      await window.say("@alice not yet");
      assert.equal(await chat.locator(".composer textarea").inputValue(), "@alice not yet");
      assert.equal(await chat.locator(".message", { hasText: "not yet" }).count(), 0);
      await banner.getByRole("button", { name: "New Channel Here" }).click();
      await chat.locator("body[data-channel='#elsewhere']").waitFor();
      await window.say("@alice in the new one");
      await answer(chat, "alice heard: in the new one").waitFor();
    } finally {
      await window.close();
      bed.remove();
    }
  });

  test("a bridge that is not there is said, with the ways out", async () => {
    const missing = { "sidekicks.bridge.command": ["/nowhere/sidekicks"] };
    const bed = new Bed(await sharedServer(), { settings: missing });
    const window = await Window.open(await sharedBrowser(), bed);
    try {
      const chat = await window.chat(".composer");
      await chat.locator(".banner", { hasText: "The bridge does not run" }).waitFor();
      await window.row("was not found").waitFor();
      const notice = await window.notification("does not start Sidekicks Bridge");
      for (const way of ["Open Settings", "Show Log", "Install"]) {
        await notice.getByRole("button", { name: way }).waitFor();
      }
      await notice.getByRole("button", { name: "Open Settings" }).click();
      await window.page.locator(".settings-editor", { hasText: "Command" }).waitFor();
    } finally {
      await window.close();
      bed.remove();
    }
  });
});
