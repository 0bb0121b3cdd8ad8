// Runs e2e/inside within the extension host of the real VS Code.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { Bed, EXTENSION } from "./support/bed.ts";
import { launch } from "./support/window.ts";

test("the tests inside the extension host pass", async () => {
  const bed = await new Bed({ insideHost: true }).start();
  const browser = await launch();
  try {
    // The unpacked extension, as its package has it, in a folder of the bed.
    const unpacked = join(bed.folder, "unpacked");
    for (const name of ["dist", "media", "l10n", "package.json", "package.nls.json"]) {
      cpSync(join(EXTENSION, name), join(unpacked, name), { recursive: true });
    }
    const outfile = join(unpacked, "dist/inside.js");
    await build({
      entryPoints: [join(EXTENSION, "e2e/inside/index.ts")],
      bundle: true,
      platform: "node",
      format: "cjs",
      external: ["vscode"],
      outfile,
    });
    const page = await (await browser.newContext()).newPage();
    const said: string[] = [];
    let end: (code: number) => void = () => undefined;
    const ended = new Promise<number>((resolve) => (end = resolve));
    await page.exposeFunction("codeAutomationLog", (_type: string, words: unknown[]) =>
      said.push(words.map(String).join(" ")),
    );
    await page.exposeFunction("codeAutomationExit", (code: number) => end(code));
    const remote = `vscode-remote://${new URL(bed.base).host}`;
    const payload = JSON.stringify([
      ["extensionDevelopmentPath", remote + unpacked],
      ["extensionTestsPath", `${remote}${unpacked}/dist/inside`],
    ]);
    await page.goto(
      `${bed.base}/?folder=${encodeURIComponent(bed.workspace)}&payload=${encodeURIComponent(payload)}`,
      { timeout: 60_000 },
    );
    const code = await Promise.race([
      ended,
      new Promise<number>((resolve) => setTimeout(() => resolve(-1), 120_000).unref()),
    ]);
    assert.equal(code, 0, said.filter((line) => line.includes("inside")).join("\n"));
    assert.equal(said.filter((line) => line.includes("inside ok")).length, 4);
  } finally {
    await browser.close();
    await bed.stop();
  }
});
