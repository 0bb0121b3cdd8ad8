/** What a suite of tests plays in: a bed and a window of its own, in the VS Code and the browser that all share. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, suite } from "node:test";
import type { Frame } from "playwright-core";
import { Bed, type BedOptions } from "./bed.ts";
import { ROOT } from "./server.ts";
import { end, sharedBrowser, sharedServer } from "./shared.ts";
import { Window, type WindowOptions } from "./window.ts";

const FAILURES = join(ROOT, ".build/vscode/failures");

after(end);

/** The bed and the window of a suite; `chat` is the chat view's page in it. */
export class Scene {
  bed!: Bed;
  window!: Window;
  chat!: Frame;
}

/** Work in a window on a bed, which is closed after it. */
export async function inWindow(
  bed: Bed,
  work: (window: Window) => Promise<void>,
  options: WindowOptions = {},
): Promise<void> {
  const window = await Window.open(await sharedBrowser(), bed, options);
  try {
    await work(window);
  } catch (error) {
    await picture(bed.folder, window);
    throw error;
  } finally {
    await window.close();
  }
}

/** The window that the scenes play in, one after the other: loading one takes longer than most scenes do. */
let stage: Window | undefined;

/** A suite of tests on a bed of its own. */
export function scene(name: string, options: BedOptions, tests: (scene: Scene) => void): void {
  suite(name, () => {
    const made = new Scene();
    before(async () => {
      made.bed = await onStage(options);
      made.window = stage as Window;
      const { channels, settings = {} } = options;
      const nothing = channels?.length === 0 || "sidekicks.bridge.command" in settings;
      made.chat = await made.window.chat(nothing ? ".composer" : undefined);
    });
    afterEach(async (context) => {
      const { name, passed } = context as unknown as Ended;
      if (passed) return;
      await picture(name, made.window);
      spoilt = true;
    });
    tests(made);
  });
}

/** A test has failed: what it left behind is not known. */
let spoilt = false;

/** Make a bed, and have the window stand on it. */
async function onStage(options: BedOptions): Promise<Bed> {
  const server = await sharedServer();
  const kept = spoilt
    ? false
    : await stage?.tidy().then(
        () => true,
        () => false,
      );
  if (stage && kept) {
    let bed: Bed | undefined;
    await stage.afterRestart(() => (bed = new Bed(server, options)));
    return bed as Bed;
  }
  await stage?.close();
  spoilt = false;
  const bed = new Bed(server, options);
  stage = await Window.open(await sharedBrowser(), bed);
  return bed;
}

/** What node's runner says of a test that has ended; its types lack it. */
interface Ended {
  name: string;
  passed: boolean;
}

/** How the window looked when a test failed, and what the extension and the bridge logged, for who reads the log. */
async function picture(name: string, window: Window): Promise<void> {
  mkdirSync(FAILURES, { recursive: true });
  const path = join(FAILURES, `${name.replace(/\W+/g, "-").slice(-80)}.png`);
  await window.page.screenshot({ path });
  console.error(`The window then: ${path}`);
  for (const [at, log] of (await sharedServer()).logs().entries())
    copyFileSync(log, path.replace(/png$/, `${at}.log`));
}
