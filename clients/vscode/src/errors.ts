/** Errors as people read them, with what they can do about it as buttons. */
import * as vscode from "vscode";
import { ResponseError } from "vscode-languageclient/node";
import { NotFound } from "./discovery.ts";
import { sentence } from "./plain.ts";
import type { ErrorCode, ErrorData } from "./protocol.gen.ts";

/** The code of an error that the bridge answered. */
export function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof ResponseError)) return undefined;
  return (error.data as Partial<ErrorData> | undefined)?.code;
}

/** Say what went wrong; answers when it was dismissed or a button's work is done. */
export async function report(error: unknown): Promise<void> {
  const showLog = vscode.l10n.t("Show Log");
  if ((await vscode.window.showErrorMessage(sentence(error), showLog)) === showLog) {
    await vscode.commands.executeCommand("sidekicks.bridge.log");
  }
}

/** Run what a person asked for; what goes wrong is shown. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    void report(error);
    return undefined;
  }
}

/** The bridge could not be found or started: say so once, and offer the ways out. */
export async function reportNoBridge(error: Error): Promise<void> {
  const [settings, log, install, again] = [
    vscode.l10n.t("Open Settings"),
    vscode.l10n.t("Show Log"),
    vscode.l10n.t("Install"),
    vscode.l10n.t("Try Again"),
  ];
  const missing = error instanceof NotFound;
  const text = !missing
    ? error.message
    : error.configured
      ? vscode.l10n.t(
          "The setting “sidekicks.bridge.command” does not start Sidekicks Bridge: {0}",
          error.message,
        )
      : vscode.l10n.t(
          "Sidekicks Bridge was not found. Install it, or say in the settings how it is started.",
        );
  const chosen = await vscode.window.showErrorMessage(text, settings, log, missing ? install : again);
  if (chosen === settings) {
    await vscode.commands.executeCommand("sidekicks.bridge.settings");
  } else if (chosen === log) await vscode.commands.executeCommand("sidekicks.bridge.log");
  else if (chosen === install) await vscode.commands.executeCommand("sidekicks.bridge.install");
  else if (chosen === again) await vscode.commands.executeCommand("sidekicks.bridge.restart");
}
