/**
 * How fast the chat view is, in the real VS Code; one JSON object a line.
 *
 * vscode20k.longest  longest task of the view's page while 20,000 deltas stream in below 2,000 messages of history, ms
 * vscode20k.lost     characters of them that are not shown at the end
 * vscode.open10k     from the view being ready to the first paint of a channel of 10,000 messages, ms
 * vscode.vsix        size of the package, kB
 */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { Bed, EXTENSION, PYTHON, ROOT } from "../support/bed.ts";
import { until } from "../support/stage.ts";
import { launch, Window } from "../support/window.ts";

const DELTAS = 20_000;

function figure(name: string, value: number, unit: string): void {
  console.log(JSON.stringify({ name, value: Math.round(value * 100) / 100, unit }));
}

figure("vscode.vsix", statSync(join(EXTENSION, "sidekicks.vsix")).size / 1000, "kB");

const bed = new Bed({
  agents: { alice: [] },
  channels: ["busy", "long", "short"].map((name) => ({ name, members: ["alice"] })),
});
const fill = [
  join(ROOT, "scripts/bench/fill.py"),
  bed.config,
  bed.workspace,
  "busy=2000",
  "long=10000",
  "short=1",
];
execFileSync(PYTHON, ["-m", "scripts.bench.fill", ...fill.slice(1)], { cwd: ROOT, env: bed.environment() });
await bed.start();
const browser = await launch();
try {
  const window = await Window.open(browser, bed);
  const chat = await window.chat();
  await window.openChannel("#short");
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
  const open = await until(
    () => chat.evaluate(() => (globalThis as unknown as { meter: { asked: number; painted: number } }).meter),
    ({ painted }) => painted > 0,
  );
  figure("vscode.open10k", open.painted - open.asked, "ms");
  await window.openChannel("#busy");
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
  figure("vscode20k.longest", Math.max(0, ...tasks), "ms"); // shorter ones than 50 ms are not told: then it is 0
  const text = ((await message.locator(".message-body").textContent()) ?? "").replace(/\s+/g, " ");
  const missing = Array.from({ length: DELTAS }, (_, index) => index).filter(
    (index) => !text.includes(`${index}`),
  );
  figure("vscode20k.lost", missing.length, "deltas");
} finally {
  await browser.close();
  await bed.stop();
}
