/**
 * Pictures of the real thing for README and docs: the chat in a dark, a light and a high-contrast theme, with the two
 * built-in agents and two that play their part. `node e2e/tools/screenshots.ts FOLDER`
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Bed } from "../support/bed.ts";
import { answer } from "../support/stage.ts";
import { launch, Window } from "../support/window.ts";

const folder = process.argv[2] ?? "docs/images";
const THEMES = { dark: "Dark Modern", light: "Light Modern", "high-contrast": "Default High Contrast" };

const ROUTER = `"""Decides who answers a message."""


def route(message, members, last_speaker):
    """The agents that answer, in order."""
    if message.mentions:
        return message.mentions
    if last_speaker in members:
        return [last_speaker]
    return []
`;

const ALICE = [
  "!think The_question_is_about_route().",
  "!tool read Read_router.py | router.py:4",
  "!usage 18400 200000",
  "!say `route()` decides in this order:\\n\\n1. the agents that are **mentioned**, in their order;\\n2. else whoever spoke last, if still a member;\\n3. else nobody.\\n\\n",
  "!say ```python\\nif message.mentions:\\n    return message.mentions\\n```\\n\\n",
  "!say A single member never needs a mention, but that case is missing.",
].join(" ");

const bed = await new Bed({
  agents: { alice: ["--modes", "ask,code"], bob: [] },
  builtin: true,
  channels: [
    { name: "general", description: "Everyone", members: ["alice", "bob", "scout", "scribe"] },
    { name: "release-1.0", members: ["alice"] },
    { name: "ideas", members: ["bob"] },
  ],
  files: { "router.py": ROUTER, "README.md": "# Post office\n" },
  settings: { "workbench.colorTheme": THEMES.dark },
}).start();
const browser = await launch();
try {
  mkdirSync(folder, { recursive: true });
  const first = await Window.open(browser, bed);
  const chat = await first.chat();
  await first.say(`@alice how does the router decide? ${ALICE}`);
  await answer(chat, "is missing").waitFor();
  await first.say(
    "@bob do you agree? !say Mostly. I add the missing case:  !diff router.py|    return []\\n|    return list(members) if len(members) == 1 else []\\n !say \\n\\nNow a channel with one agent always answers.",
  );
  await answer(chat, "always answers").waitFor();
  await first.close();
  for (const [name, theme] of Object.entries(THEMES)) {
    bed.writeSettings({
      "workbench.colorTheme": theme,
      "workbench.secondarySideBar.defaultVisibility": "hidden",
    });
    const window = await Window.open(browser, bed, { width: 1280, height: 860, scale: 2 });
    const frame = await window.chat();
    const editor = await window.openFile("router.py");
    await editor.waitFor();
    await frame.locator(".composer textarea").fill("@bob write a test for it, then @alice");
    await frame.locator(".route .route-to").waitFor();
    await window.page.mouse.move(640, 600);
    await window.page.screenshot({ path: join(folder, `vscode-${name}.png`) });
    await window.close();
  }
} finally {
  await browser.close();
  await bed.stop();
}
