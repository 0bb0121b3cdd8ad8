/** The exact prompt an agent was sent, as text for people. Pure but for the words' language. */
import * as vscode from "vscode";
import type { Prompt } from "../protocol.gen.ts";

export function promptText(prompt: Prompt, agent: string): string {
  const session = {
    resumed: vscode.l10n.t("its session went on"),
    loaded: vscode.l10n.t("its session was loaded"),
    fresh: vscode.l10n.t("its session was new and had heard nothing"),
  }[prompt.session];
  const counts = [vscode.l10n.t("{0} unseen messages", prompt.unseen)];
  if (prompt.cut > 0) counts.push(vscode.l10n.t("{0} of them shortened or left out", prompt.cut));
  const head = vscode.l10n.t(
    "This is what {0} was sent, word for word ({1}; {2}).",
    agent,
    session,
    counts.join(", "),
  );
  return [head, ...prompt.blocks.map(block)].join(`\n\n${"─".repeat(40)}\n\n`) + "\n";
}

function block(content: Record<string, unknown>): string {
  return content["type"] === "text" && typeof content["text"] === "string"
    ? content["text"]
    : JSON.stringify(content, null, 2);
}
