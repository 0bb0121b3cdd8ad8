/** What a file of tests stands on: one bed, one browser, one window, and the chat in it. */
import { after, before } from "node:test";
import type { Browser, Frame, Locator } from "playwright-core";
import { Bed, type BedOptions } from "./bed.ts";
import { launch, Window } from "./window.ts";

export interface Stage {
  bed: Bed;
  browser: Browser;
  window: Window;
  chat: Frame;
}

/** Set the stage before the tests of this file, strike it after them. */
export function stage(options: BedOptions = {}): Stage {
  const set = {} as Stage;
  before(async () => {
    set.bed = await new Bed(options).start();
    set.browser = await launch();
    set.window = await Window.open(set.browser, set.bed);
    set.chat = await set.window.chat();
  });
  after(async () => {
    const made: Partial<Stage> = set; // less, if setting it failed
    await made.browser?.close();
    await made.bed?.stop();
  });
  return set;
}

/** Wait until something holds; fails with what was seen last. */
export async function until<T>(
  see: () => Promise<T> | T,
  holds: (seen: T) => boolean,
  milliseconds = 15_000,
): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const seen = await see();
    if (holds(seen)) return seen;
    if (Date.now() > end) throw new Error(`It did not come to hold: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The newest finished answer with this text. */
export function answer(chat: Frame, text: string | RegExp): Locator {
  return chat.locator(".message.by-agent.finished", { hasText: text }).last();
}
