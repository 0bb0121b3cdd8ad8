// VS Code and Neovim on one bridge: the same messages in the same order, one answer to a question, a draft, and all go
// on when the owner of the bridge is killed.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Neovim } from "./support/neovim.ts";
import { inWindow, scene } from "./support/scene.ts";
import { answer, until } from "./support/waiting.ts";
import type { Window } from "./support/window.ts";

scene("Together with Neovim", {}, (s) => {
  let opened: Neovim | undefined;
  const GENERAL = "sidekicks://general";
  /** Neovim, showing the channel. */
  const inNeovim = async (): Promise<Neovim> => {
    const neovim = (opened ??= await Neovim.open(s.bed));
    neovim.run("Sidekicks #general");
    await until(
      () => neovim.ask(`bufexists('${GENERAL}')`).trim(),
      (found) => found === "1",
    );
    return neovim;
  };
  const says = async (neovim: Neovim, words: string): Promise<unknown> =>
    until(
      () => neovim.text(GENERAL),
      (text) => text.includes(words),
    );

  after(async () => {
    await opened?.close();
  });

  test("both show the same messages in the same order", async () => {
    const neovim = await inNeovim();
    await s.window.say("@alice from vscode");
    await answer(s.chat, "alice heard: from vscode").waitFor();
    await says(neovim, "alice heard: from vscode");
    neovim.say("general", "@bob from neovim");
    await answer(s.chat, "bob heard: ").waitFor();
    const words = ["from vscode", "alice heard: from vscode", "from neovim", "bob heard: "];
    const inOrder = (text: string): boolean =>
      words.reduce((at, word) => (at < 0 ? at : text.indexOf(word, at)), 0) >= 0;
    await until(() => neovim.text(GENERAL), inOrder);
    assert.ok(inOrder(await s.chat.locator(".messages").innerText()));
  });

  test("a permission that is answered in one editor closes its card in the other", async () => {
    const neovim = await inNeovim();
    await s.window.say("@alice !permit Ask_both !say Answered.");
    const card = s.chat.locator(".permission");
    await card.locator("[data-option]:not([aria-disabled])").first().waitFor();
    await says(neovim, "Ask_both");
    await until(
      () => (neovim.run("Sidekicks allow"), card.count()),
      (count) => count === 0,
    );
    await answer(s.chat, "permit Ask_both: allow").waitFor();
  });

  test("a window on another folder says where the channel works before anything is sent", async () => {
    const elsewhere = join(s.bed.folder, "elsewhere");
    mkdirSync(elsewhere);
    s.bed.writeSettings(undefined, elsewhere);
    await s.chat.locator(".composer textarea").blur();
    const work = async (window: Window): Promise<void> => {
      const chat = await window.chat();
      const banner = chat.locator(".banner.other-root", { hasText: s.bed.workspace });
      await banner.waitFor();
      await window.say("@alice not yet");
      assert.equal(await chat.locator(".composer textarea").inputValue(), "@alice not yet");
      assert.equal(await chat.locator(".message", { hasText: "not yet" }).count(), 0);
      // What is being written there stands here, too, as nobody writes here.
      await until(
        () => s.chat.locator(".composer textarea").inputValue(),
        (text) => text === "@alice not yet",
      );
      await banner.getByRole("button", { name: "New Channel Here" }).click();
      await chat.locator("body[data-channel='#elsewhere']").waitFor();
      await window.say("@alice in the new one");
      await answer(chat, "alice heard: in the new one").waitFor();
    };
    await inWindow(s.bed, work, { folder: elsewhere });
  });

  test("when the owner is killed both come back and go on", async () => {
    const neovim = await inNeovim();
    const owner = s.bed.owner();
    assert.ok(owner > 1, "no owner was found");
    process.kill(owner, "SIGKILL");
    await until(
      () => s.bed.owner(),
      (now) => now > 1 && now !== owner,
      60_000,
    );
    await s.window.say("@alice after the fall");
    await answer(s.chat, "alice heard: after the fall").waitFor();
    await says(neovim, "alice heard: after the fall");
  });
});
