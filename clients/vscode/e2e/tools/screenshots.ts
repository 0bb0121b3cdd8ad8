/**
 * Pictures of the real thing for README and docs: the chat in a dark, a light and a high-contrast theme, a question, and
 * a change. `node e2e/tools/screenshots.ts FOLDER`
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Bed } from "../support/bed.ts";
import { end, launch, sharedServer } from "../support/shared.ts";
import { Window } from "../support/window.ts";
import { answer } from "../support/waiting.ts";

const folder = process.argv[2] ?? "docs/images";
const THEMES = { dark: "Dark Modern", light: "Light Modern", "high-contrast": "Default High Contrast" };

const ROUTER = `"""Decides who answers a message."""

from post_office import Message


def route(message: Message, members: list[str], last_speaker: str) -> list[str]:
    """The agents that answer, in order."""
    if message.mentions:
        return message.mentions
    if last_speaker in members:
        return [last_speaker]
    return []
`;

const EXPLAINED = [
  "!think The_question_is_about_route().",
  "!tool read Read_router.py | router.py:6",
  "!usage 18400 200000",
  "!say `route()` decides in this order:\\n\\n1. the agents that are **mentioned**, as they are mentioned;\\n2. else who spoke last, if still a member;\\n3. else nobody.\\n\\n",
  "!say A channel with a single member needs no mention, but that case is missing.",
].join(" ");

const CHANGED = [
  "!say Agreed, I add it:",
  "!diff router.py|    return []\\n|    return members if len(members) == 1 else []\\n",
  "!say \\n\\nNow a single member always answers.",
].join(" ");

const bed = new Bed(await sharedServer(), {
  agents: { alice: ["--modes", "ask,code"], bob: [] },
  builtin: true,
  channels: [
    { name: "general", description: "Everyone", members: ["alice", "bob", "scout", "scribe"] },
    { name: "release-1.0", members: ["alice"] },
    { name: "ideas", members: ["bob"] },
  ],
  files: { "router.py": ROUTER, "post_office.py": "class Message: ...\n", "README.md": "# Post office\n" },
});
const browser = await launch(1360, 860, 2);
try {
  mkdirSync(folder, { recursive: true });
  const window = await Window.open(browser, bed);
  const chat = await window.chat();
  const take = async (name: string): Promise<void> => {
    await window.page.mouse.move(560, 600);
    await window.page.screenshot({ path: join(folder, `vscode-${name}.png`) });
  };
  await window.openFile("router.py");
  await window.say(`@alice how does the router decide? ${EXPLAINED}`);
  await answer(chat, "is missing").waitFor();
  await window.say(`@bob do you agree? ${CHANGED}`);
  await answer(chat, "always answers").waitFor();
  for (const [name, theme] of Object.entries(THEMES)) {
    bed.writeSettings({ "workbench.colorTheme": theme, "files.exclude": { ".vscode": true } });
    const kind = { dark: "vscode-dark", light: "vscode-light", "high-contrast": "vscode-high-contrast" }[
      name
    ];
    await chat.locator(`body.${kind ?? ""}`).waitFor();
    await chat.locator(".composer textarea").fill("@bob write a test for it, then @alice");
    await chat.locator(".route .route-to").waitFor();
    await take(name);
    await chat.locator(".composer textarea").fill("");
  }
  bed.writeSettings({ "workbench.colorTheme": THEMES.dark, "files.exclude": { ".vscode": true } });
  await chat.locator("body.vscode-dark").waitFor();
  await window.say("@alice !permit-diff router.py|    return []|    raise Nobody(message)");
  await chat.locator(".permission [data-option]:not([aria-disabled])").first().waitFor();
  await take("permission");
} finally {
  await browser.browser()?.close();
  await end();
  bed.remove();
}
