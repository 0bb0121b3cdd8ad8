/** What a suite of tests plays in: a bed and a window of its own, in the VS Code and the browser that all share. */
import { mkdirSync } from "node:fs";
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

  /** Another window on this bed. */
  async open(options: WindowOptions = {}): Promise<Window> {
    return Window.open(await sharedBrowser(), this.bed, options);
  }
}

/** A suite of tests in one window. */
export function scene(name: string, options: BedOptions, tests: (scene: Scene) => void): void {
  suite(name, () => {
    const made = new Scene();
    before(async () => {
      made.bed = new Bed(await sharedServer(), options);
      made.window = await made.open();
      made.chat = await made.window.chat();
    });
    afterEach((context) => picture(context as unknown as Ended, made.window));
    after(async () => {
      const begun: Partial<Scene> = made; // less, if opening it failed
      await begun.window?.close();
      begun.bed?.remove();
    });
    tests(made);
  });
}

/** What node's runner says of a test that has ended; its types lack it. */
interface Ended {
  name: string;
  passed: boolean;
}

/** How the window looked when a test failed, for who reads the log. */
async function picture(context: Ended, window: Window): Promise<void> {
  if (context.passed) return;
  mkdirSync(FAILURES, { recursive: true });
  const path = join(FAILURES, `${context.name.replace(/\W+/g, "-").slice(0, 80)}.png`);
  await window.page.screenshot({ path });
  console.error(`The window then: ${path}`);
}
