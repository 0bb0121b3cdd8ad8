// Runs e2e/inside within the extension host of the real VS Code.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { Bed } from "./support/bed.ts";
import "./support/scene.ts";
import { EXTENSION } from "./support/server.ts";
import { sharedBrowser, sharedServer } from "./support/shared.ts";

/** The unpacked extension as its package has it, with the tests bundled into it. */
async function unpack(into: string): Promise<void> {
  for (const name of ["dist", "media", "l10n", "package.json", "package.nls.json"]) {
    cpSync(join(EXTENSION, name), join(into, name), { recursive: true });
  }
  await build({
    entryPoints: [join(EXTENSION, "e2e/inside/index.ts")],
    bundle: true,
    platform: "node",
    format: "cjs",
    external: ["vscode"],
    outfile: join(into, "dist/inside.js"),
  });
}

test("the tests inside the extension host pass", { timeout: 180_000 }, async () => {
  const server = await sharedServer();
  const bed = new Bed(server, {}, join(server.folder, "inside"));
  const unpacked = join(bed.folder, "unpacked");
  await unpack(unpacked);
  const page = await (await sharedBrowser()).newPage();
  try {
    const said: string[] = [];
    let end: (code: number) => void = () => undefined;
    const ended = new Promise<number>((resolve) => (end = resolve));
    await page.exposeFunction("codeAutomationLog", (_type: string, words: unknown[]) =>
      said.push(words.map(String).join(" ")),
    );
    await page.exposeFunction("codeAutomationExit", (code: number) => end(code));
    const remote = `vscode-remote://${new URL(server.base).host}`;
    const payload = JSON.stringify([
      ["extensionDevelopmentPath", remote + unpacked],
      ["extensionTestsPath", `${remote}${unpacked}/dist/inside`],
    ]);
    const query = `folder=${encodeURIComponent(bed.workspace)}&payload=${encodeURIComponent(payload)}`;
    await page.goto(`${server.base}/?${query}`, { timeout: 120_000 });
    const code = await ended;
    assert.equal(code, 0, said.filter((line) => line.includes("inside")).join("\n"));
    assert.equal(said.filter((line) => line.includes("inside ok")).length, 5);
  } finally {
    await page.close();
  }
});
