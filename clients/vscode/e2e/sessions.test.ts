// Agents' sessions: options of every shape, those an agent remembers, pictures, an agent that says nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scene } from "./support/scene.ts";
import { answer, until } from "./support/waiting.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

scene(
  "Sessions",
  {
    agents: {
      opal: ["--config-options", "grouped,thought,plain,boolean,unknown-category,unknown-type"],
      rita: ["--caps", "list,load,delete,image", "--sessions", "old-one,old-two", "--replay", "1"],
      quin: [],
    },
    channels: [
      { name: "options", members: ["opal"] },
      { name: "memory", members: ["rita"] },
      { name: "silence", members: ["quin"] },
    ],
    config: { limits: { turnSilence: "2s" } },
  },
  (s) => {
    const configure = async (): Promise<void> => {
      await s.chat.locator(".member", { hasText: "Opal" }).click();
      await s.window.pick("Web search").waitFor();
    };
    /** Choose it, and open the list until it is marked there. */
    const choose = async (text: string): Promise<void> => {
      await s.window.pick(text).click();
      await until(
        async () => {
          await s.window.page.keyboard.press("Escape");
          await configure();
          return s.window.pick(text).locator(".codicon-check").count();
        },
        (count) => count === 1,
      );
    };

    test("options of every shape are shown, and those that can be are set", async () => {
      await s.window.openChannel("#options");
      await s.window.say("hello");
      await answer(s.chat, "opal heard: hello").waitFor();
      await configure();
      const shown = await s.window.page
        .locator(".quick-input-widget:visible .monaco-list-row")
        .allInnerTexts();
      const expected = [
        "Quick",
        "Small",
        "Large",
        "Strong",
        "Thought",
        "High",
        "Plain",
        "Tone",
        "Dry",
        "Level",
      ];
      for (const word of expected) assert.match(shown.join("\n"), new RegExp(word));
      await choose("Large");
      await choose("Web search");
      await s.window.pick("Level").click();
      await s.window.say("still there?");
      await answer(s.chat, "opal heard: still there?").waitFor();
      assert.match(s.bed.received("opal"), /"value": ?"large"/);
      assert.match(s.bed.received("opal"), /"value": ?true/);
    });

    test("a session that an agent remembers is picked up, and one is forgotten", async () => {
      await s.window.openChannel("#memory");
      await s.window.command("Sidekicks: Pick Up a Session of an Agent…");
      await s.window.pick("Session old-two").hover();
      await s.window.pick("Session old-two").locator(".codicon-trash").click();
      await s.window.page.locator(".monaco-dialog-box").getByRole("button", { name: "Forget" }).click();
      await s.window.pick("Session old-two").waitFor({ state: "detached" });
      await s.window.pick("Session old-one").click();
      await s.window.notification("@rita goes on with that session in #memory");
      await s.window.openChannel("#memory");
      await s.window.say("go on");
      await answer(s.chat, "rita heard: go on").waitFor();
      assert.match(s.bed.received("rita"), /session\/load[^\n]*old-one/);
    });

    for (const way of ["paste", "drop"] as const) {
      test(`a picture is shown after a ${way}, and goes to an agent that takes pictures as one`, async () => {
        await s.window.openChannel("#memory");
        await s.chat.locator(".composer textarea").evaluate(
          (field, { base64, way }) => {
            const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], `by-${way}.png`, { type: "image/png" }));
            const how = { bubbles: true, cancelable: true };
            const event =
              way === "paste"
                ? new ClipboardEvent(way, { clipboardData: data, ...how })
                : new DragEvent(way, { dataTransfer: data, ...how });
            field.dispatchEvent(event);
          },
          { base64: PIXEL, way },
        );
        const chip = s.chat.locator(".chips .chip", { hasText: `by-${way}.png` });
        await until(
          () => chip.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth),
          (width) => width === 1,
        );
        await s.window.say(`what is this ${way}?`);
        await answer(s.chat, `rita heard: what is this ${way}?`).waitFor();
        await s.chat.locator(".message.by-user .chip", { hasText: `by-${way}.png` }).waitFor();
        const prompt = s.bed
          .received("rita")
          .split("\n")
          .findLast((line) => line.includes("session/prompt"));
        assert.match(prompt ?? "", /"type": ?"image"[^\n]*iVBORw0KGgo/);
      });
    }

    test("a file without a place here goes with its content, and text is pasted as text", async () => {
      await s.window.openChannel("#memory");
      const field = s.chat.locator(".composer textarea");
      await field.evaluate((element) => {
        const how = { bubbles: true, cancelable: true };
        const file = new File(["from outside"], "outside.txt", { type: "text/plain" });
        const dropped = new DataTransfer();
        dropped.items.add(file);
        element.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, ...how }));
        const copied = new DataTransfer();
        copied.items.add(new File(["…"], "as-picture.png", { type: "image/png" }));
        copied.setData("text/plain", "words of a table");
        element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: copied, ...how }));
      });
      await s.chat.locator(".chips .chip", { hasText: "outside.txt" }).waitFor();
      assert.equal(await s.chat.locator(".chips .chip").count(), 1);
      await s.window.say("and this?");
      await answer(s.chat, "rita heard: and this?").waitFor();
      await s.chat.locator(".message.by-user .chip", { hasText: "outside.txt" }).waitFor();
    });

    test("what is sent without a word shows what is attached, and no empty box", async () => {
      await s.window.openChannel("#memory");
      await s.chat.locator(".composer textarea").evaluate((element) => {
        const dropped = new DataTransfer();
        dropped.items.add(new File(["no words"], "alone.txt", { type: "text/plain" }));
        element.dispatchEvent(
          new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }),
        );
      });
      await s.chat.locator(".chips .chip", { hasText: "alone.txt" }).waitFor();
      await s.window.say("");
      const message = s.chat.locator(".message.by-user.finished", { hasText: "alone.txt" });
      await message.locator(".chip").waitFor();
      assert.equal(await message.locator(".message-body").isVisible(), false);
      await s.chat.locator(".message.by-agent.finished:last-child").waitFor();
    });

    test("about an agent that says nothing for long one is asked whether to wait, stop or restart", async () => {
      await s.window.openChannel("#silence");
      await s.window.say("!say Hm !hang");
      const card = s.chat.locator(".permission", { hasText: "Quin is silent" });
      await card.filter({ hasText: "has said nothing for 2 seconds" }).waitFor();
      const press = async (name: string): Promise<void> => {
        await card.locator("[data-option]:not([aria-disabled])").first().waitFor();
        await card.getByRole("button", { name, exact: true }).click();
      };
      await press("Wait");
      await card.waitFor({ state: "detached" });
      await card.waitFor();
      await press("Stop the turn");
      await answer(s.chat, "Hm").locator(".stopped").waitFor();
    });
  },
);
