/**
 * Pictures of the real thing for README and docs: the chat in a dark, a light and a high-contrast theme, a question, and
 * a change. `node e2e/tools/screenshots.ts FOLDER`
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { Bed } from "../support/bed.ts";
import { end, launch, sharedServer } from "../support/shared.ts";
import { Window } from "../support/window.ts";
import { answer } from "../support/waiting.ts";

const folder = process.argv[2] ?? "docs/images";
/** Theme and the class that the chat's page has in it. */
const THEMES = {
  dark: ["Dark Modern", "vscode-dark"],
  light: ["Light Modern", "vscode-light"],
  "high-contrast": ["Default High Contrast", "vscode-high-contrast"],
} as const;

const ROUTER = `"""Decides who answers a message."""


def route(message, members, last_speaker):
    """The agents that answer, in order."""
    if message.mentions:
        return message.mentions
    if last_speaker in members:
        return [last_speaker]
    return []
`;

/** A text as an argument of the fake agent's script. */
function quoted(text: string): string {
  return text.replaceAll("\n", "\\n");
}

const EXPLAINED = [
  "!think The question is about route().",
  "!tool read Read router.py | router.py:6",
  "!usage 18400 200000",
  "!say `route()` decides in this order:\\n\\n1. the agents that are **mentioned**, as they are mentioned;\\n2. else who spoke last, if still a member;\\n3. else nobody.\\n\\n",
  "!say A channel with a single member needs no mention, but that case is missing.",
].join(" ");

const CHANGED = [
  "!say Agreed, I add it:",
  `!diff router.py|${quoted(ROUTER)}|${quoted(ROUTER.replace("return []", "return members if len(members) == 1 else []"))}`,
  "!say \\n\\nNow a single member always answers.",
].join(" ");

const REFUSED =
  "!say I would rather say so than stay silent. !permit-diff router.py|    return []|    raise NobodyAddressed(message)";

/** What a person would write, and what the fake agent is told instead. */
const SAID = [
  ["@alice how does the router decide?", `@alice ${EXPLAINED}`],
  ["@bob do you agree?", `@bob ${CHANGED}`],
  ["@alice and if nobody is addressed?", `@alice ${REFUSED}`],
] as const;

const bed = new Bed(await sharedServer(), {
  agents: { alice: ["--modes", "ask,code"], bob: [] },
  builtin: true,
  channels: [
    { name: "general", description: "Everyone", members: ["alice", "bob", "scout"] },
    { name: "release-1.0", members: ["alice"] },
    { name: "ideas", members: ["bob"] },
  ],
  files: { "router.py": ROUTER, "post_office.py": "class Message: ...\n", "README.md": "# Post office\n" },
});
const SETTINGS = { "files.exclude": { ".vscode": true }, "editor.minimap.enabled": false };
bed.writeSettings(SETTINGS);
const browser = await launch(1440, 900, 2);

/** Send what the fake agent plays; shown is what a person would have written. */
async function play(window: Window, chat: Frame, at: number): Promise<void> {
  const [shown, script] = SAID[at] ?? ["", ""];
  await window.say(script);
  const message = chat.locator(".message.by-user").nth(at);
  await message.locator(".markdown").evaluate((body, text) => (body.textContent = text), shown);
}

async function take(window: Window, name: string): Promise<void> {
  await window.page.mouse.move(560, 700);
  await window.page.screenshot({ path: join(folder, `vscode-${name}.png`) });
}

/** Make the chat wider by its edge. */
async function widen(window: Window, pixels: number): Promise<void> {
  const edge = (await window.page.locator(".part.auxiliarybar").boundingBox())?.x ?? 0;
  await window.page.mouse.move(edge - 2, 500);
  await window.page.mouse.down();
  await window.page.mouse.move(edge - pixels, 500, { steps: 5 });
  await window.page.mouse.up();
}

try {
  mkdirSync(folder, { recursive: true });
  const window = await Window.open(browser, bed);
  const chat = await window.chat();
  await window.openFile("router.py");
  await widen(window, 110);
  await play(window, chat, 0);
  await answer(chat, "is missing").waitFor();
  await play(window, chat, 1);
  const changed = answer(chat, "always answers");
  await changed.locator(".touched").getByRole("button", { name: "router.py" }).click();
  await window.page.locator(".monaco-diff-editor").waitFor();
  const composer = chat.locator(".composer textarea");
  for (const [name, [theme, kind]] of Object.entries(THEMES)) {
    bed.writeSettings({ ...SETTINGS, "workbench.colorTheme": theme });
    await chat.locator(`body.${kind}`).waitFor();
    await composer.fill("@bob write a test for it, then @alice review it");
    await chat.locator(".route .route-to").waitFor();
    await take(window, name);
    await composer.fill("");
  }
  bed.writeSettings({ ...SETTINGS, "workbench.colorTheme": THEMES.dark[0] });
  await chat.locator(`body.${THEMES.dark[1]}`).waitFor();
  await play(window, chat, 2);
  await chat.locator(".permission [data-option]:not([aria-disabled])").first().waitFor();
  await take(window, "permission");
} finally {
  await browser.browser()?.close();
  await end();
}
