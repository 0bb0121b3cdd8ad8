/**
 * How fast the chat view is, in the real VS Code; one JSON object a line.
 *
 * vscode20k.longest  longest task of the view's page while 20,000 deltas stream in below 2,000 messages of history, ms
 * vscode20k.lost     how many of them are not shown at the end
 * vscode.open10k     from the view being ready to the first paint of a channel of 10,000 messages, ms
 * vscode.vsix        size of the package, kB
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { Bed } from "../support/bed.ts";
import { EXTENSION } from "../support/server.ts";
import { end, sharedBrowser, sharedServer } from "../support/shared.ts";
import { Window } from "../support/window.ts";
import { until } from "../support/waiting.ts";

const DELTAS = 20_000;

function figure(name: string, value: number, unit: string): void {
  console.log(JSON.stringify({ name, value: Math.round(value * 100) / 100, unit }));
}

/** From the snapshot's arrival in the page to the frame after it was drawn. */
async function opening(window: Window, chat: Frame): Promise<number> {
  await chat.evaluate(() => {
    const meter = { asked: 0, painted: 0 };
    Object.assign(globalThis, { meter });
    globalThis.addEventListener(
      "message",
      ({ data }: MessageEvent<{ type: string; opened?: { channel: { name?: string } } }>) => {
        if (data.type !== "open" || data.opened?.channel.name !== "long") return;
        meter.asked = performance.now();
        requestAnimationFrame(() => requestAnimationFrame(() => (meter.painted = performance.now())));
      },
      true,
    );
  });
  await window.openChannel("#long");
  await chat.locator(".message").first().waitFor();
  const { asked, painted } = await until(
    () => chat.evaluate(() => (globalThis as unknown as { meter: { asked: number; painted: number } }).meter),
    (meter) => meter.painted > 0,
  );
  return painted - asked;
}

/** The longest task meanwhile, and how many deltas are not there in the end. Tasks below 50 ms are not told: then 0. */
async function flood(window: Window, chat: Frame): Promise<{ longest: number; lost: number }> {
  await chat.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({ entryTypes: ["longtask"] });
  });
  await window.say(`@alice !chunks ${DELTAS} !say THE_END`);
  const message = chat.locator(".message.by-agent.finished", { hasText: "THE_END" });
  await message.waitFor({ timeout: 120_000 });
  const tasks = await chat.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks);
  const shown = new Set(((await message.locator(".message-body").textContent()) ?? "").split(/\s+/));
  const lost = Array.from({ length: DELTAS }, (_, index) => `${index}`).filter((word) => !shown.has(word));
  return { longest: Math.max(0, ...tasks), lost: lost.length };
}

figure("vscode.vsix", statSync(join(EXTENSION, "sidekicks.vsix")).size / 1000, "kB");
const history = { busy: 2_000, long: 10_000, short: 1 };
const bed = new Bed(await sharedServer(), {
  agents: { alice: [] },
  channels: Object.keys(history).map((name) => ({ name, members: ["alice"] })),
  history,
});
try {
  const window = await Window.open(await sharedBrowser(), bed);
  const chat = await window.chat();
  await window.openChannel("#short");
  figure("vscode.open10k", await opening(window, chat), "ms");
  await window.openChannel("#busy");
  const { longest, lost } = await flood(window, chat);
  figure("vscode20k.longest", longest, "ms");
  figure("vscode20k.lost", lost, "deltas");
} finally {
  await end();
}
