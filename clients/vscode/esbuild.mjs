// Bundles the extension (for the extension host) and the chat (for its webview) into dist/.
import { cpSync, rmSync } from "node:fs";
import { build, context } from "esbuild";

const watch = process.argv.includes("--watch");
const shared = { bundle: true, minify: !watch, sourcemap: watch ? "inline" : false, logLevel: "warning" };
const host = { ...shared, platform: "node", format: "cjs", target: "node20", external: ["vscode"] };
const bundles = [
  { ...host, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js" },
  {
    ...shared,
    platform: "browser",
    format: "iife",
    target: "chrome128",
    entryPoints: ["webview/main.ts", "webview/main.css"],
    entryNames: "chat",
    assetNames: "[name]",
    loader: { ".ttf": "file" },
    outdir: "dist",
  },
];

rmSync("dist", { recursive: true, force: true });
for (const bundle of bundles) {
  if (watch) await (await context(bundle)).watch();
  else await build(bundle);
}
cpSync("../../schema/config.schema.json", "dist/config.schema.json");
