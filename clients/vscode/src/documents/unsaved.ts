/** What agents read of a file that is open and not saved: the editor's text. */
import * as vscode from "vscode";

/** The text of the unsaved buffer of that file, if there is one. */
export function unsavedText(path: string): string | undefined {
  const wanted = vscode.Uri.file(path).fsPath;
  const document = vscode.workspace.textDocuments.find(
    (open) => open.uri.scheme === "file" && open.isDirty && open.uri.fsPath === wanted,
  );
  return document?.getText();
}
