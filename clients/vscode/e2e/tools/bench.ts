/**
 * How fast the chat view is, in the real VS Code; one JSON object a line.
 *
 * vscode20k.longest  longest task of the view's page while 20,000 deltas stream in below 2,000 messages of history, ms:
 *                    the median of three rounds, since what else runs on the machine can hold any task up
 * vscode20k.cpu      the most processor time that a task took in any of them, ms
 * vscode20k.lost     how many of the deltas are not shown at the end, of all rounds
 * vscode.open10k     from the view being ready to the first paint of a channel of 10,000 messages, ms
 * vscode.vsix        size of the package, kB
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Frame } from "playwright-core";
import type { Event } from "../../src/protocol.gen.ts";
import { Bed } from "../support/bed.ts";
import { EXTENSION } from "../support/server.ts";
import { end, sharedBrowser, sharedServer } from "../support/shared.ts";
import { Window } from "../support/window.ts";
import { until } from "../support/waiting.ts";
import { Trace } from "./trace.ts";

const DELTAS = 20_000;
/** A channel for each round. */
const BUSY = ["busy-1", "busy-2", "busy-3"];

interface Flood {
  longest: number;
  cpu: number;
  lost: number;
}

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

/** From the first delta until all are painted; the page is asked nothing meanwhile, for that were tasks, too. */
async function flood(browser: BrowserContext, window: Window, chat: Frame): Promise<Flood> {
  await chat.evaluate(() => {
    const ended = new Promise<string>((resolve) => {
      const look = (): void => {
        const text = document.querySelector(
          ".message.by-agent.finished:last-child .message-body",
        )?.textContent;
        if (!text?.includes("THE_END")) requestAnimationFrame(look);
        else requestAnimationFrame(() => requestAnimationFrame(() => resolve(text)));
      };
      const hear = ({ data }: MessageEvent<{ events?: Event[] }>): void => {
        for (const { method, params } of data.events ?? []) {
          if (method === "sidekicks/message/delta") performance.mark("flood.delta");
          else if (method === "sidekicks/message/updated" && params.message.turn?.stopReason) {
            globalThis.removeEventListener("message", hear);
            look();
          }
        }
      };
      globalThis.addEventListener("message", hear);
    });
    Object.assign(globalThis, { ended: ended.finally(() => performance.mark("flood.ended")) });
  });
  const trace = await Trace.start(browser, window.page);
  await window.say(`@alice !chunks ${DELTAS} !say THE_END`);
  const text = await chat.evaluate(() => (globalThis as unknown as { ended: Promise<string> }).ended);
  const tasks = await trace.end("flood.delta", "flood.ended");
  const shown = new Set(text.split(/\s+/));
  const lost = Array.from({ length: DELTAS }, (_, index) => `${index}`).filter((word) => !shown.has(word));
  return {
    longest: Math.max(...tasks.map(({ wall }) => wall)),
    cpu: Math.max(...tasks.map(({ cpu }) => cpu)),
    lost: lost.length,
  };
}

figure("vscode.vsix", statSync(join(EXTENSION, "sidekicks.vsix")).size / 1000, "kB");
const history = {
  long: 10_000,
  short: 1,
  ...Object.fromEntries(BUSY.map((name) => [name, 2_000])),
};
const bed = new Bed(await sharedServer(), {
  agents: { alice: [] },
  channels: Object.keys(history).map((name) => ({ name, members: ["alice"] })),
  history,
});
try {
  const browser = await sharedBrowser();
  const window = await Window.open(browser, bed);
  const chat = await window.chat();
  await window.openChannel("#short");
  figure("vscode.open10k", await opening(window, chat), "ms");
  const rounds: Flood[] = [];
  for (const name of BUSY) {
    await window.openChannel(`#${name}`);
    rounds.push(await flood(browser, window, chat));
  }
  const longest = rounds.map((round) => round.longest).sort((a, b) => a - b);
  figure("vscode20k.longest", longest[Math.floor(rounds.length / 2)] ?? Number.NaN, "ms");
  figure("vscode20k.cpu", Math.max(...rounds.map(({ cpu }) => cpu)), "ms");
  figure(
    "vscode20k.lost",
    rounds.reduce((sum, { lost }) => sum + lost, 0),
    "deltas",
  );
} finally {
  await end();
}
