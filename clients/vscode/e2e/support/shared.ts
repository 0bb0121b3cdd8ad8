/** The VS Code and the browser that all tests share: started by the first who needs them, ended once. */
import { existsSync } from "node:fs";
import { chromium, type BrowserContext } from "playwright-core";
import { Server } from "./server.ts";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--no-default-browser-check",
];

let server: Promise<Server> | undefined;
let browser: Promise<BrowserContext> | undefined;

export function sharedServer(): Promise<Server> {
  return (server ??= Server.start());
}

/** One profile for all, so that the workbench is loaded once and then taken from its cache. */
export function sharedBrowser(): Promise<BrowserContext> {
  return (browser ??= launch());
}

/** A browser of one's own. `scale`: device pixels for each of the page's. */
export async function launch(width = 1400, height = 1200, scale = 1): Promise<BrowserContext> {
  const launched = await chromium.launch({ executablePath: browserPath(), headless: true, args: FLAGS });
  const context = await launched.newContext({ viewport: { width, height }, deviceScaleFactor: scale });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  context.setDefaultTimeout(Number(process.env["PATIENCE"] ?? 30_000));
  return context;
}

function browserPath(): string | undefined {
  const given = process.env["CHROMIUM"];
  const places = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ];
  return given ?? places.find((path) => existsSync(path));
}

export async function end(): Promise<void> {
  await (await browser)?.browser()?.close();
  await (await server)?.stop();
}
