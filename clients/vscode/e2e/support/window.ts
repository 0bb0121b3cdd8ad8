/** A VS Code window in a headless browser: its workbench, its chat view, what a user does with them. */
import type { BrowserContext, Frame, Locator, Page } from "playwright-core";
import type { Bed } from "./bed.ts";
import { TIDY } from "./server.ts";
import { until } from "./waiting.ts";

export interface WindowOptions {
  folder?: string;
  /** Further parameters of the address. */
  query?: string;
}

export class Window {
  readonly page: Page;
  #chat: Frame | undefined;

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(browser: BrowserContext, bed: Bed, options: WindowOptions = {}): Promise<Window> {
    const { query = "", folder = bed.workspace } = options;
    const page = await browser.newPage();
    await page.goto(`${bed.server.base}/?folder=${encodeURIComponent(folder)}${query}`, { timeout: 120_000 });
    await page.locator(".monaco-workbench .activitybar").waitFor({ timeout: 120_000 });
    return new Window(page);
  }

  /** Open a file of the workspace, from the explorer: a search would have to know it first. */
  async openFile(name: string): Promise<Locator> {
    const row = this.page.locator(".explorer-folders-view .monaco-list-row");
    await row.filter({ has: this.page.getByText(name, { exact: true }) }).dblclick();
    const editor = this.page.locator(`.monaco-editor[data-uri$='${name}']`);
    await editor.waitFor();
    return editor;
  }

  /** Choose from the menu that a right click opened. By key: it does not hear the mouse in its first moments. */
  async menu(text: string): Promise<void> {
    const item = this.page.locator(".monaco-menu .action-item", { hasText: text }).first();
    await item.hover();
    await item.and(this.page.locator(".focused")).waitFor();
    await this.page.keyboard.press("Enter");
    await item.waitFor({ state: "detached" });
  }

