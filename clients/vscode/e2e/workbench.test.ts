// Around the chat: the list, commands, editors, the configuration, the bridge's life.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { scene } from "./support/scene.ts";
import { answer, until } from "./support/waiting.ts";

scene(
  "Around the chat",
  {
    agents: { alice: ["--commands", "plan:Make a plan", "--config-options", "boolean"], bob: [] },
    channels: [
      { name: "general", members: ["alice", "bob"] },
      { name: "side", members: ["bob"] },
    ],
    files: { "notes.md": "one\ntwo\nthree\n", "draft.md": "# Title\n\n" },
    settings: { "sidekicks.completion.documents": true, "sidekicks.notifications.longTurn": 0.001 },
  },
  (s) => {
    const pages = () => s.window.page;

    /** Take back what was typed in an editor; answers when it is gone. */
    const revert = async (editor: Locator, typed: string): Promise<void> => {
      await editor.locator(".view-lines").click();
      await s.window.command("File: Revert File");
      await until(
        () => editor.innerText(),
        (text) => !text.includes(typed),
      );
    };

    /** Wait for the doctor's document, and close it. */
    const doctor = async (): Promise<void> => {
      const editor = pages().locator(".monaco-editor[data-uri^='sidekicks-view']").last();
      await until(
        () => editor.innerText(),
        (text) => text.includes("owner:"),
      );
      await s.window.command("View: Close Editor");
      await editor.waitFor({ state: "detached" });
    };

    test("the list shows channels and agents with their state; a click on an agent opens the conversation with it", async () => {
      await s.window.row("general").waitFor();
      await s.window.row(/Alice.*stopped/).click();
      await s.window.shown("@alice");
      await s.window.row("Direct Messages").waitFor();
      await s.window.say("hello you");
      await answer(s.chat, "alice heard: hello you").waitFor();
      await s.window.row(/Alice.*ready/).waitFor();
    });

    test("unread messages are a badge in the list until they are seen", async () => {
      await s.window.openChannel("#general");
      await s.window.say("@alice !hold away !say Later.");
      await s.chat.locator(".turn", { hasText: "Alice" }).waitFor();
      await s.window.openChannel("#side");
      s.bed.openGate("away");
      const label = () =>
        pages().locator('.auxiliarybar .monaco-list-row[aria-label^="#general"]').getAttribute("aria-label");
      await until(label, (text) => text?.startsWith("#general, 1 unread") ?? false);
      await s.window.openChannel("#general");
      await until(label, (text) => !text?.includes("unread"));
    });

    test("channels are made, renamed, given members and deleted by typing their name", async () => {
      await s.window.command("Sidekicks: New Channel…");
      await s.window.enter("ideas");
      await s.window.pick("Alice").waitFor();
      await pages().keyboard.press("Enter");
      await s.window.shown("#ideas");
      await s.window.command("Sidekicks: Remove Agent from Channel…");
      await s.window.pick("bob").click();
      await until(
        () => s.chat.locator(".member", { hasText: "Bob" }).count(),
        (count) => count === 0,
      );
      await s.window.command("Sidekicks: Invite Agent…");
      await s.window.pick("Bob").click();
      await s.chat.locator(".member", { hasText: "Bob" }).waitFor();
      await s.window.command("Sidekicks: Rename Channel…");
      await s.window.enter("plans");
      await s.window.row("plans").waitFor();
      await s.window.command("Sidekicks: Delete Channel…");
      await s.window.enter("plan");
      await pages().locator(".quick-input-message", { hasText: "Type exactly" }).waitFor();
      await s.window.enter("plans");
      await s.window.row("plans").waitFor({ state: "detached" });
    });

    test("agents start, stop and show their log", async () => {
      await s.window.command("Sidekicks: Start Agent…");
      await s.window.pick("Bob").click();
      await s.window.row(/Bob.*ready/).waitFor();
      await s.window.command("Sidekicks: Stop Agent…");
      await s.window.pick("Bob").click();
      await s.window.row(/Bob.*stopped/).waitFor();
      await s.window.openChannel("#general");
      await s.window.say("@alice !stderr-say a_line_of_the_log !say Logged.");
      await answer(s.chat, "Logged.").waitFor();
      await s.window.command("Sidekicks: Show Agent Log…");
      await s.window.pick("Alice").click();
      await pages().locator(".panel .view-line", { hasText: "a_line_of_the_log" }).first().waitFor();
      await s.window.command("View: Hide Panel");
    });

    test("search finds messages and shows the one chosen", async () => {
      await s.window.openChannel("#side");
      await s.window.say("look for this");
      await answer(s.chat, "bob heard: look for this").waitFor();
      await s.window.openChannel("#general");
      await s.window.command("Sidekicks: Search Messages…");
      await pages().locator(".quick-input-widget:visible input").first().fill("heard look for this");
      await s.window.pick("look for this").click();
      await s.chat.locator(".message.revealed", { hasText: "look for this" }).waitFor();
    });

    test("a channel is exported to a file", async () => {
      await s.window.openChannel("#general");
      await s.window.say("@bob !say For_export.");
      await answer(s.chat, "For_export.").waitFor();

      await s.window.command("Sidekicks: Export Channel…");
      const target = join(s.bed.workspace, "general.md");
      await s.window.enter(target);
      await until(
        () => existsSync(target) && readFileSync(target, "utf8"),
        (text) => text !== false && text.includes("For_export."),
      );
      await s.window.notification(/messages of #general were written/);
    });

    test("the configuration opens, its problems are marked, its keys complete, and a change is in force", async () => {
      await s.window.command("Sidekicks: Open Configuration");
      const editor = pages().locator(".monaco-editor[data-uri$='sidekicks.yaml']");
      await editor.locator(".view-lines").click();
      await pages().keyboard.press("Control+End");
      const config = JSON.parse(readFileSync(s.bed.config, "utf8")) as { agents: object[] };
      s.bed.writeConfig(`${JSON.stringify({ ...config, colour: "red" }, null, 2)}\n`);
      await pages().locator(".statusbar [id='status.problems']", { hasText: /[1-9]/ }).waitFor();
      s.bed.writeConfig(`agents: ${JSON.stringify(config.agents)}\n`);
      await until(
        () => editor.innerText(),
        (text) => !text.includes("colour"),
      );
      await editor.locator(".view-lines").click();
      await pages().keyboard.press("Control+End");
      await pages().keyboard.type("limits:\n");
      await pages().keyboard.type("  max");
      await pages().keyboard.press("Control+Space");
      await pages()
        .locator(".suggest-widget.visible .monaco-list-row", { hasText: "maxRunningAgents" })
        .waitFor();
      await pages().keyboard.press("Escape");
      await revert(editor, "limits:");
    });

    /** The editor in which messages to #general are written. */
    const written = async (): Promise<Locator> => {
      await s.window.openChannel("#general");
      await s.window.command("Sidekicks: Write in an Editor");
      const editor = pages().locator(".monaco-editor[data-uri^='sidekicks:']");
      await editor.locator(".view-lines").click();
      return editor;
    };

    test("a message written in an editor completes by LSP and is sent", async () => {
      const editor = await written();
      await pages().keyboard.type("@ali");
      const rows = pages().locator(".suggest-widget.visible .monaco-list-row");
      await rows.filter({ hasText: "@alice" }).first().waitFor();
      await pages().keyboard.press("Enter");
      await pages().keyboard.type(" from the editor");
      await pages().keyboard.press("Control+Enter");
      await answer(s.chat, "alice heard: from the editor").waitFor();
      await until(
        () => editor.innerText(),
        (text) => !text.includes("alice"),
      );
    });

    test("a slip in an editor is a diagnostic with a quick fix", async () => {
      const editor = await written();
      await pages().keyboard.type("@alicce hello");
      await pages().keyboard.press("Escape");
      await editor.locator(".squiggly-warning").waitFor();
      await pages().keyboard.press("Home");
      await pages().keyboard.press("Control+.");
      await pages().locator(".action-widget .monaco-list-row", { hasText: "Change to @alice" }).click();
      await until(
        () => editor.innerText(),
        (text) => text.includes("@alice") && !text.includes("@alicce"),
      );
      await pages().keyboard.press("Control+A");
      await pages().keyboard.press("Delete");
      await pages().keyboard.press("Control+S");
    });

    test("behind a setting, agents complete in Markdown documents", async () => {
      const editor = await s.window.openFile("draft.md");
      await editor.locator(".view-lines").click();
      await pages().keyboard.press("Control+End");
      await pages().keyboard.type("ask @b");
      await pages().keyboard.press("Control+Space");
      await pages()
        .locator(".suggest-widget.visible .monaco-list-row", { hasText: "@bob" })
        .first()
        .waitFor();
      await pages().keyboard.press("Escape");
      await revert(editor, "@b");
    });

    test("agents read what stands unsaved in an editor, and what they write shows in it", async () => {
      const editor = await s.window.openFile("notes.md");
      await editor.locator(".view-lines").click();
      await pages().keyboard.press("Control+Home");
      await pages().keyboard.type("UNSAVED ");
      await s.window.say(`@alice !read ${s.bed.workspace}/notes.md`);
      await answer(s.chat, "UNSAVED one").waitFor();
      await revert(editor, "UNSAVED");
      await s.window.say(`@alice !write ${s.bed.workspace}/notes.md|written_by_alice`);
      await editor.locator(".view-line", { hasText: "written_by_alice" }).waitFor();
    });

    test("the doctor says how things stand", async () => {
      await s.window.command("Sidekicks: Doctor");
      await doctor();
    });

    test("a bridge that dies comes back, and nothing typed is lost", async () => {
      await s.window.openChannel("#general");
      await s.window.say("@bob remember this");
      await answer(s.chat, "bob heard: remember this").waitFor();
      const field = s.chat.locator(".composer textarea");
      await field.fill("not sent yet");
      const before = s.bed.owner();
      assert.ok(before > 1);
      process.kill(before, "SIGKILL");
      await until(
        () => s.bed.owner(),
        (now) => now > 1 && now !== before,
      );
      await s.window.row(/Alice.*stopped/).waitFor();
      assert.equal(await field.inputValue(), "not sent yet");
      await answer(s.chat, "bob heard: remember this").waitFor();
      await s.window.say("@alice back again");
      await answer(s.chat, "alice heard: back again").waitFor();
    });

    test("a window that is loaded again shows the same conversation", async () => {
      await s.window.openChannel("#general");
      await s.window.say("@bob !say Before_it.");
      await answer(s.chat, "Before_it.").waitFor();
      const field = s.chat.locator(".composer textarea");
      await field.fill("a draft");
      await field.blur(); // keeps it at once
      await s.window.command("Sidekicks: Doctor"); // whose question the bridge answers after that
      await doctor();
      await pages().reload();
      s.chat = await s.window.chat();
      await s.chat.locator("body[data-channel='#general']").waitFor();
      await answer(s.chat, "Before_it.").waitFor();
      assert.equal(await s.chat.locator(".composer textarea").inputValue(), "a draft");
    });

    test("mail between agents stands under its own heading, can be read along and joined in", async () => {
      s.bed.sidekicks("register", "ann");
      s.bed.sidekicks("tell", "--as", "ann", "bob", "psst bob");
      await s.window.row("Agent Mail").waitFor();
      await s.window.row(/ann.*bob|bob.*ann/).click();
      await s.chat
        .locator(".message.by-peer", { hasText: "psst bob" })
        .locator(".badge", { hasText: "by mail" })
        .waitFor();
      await answer(s.chat, "psst bob").waitFor();
      await s.window.say("@bob what was that?");
      await answer(s.chat, "what was that?").waitFor();
    });

    test("every other command of a channel and an agent does what it says", async () => {
      await s.window.openChannel("#general");
      await s.window.command("Sidekicks: Change Channel Description…");
      await s.window.enter("What all should know");
      await s.window.command("Sidekicks: Open Channel…");
      await s.window.pick("What all should know").click();
      await s.window.command("Sidekicks: Restart Agent…");
      await s.window.pick("Bob").click();
      await s.window.row(/Bob.*ready/).waitFor();
      // The keys hold in the chat alone; that it has the focus is known before the route is.
      await s.chat.locator(".composer textarea").fill("@alice ");
      await s.chat.locator(".route-to", { hasText: "Alice" }).waitFor();
      await pages().keyboard.press("Alt+ArrowDown");
      await s.window.shown("#side");
      await pages().keyboard.press("Alt+ArrowUp");
      await s.window.shown("#general");
      await s.chat.locator(".composer textarea").fill("");
      await s.window.openFile("notes.md");
      await s.window.command("Sidekicks: Add Open Editors to Channel");
      await s.chat.locator(".chips .chip", { hasText: "notes.md" }).waitFor();
      await s.chat.getByRole("button", { name: /^Remove notes\.md$/ }).click();
      await s.window.command("Sidekicks: Install the Bridge…");
      await pages()
        .locator(".terminal-tab, .single-terminal-tab, .tabs-container", {
          hasText: "Install Sidekicks Bridge",
        })
        .first()
        .waitFor();
      await s.window.command("View: Hide Panel");
    });

    test("a long answer that ends while the window is not in front is told", async () => {
      await s.window.openChannel("#general");
      await s.window.command("Notifications: Clear All Notifications"); // the bell would have to be clicked
      await s.window.say("@alice !hold meanwhile !say Long_done.");
      await s.chat.locator(".turn", { hasText: "Alice" }).waitFor();
      const session = await pages().context().newCDPSession(pages());
      await session.send("Emulation.setFocusEmulationEnabled", { enabled: false });
      const other = await pages().context().newPage();
      await other.bringToFront();
      await until(
        () => pages().evaluate(() => document.hasFocus()),
        (focused) => !focused,
      );
      await pages().evaluate(() => document.dispatchEvent(new Event("visibilitychange"))); // the emulation sends none
      // The extension hears of it by the way that this takes after it, and before it of the answer.
      await s.chat.locator(".composer textarea").fill("@bob and you?");
      await s.chat.locator(".route .route-to", { hasText: "Bob" }).waitFor();
      s.bed.openGate("meanwhile");
      await answer(s.chat, "Long_done.").waitFor();
      await other.close();
      await session.send("Emulation.setFocusEmulationEnabled", { enabled: true });
      await pages().bringToFront(); // a page that is behind draws no notice
      const notice = await s.window.notification("@alice has answered in #general.");
      await notice.getByRole("button", { name: "Show" }).click();
      await s.chat.locator(".composer textarea").fill("");
    });

    test("the bridge is restarted by command, and its log is shown", async () => {
      const before = s.bed.owner();
      await s.window.command("Sidekicks: Restart Bridge");
      await until(
        () => s.bed.owner(),
        (now) => now > 1 && now !== before,
      );
      await s.chat.locator("body[data-bridge=ready]").waitFor();
      await s.window.command("Sidekicks: Show Log");
      await pages().locator(".panel .view-line", { hasText: "sidekicks_bridge" }).first().waitFor();
      await s.window.command("View: Hide Panel");
    });
  },
);
