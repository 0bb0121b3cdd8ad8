/** Files, selections and open editors as attachments of the next message. */
import { basename } from "node:path";
import * as vscode from "vscode";
import type { ChatView } from "../chat/view.ts";
import type { Attachment } from "../protocol.gen.ts";

/** A file; the text of one that is open and not saved goes along. */
export function attachmentOf(uri: vscode.Uri): Attachment {
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
  return {
    uri: uri.toString(),
    title: uri.scheme === "untitled" ? uri.path : basename(uri.path),
    ...(document && (document.isDirty || document.isUntitled) ? { text: document.getText() } : {}),
  };
}

/** A piece of a document, with its text. */
export function selectionOf(editor: vscode.TextEditor): Attachment {
  const { document, selection } = editor;
  const { start, end } = selection;
  return {
    uri: document.uri.toString(),
    title: `${basename(document.uri.path)}:${start.line + 1}–${end.line + 1}`,
    range: {
      start: { line: start.line, character: start.character },
      end: { line: end.line, character: end.character },
    },
    text: document.getText(selection),
  };
}

/** Every file in an editor tab, each once. */
export function openEditors(): Attachment[] {
  const uris = new Map<string, vscode.Uri>();
  for (const tab of vscode.window.tabGroups.all.flatMap((group) => group.tabs)) {
    const uri = tab.input instanceof vscode.TabInputText ? tab.input.uri : undefined;
    if (uri && (uri.scheme === "file" || uri.scheme === "untitled")) uris.set(uri.toString(), uri);
  }
  return [...uris.values()].map(attachmentOf);
}

export function attachCommands(chat: ChatView): Record<string, (...given: never[]) => unknown> {
  return {
    "attach.selection": async () => {
      const editor = vscode.window.activeTextEditor;
      if (editor)
        await chat.attach([
          editor.selection.isEmpty ? attachmentOf(editor.document.uri) : selectionOf(editor),
        ]);
    },
    "attach.file": async (clicked?: vscode.Uri, selected?: vscode.Uri[]) => {
      const uris = selected ?? (clicked ? [clicked] : []);
      const active = vscode.window.activeTextEditor?.document.uri;
      if (uris.length === 0 && active) uris.push(active);
      await chat.attach(uris.map(attachmentOf));
    },
    "attach.openEditors": () => chat.attach(openEditors()),
    "attach.pick": () => pick(chat),
  };
}

async function pick(chat: ChatView): Promise<void> {
  type Choice = vscode.QuickPickItem & { make: () => Promise<Attachment[]> | Attachment[] };
  const choices: Choice[] = [];
  const editor = vscode.window.activeTextEditor;
  if (editor && !editor.selection.isEmpty) {
    const selection = selectionOf(editor);
    choices.push({
      label: `$(selection) ${vscode.l10n.t("Selection")}`,
      description: selection.title,
      make: () => [selection],
    });
  }
  const open = openEditors();
  choices.push({ label: `$(file) ${vscode.l10n.t("Files…")}`, make: chooseFiles });
  if (open.length > 0) {
    choices.push({
      label: `$(files) ${vscode.l10n.t("All Open Editors")}`,
      description: `${open.length}`,
      make: () => open,
    });
  }
  for (const one of open)
    choices.push({ label: `$(file) ${one.title ?? one.uri}`, description: one.uri, make: () => [one] });
  const chosen = await vscode.window.showQuickPick(choices, {
    placeHolder: vscode.l10n.t("What goes with the message?"),
  });
  if (chosen) await chat.attach(await chosen.make());
}

async function chooseFiles(): Promise<Attachment[]> {
  const uris = await vscode.window.showOpenDialog({
    canSelectMany: true,
    openLabel: vscode.l10n.t("Attach"),
  });
  return (uris ?? []).map(attachmentOf);
}
