/** Tests that run inside the extension host, with the whole `vscode` API; bundled to dist/inside.js and loaded by VS Code. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";

const ID = "sidekicks-bridge.sidekicks";

async function until<T>(see: () => T | Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const seen = await see();
    if (holds(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("it did not come to hold");
}

async function completions(document: vscode.TextDocument, at: vscode.Position): Promise<string[]> {
  const found = await vscode.commands.executeCommand<vscode.CompletionList>(
    "vscode.executeCompletionItemProvider",
    document.uri,
    at,
    "@",
  );
  return found.items.map(({ label }) => (typeof label === "string" ? label : label.label));
}

const tests: Record<string, () => Promise<void>> = {
  async "the extension activates, and every command it announces is there"() {
    const extension = vscode.extensions.getExtension(ID);
    assert.ok(extension);
    await extension.activate();
    const known = new Set(await vscode.commands.getCommands(true));
    const manifest = extension.packageJSON as { contributes: { commands: { command: string }[] } };
    const missing = manifest.contributes.commands.filter(({ command }) => !known.has(command));
    assert.deepEqual(missing, []);
  },
  async "a composer document completes by the language server"() {
    const uri = vscode.Uri.from({ scheme: "sidekicks", path: "/general/compose" });
    await vscode.workspace.fs.writeFile(uri, Buffer.from("@"));
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, "sidekicks-compose");
    await vscode.window.showTextDocument(document);
    await until(
      () => completions(document, new vscode.Position(0, 1)),
      (labels) => labels.includes("@alice"),
    );
  },
  async "a slip in it is a diagnostic with a code action"() {
    const uri = vscode.Uri.from({ scheme: "sidekicks", path: "/general/compose" });
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.replace(new vscode.Range(0, 0, 1, 0), "@alicce hi"));
    const [problem] = await until(
      () => vscode.languages.getDiagnostics(uri),
      (all) => all.length > 0,
    );
    assert.ok(problem);
    await until(
      async () =>
        await vscode.commands.executeCommand<vscode.CodeAction[]>(
          "vscode.executeCodeActionProvider",
          uri,
          problem.range,
        ),
      (actions) => actions.some(({ title }) => title.includes("@alice")),
    );
  },
  "every word of the manifest is there"() {
    const manifest = JSON.stringify(vscode.extensions.getExtension(ID)?.packageJSON);
    assert.deepEqual(manifest.match(/"%[\w.]+%"/g), null);
    return Promise.resolve();
  },
  "settings that start programs are the machine's"() {
    const extension = vscode.extensions.getExtension(ID);
    const { capabilities, extensionKind } = extension?.packageJSON as {
      capabilities: { untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] } };
      extensionKind: string[];
    };
    assert.equal(capabilities.untrustedWorkspaces.supported, "limited");
    assert.ok(capabilities.untrustedWorkspaces.restrictedConfigurations.includes("sidekicks.bridge.command"));
    assert.deepEqual(extensionKind, ["workspace"]);
    return Promise.resolve();
  },
};

export async function run(): Promise<void> {
  const failed: string[] = [];
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`inside ok: ${name}`);
    } catch (error) {
      const why = `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
      console.log(`inside failed: ${why}`);
      failed.push(why);
    }
  }
  if (failed.length > 0) throw new Error(failed.join("\n"));
}
