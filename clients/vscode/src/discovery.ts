/**
 * Finds the program that serves the bridge: the setting, the Python extension's interpreter, `sidekicks` on the PATH,
 * python3. Each is asked for its version before it is taken. Starts nothing that stays.
 */
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import * as vscode from "vscode";

export interface Found {
  command: string[];
  version: string;
}

/** What was tried and what it said, for the log and the error. */
export interface Attempt {
  command: string[];
  problem: string;
}

export class NotFound extends Error {
  readonly attempts: Attempt[];
  readonly configured: boolean;

  constructor(attempts: Attempt[], configured: boolean) {
    const tried = attempts.map(({ command, problem }) => `${command.join(" ")}: ${problem}`);
    super(tried.join("\n"));
    this.attempts = attempts;
    this.configured = configured;
  }
}

const PROBE_MILLISECONDS = 15_000;

/** The first command that answers its version. Throws NotFound. */
export async function discover(): Promise<Found> {
  const configured = configuredCommand();
  const candidates = configured ? [configured] : await usualCommands();
  const attempts: Attempt[] = [];
  for (const command of candidates) {
    const answer = await probe(command);
    if ("version" in answer) return { command, version: answer.version };
    attempts.push({ command, problem: answer.problem });
  }
  throw new NotFound(attempts, configured !== undefined);
}

function configuredCommand(): string[] | undefined {
  const words = vscode.workspace.getConfiguration("sidekicks").get<string[]>("bridge.command", []);
  if (words.length === 0) return undefined;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
  return words.map((word) => word.replaceAll("${workspaceFolder}", folder).replace(/^~(?=\/|$)/, homedir()));
}

async function usualCommands(): Promise<string[][]> {
  // -P: the bridge is never imported from the folder it is started in.
  const module = ["-P", "-m", "sidekicks_bridge"];
  const found: string[][] = [];
  const interpreter = await selectedInterpreter();
  if (interpreter) found.push([interpreter, ...module]);
  const onPath = await which("sidekicks");
  if (onPath) found.push([onPath]);
  for (const name of process.platform === "win32" ? ["py", "python"] : ["python3", "python"]) {
    const python = await which(name);
    if (python) found.push([python, ...module]);
  }
  return found;
}

interface PythonApi {
  environments?: { getActiveEnvironmentPath?: () => { path?: string } };
}

/** What the Python extension has selected; it is neither needed nor, in a folder that is not trusted, asked. */
async function selectedInterpreter(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (!extension || !vscode.workspace.isTrusted) return undefined;
  try {
    const api = extension.isActive ? extension.exports : await extension.activate();
    const path = api.environments?.getActiveEnvironmentPath?.().path;
    return path && isAbsolute(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** A program by name: on the PATH, or where people install and a desktop's short PATH does not reach. */
async function which(name: string): Promise<string | undefined> {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  folders.push(join(homedir(), ".local", "bin"), "/opt/homebrew/bin", "/usr/local/bin");
  const endings = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  for (const path of folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending)))) {
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

function probe(command: string[]): Promise<{ version: string } | { problem: string }> {
  const [program = "", ...words] = command;
  return new Promise((resolve) => {
    const options = { timeout: PROBE_MILLISECONDS, cwd: homedir(), windowsHide: true };
    execFile(program, [...words, "version"], options, (error, stdout, stderr) => {
      const version = /^sidekicks (\d[\w.+!-]*)/.exec(stdout)?.[1];
      if (version !== undefined) resolve({ version });
      else
        resolve({
          problem: lastLine(stderr) ?? error?.message ?? vscode.l10n.t("this is not Sidekicks Bridge"),
        });
    });
  });
}

function lastLine(text: string): string | undefined {
  return text.trim().split("\n").at(-1) || undefined;
}
