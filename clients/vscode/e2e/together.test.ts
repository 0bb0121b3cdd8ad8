// VS Code and Neovim on one bridge: the same messages in the same order, one answer to a question, and both go on when
// the owner of the bridge is killed.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Neovim } from "./support/neovim.ts";
import { answer, scene, until } from "./support/scene.ts";

scene("Together with Neovim", {}, (s) => {
  let neovim: Neovim | undefined;
  const GENERAL = "sidekicks://general";

  after(async () => {
    await neovim?.close();
  });

  test("both show the same messages in the same order", async () => {
    neovim = await Neovim.open(s.bed);
    neovim.run("Sidekicks #general");
    await until(
      () => neovim?.ask("bufexists('sidekicks://general')").trim(),
      (found) => found === "1",
    );
    await s.window.say("@alice from vscode");
    await answer(s.chat, "alice heard: from vscode").waitFor();
    await until(
      () => neovim?.text(GENERAL) ?? "",
      (text) => text.includes("alice heard: from vscode"),
    );
    neovim.say("general", "@bob from neovim");
    await answer(s.chat, "bob heard: ").waitFor();
    const words = ["from vscode", "alice heard: from vscode", "from neovim", "bob heard: "];
    const inOrder = (text: string): boolean =>
      words.reduce((at, word) => (at < 0 ? at : text.indexOf(word, at)), 0) >= 0;
    await until(() => neovim?.text(GENERAL) ?? "", inOrder);
    assert.ok(inOrder(await s.chat.locator(".messages").innerText()));
  });

  test("a permission that is answered in one editor closes its card in the other", async () => {
    await s.window.say("@alice !permit Ask_both !say Answered.");
    const card = s.chat.locator(".permission");
    await card.locator("[data-option]:not([aria-disabled])").first().waitFor();
    await until(
      () => neovim?.text(GENERAL) ?? "",
      (text) => text.includes("Ask_both"),
    );
    await until(
      () => (neovim?.run("Sidekicks allow"), card.count()),
      (count) => count === 0,
    );
    await answer(s.chat, "permit Ask_both: allow").waitFor();
  });

  test("when the owner is killed both come back and go on", async () => {
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
    await until(
      () => neovim?.text(GENERAL) ?? "",
      (text) => text.includes("alice heard: after the fall"),
    );
  });
});
