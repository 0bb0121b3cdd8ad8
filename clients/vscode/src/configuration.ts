/** The configuration file in the editor: its problems as diagnostics, its keys as completion, both by the bridge's schema. */
import { readFile } from "node:fs/promises";
import * as vscode from "vscode";
import type { App } from "./app.ts";
import { keysAt, type Schema } from "./config-keys.ts";
import type { Problem } from "./protocol.gen.ts";

const TYPING_MILLISECONDS = 300;

export function configuration(app: App): vscode.Disposable {
  const diagnostics = vscode.languages.createDiagnosticCollection("sidekicks");
  const show = (problems: Problem[]): void => {
    diagnostics.clear();
    const uri = configUri(app);
    if (uri) diagnostics.set(uri, problems.map(diagnosticOf));
  };
  let timer: NodeJS.Timeout | undefined;
  const check = (document: vscode.TextDocument): void => {
    if (document.uri.toString() !== configUri(app)?.toString()) return;
    clearTimeout(timer);
    timer = setTimeout(() => void validate(app, document, show), TYPING_MILLISECONDS);
  };
  return vscode.Disposable.from(
    diagnostics,
    app.overview.onChange(({ config }) => {
      const open = vscode.workspace.textDocuments.find(
        ({ uri }) => uri.toString() === configUri(app)?.toString(),
      );
      if (!open?.isDirty) show(config.problems);
    }),
    vscode.workspace.onDidChangeTextDocument(({ document }) => check(document)),
    vscode.workspace.onDidOpenTextDocument(check),
    vscode.languages.registerCompletionItemProvider(
      { language: "yaml", scheme: "file" },
      { provideCompletionItems: (document, position) => complete(app, document, position) },
    ),
  );
}

function configUri(app: App): vscode.Uri | undefined {
  const { path } = app.overview.current.config;
  return path === "" ? undefined : vscode.Uri.file(path);
}

async function validate(
  app: App,
  document: vscode.TextDocument,
  show: (problems: Problem[]) => void,
): Promise<void> {
  const { version } = document;
  try {
    const { problems } = await app.bridge.request("sidekicks/config/validate", { text: document.getText() });
    if (document.version === version) show(problems);
  } catch {
    // the bridge is gone; it tells the problems again when it is back
  }
}

function diagnosticOf({ line, column, message, severity }: Problem): vscode.Diagnostic {
  const at = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
  const level = severity === "warning" ? vscode.DiagnosticSeverity.Warning : vscode.DiagnosticSeverity.Error;
  const diagnostic = new vscode.Diagnostic(new vscode.Range(at, at.translate(0, 1)), message, level);
  diagnostic.source = "sidekicks";
  return diagnostic;
}

let schema: Promise<Schema> | undefined;

/** Keys and values where the cursor is; the YAML extension does more where it is installed, so we leave it to that. */
async function complete(
  app: App,
  document: vscode.TextDocument,
  position: vscode.Position,
): Promise<vscode.CompletionItem[]> {
  const ours = document.uri.toString() === configUri(app)?.toString();
  if (!ours || vscode.extensions.getExtension("redhat.vscode-yaml")) return [];
  const file = vscode.Uri.joinPath(app.context.extensionUri, "dist", "config.schema.json");
  schema ??= readFile(file.fsPath, "utf8").then((text) => JSON.parse(text) as Schema);
  const lines = document.getText(new vscode.Range(0, 0, position.line, position.character)).split("\n");
  return keysAt(await schema, lines).map(({ insert, detail, documentation, value }) => {
    const kind = value ? vscode.CompletionItemKind.Value : vscode.CompletionItemKind.Property;
    const item = new vscode.CompletionItem(insert.replace(/: ?$/, ""), kind);
    item.insertText = insert;
    item.detail = detail;
    item.documentation = documentation;
    return item;
  });
}
