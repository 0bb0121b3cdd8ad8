/** Waiting for what tests want to see. */
import type { Frame, Locator } from "playwright-core";

/** Wait until something holds; fails with what was seen last. */
export async function until<T>(
  see: () => Promise<T> | T,
  holds: (seen: T) => boolean,
  milliseconds = 30_000,
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