  /**
   * Run a command by its title. The box is opened anew when something took the focus from it, and after a while, too:
   * it lists what was possible when it was opened.
   */
  async command(title: string): Promise<void> {
    const text = `>${title}`;
    const rows = this.page.locator(".quick-input-widget:visible .monaco-list-row");
    const exact = rows.filter({ has: this.page.locator(".label-name", { hasText: whole(title) }) });
    const chosen = this.page.locator(".focused");
    const similar = rows.and(chosen).filter({ hasText: title.split(": ").at(-1) });
    for (const end = Date.now() + 60_000; Date.now() < end;) {
      await this.page.keyboard.press("F1");
      try {
        await this.#box.fill(text, { timeout: 2_000 });
        for (const anew = Date.now() + 4_000; Date.now() < anew;) {
          await this.page.waitForTimeout(20);
          if ((await this.#box.inputValue({ timeout: 1_000 })) !== text)
            await this.#box.fill(text, { timeout: 1_000 });
          // By key where it is the chosen one: a list that is drawn anew under the mouse loses the click.
          if (await exact.and(chosen).first().isVisible()) await this.#box.press("Enter", { timeout: 1_000 });
          else if (await exact.first().isVisible()) await exact.first().click({ timeout: 5_000 });
          else if (await similar.isVisible()) await this.#box.press("Enter", { timeout: 1_000 });
          else continue;
          await rows.filter({ hasText: title }).first().waitFor({ state: "hidden" }); // before what comes next is asked
          return;
        }
      } catch {
        continue; // the key was not heard, or the box was closed
      }
    }
    throw new Error(`The box for ${text} does not stay open, or does not offer it.`);
  }

  get #box(): Locator {
    return this.page.locator(".quick-input-widget:visible input").first();
  }

  /** The quick pick that is open: its rows by their labels. */
  pick(text: string | RegExp): Locator {
    return this.page.locator(".quick-input-widget:visible .monaco-list-row", { hasText: text }).first();
  }

  /** Type into the input box that is open, and accept. */
  async enter(text: string): Promise<void> {
    await this.#box.fill(text);
    await this.#box.press("Enter");
  }

  /** The chat view's page, once it is there and its composer can be written in. */
  async chat(selector = ".composer textarea:enabled"): Promise<Frame> {
    if (this.#chat && !this.#chat.isDetached()) return this.#chat;
    const end = Date.now() + 120_000;
    while (Date.now() < end) {
      // In a new profile the view stays blank until it is asked for; the key is unheard until the extension is known.
      if (!(await this.page.locator("iframe.webview").count()))
        await this.page.keyboard.press("Control+Alt+k");
      this.#chat = await this.#frameWith(selector, 2_000);
      if (this.#chat) return this.#chat;
    }
    throw new Error("The chat view did not come up.");
  }

  async #frameWith(selector: string, milliseconds: number): Promise<Frame | undefined> {
    for (let waited = 0; waited < milliseconds; waited += 100) {
      for (const frame of this.page.frames()) {
        const count = await frame
          .locator(selector)
          .count()
          .catch(() => 0);
        if (count > 0) return frame;
      }
      await this.page.waitForTimeout(100);
    }
    return undefined;
  }

  /** Write a message in the composer and send it. */
  async say(text: string): Promise<void> {
    const chat = await this.chat();
    await chat.locator("body[data-bridge=ready]").waitFor();
    const field = chat.locator(".composer textarea");
    await field.fill(text);
    await field.press("Enter");
  }

  /** Open a channel (`#general`, `@alice`), and wait until it is shown. Not from the list: its rows come and go. */
  async openChannel(title: string): Promise<void> {
    await this.command("Sidekicks: Open Channel…");
    await this.pick(title).click();
    await this.shown(title);
  }

  /** Wait until a channel is shown and its composer has the focus. */
  async shown(title: string): Promise<void> {
    const chat = await this.chat();
    await chat.locator(`body[data-channel="${title}"]`).waitFor();
    await chat.locator(".composer textarea:focus").waitFor();
  }

  /** The tree beside the chat: a row by its text. */
  row(text: string | RegExp): Locator {
    return this.page
      .locator(".auxiliarybar .monaco-list-row, .sidebar .monaco-list-row", { hasText: text })
      .first();
  }

  /** A notification, by the bell if it is not shown by itself. */
  async notification(text: string | RegExp): Promise<Locator> {
    const item = this.page.locator(".notification-list-item", { hasText: text }).first();
    const bell = this.page.locator("[id='status.notifications'] .codicon-bell-dot");
    await item.or(bell).first().waitFor();
    if (!(await item.isVisible())) await bell.click();
    await item.waitFor();
    return item;
  }

  /** Close what a scene left open. Throws if that is not possible: then the next one needs a window of its own. */
  async tidy(): Promise<void> {
    const left = this.page.locator(
      ".tab, .panel .title:visible, .quick-input-widget:visible, .notification-toast",
    );
    await this.page.keyboard.press("Escape");
    await this.page.keyboard.press(TIDY);
    await until(
      () => left.count(),
      (count) => count === 0,
      10_000,
    );
  }

  /** Have something changed that restarts the bridge; answers once the chat shows what comes of it. */
  async afterRestart(change: () => void): Promise<void> {
    const chat = await this.chat(".composer");
    await chat.locator("body:not([data-bridge=starting])").waitFor();
    await chat.evaluate(() => {
      const restarted = new Promise<void>((resolve) => {
        let gone = false;
        const hear = ({ data }: MessageEvent<{ type: string; surroundings?: { bridge: string } }>): void => {
          const bridge = data.surroundings?.bridge ?? "";
          gone ||= bridge === "starting";
          const shown = ["open", "closed"].includes(data.type) || ["missing", "failed"].includes(bridge);
          if (!gone || !shown) return;
          globalThis.removeEventListener("message", hear);
          requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
        };
        globalThis.addEventListener("message", hear);
      });
      Object.assign(globalThis, { restarted });
    });
    change();
    await chat.evaluate(() => (globalThis as unknown as { restarted: Promise<void> }).restarted);
  }

  async close(): Promise<void> {
    await this.page.close();
  }
}

/** A text as the whole of what it is searched in. */
function whole(text: string): RegExp {
  return new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\s*$`);
}
