/** A real VS Code (code-server) with the packaged extension installed, in a folder of its own. Ended by its id. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export const EXTENSION = join(import.meta.dirname, "../..");
export const ROOT = join(EXTENSION, "../..");
export const PYTHON = process.env["PYTHON"] ?? join(ROOT, ".venv/bin/python");
const PROGRAM = join(ROOT, ".build/vscode/cs/node_modules/code-server/out/node/entry.js");

const USER_SETTINGS = {
  "chat.disableAIFeatures": true,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.reduceMotion": "on",
  "workbench.secondarySideBar.defaultVisibility": "visible",
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "files.simpleDialog.enable": true,
  "git.enabled": false,
  "files.autoSave": "off", // in a browser it is on, and what is unsaved would not stay so
};

/** Everything that a scene may have left open is closed by one key. */
export const TIDY = "Control+Alt+F9";
const TIDY_BINDING = {
  key: "ctrl+alt+f9",
  command: "runCommands",
  args: {
    commands: [
      "workbench.action.closeQuickOpen",
      "workbench.action.terminal.killAll",
      "workbench.action.closePanel",
      "workbench.action.closeAllEditors",
      "notifications.clearAll",
    ],
  },
};

export class Server {
  readonly folder = mkdtempSync(join(tmpdir(), "sidekicks-vscode-"));
  /** The folder that its windows are opened on; beds put their files there, one after the other. */
  readonly workspace = join(this.folder, "project");
  readonly #process: ChildProcess;
  #stopped = false;
  readonly base: string;

  /** `machine`: the machine's settings, where those belong that start programs. */
  static async start({
    trust = true,
    machine = {},
  }: { trust?: boolean; machine?: object } = {}): Promise<Server> {
    const server = new Server(await freePort(), trust, machine);
    await server.#listening();
    return server;
  }

  private constructor(port: number, trust: boolean, machine: object) {
    this.base = `http://127.0.0.1:${port}`;
    const at = (...names: string[]): string => join(this.folder, ...names);
    for (const name of ["user/User", "user/Machine", "home", "project"])
      mkdirSync(at(name), { recursive: true });
    writeFileSync(at("user/User/settings.json"), JSON.stringify(USER_SETTINGS));
    writeFileSync(at("user/User/keybindings.json"), JSON.stringify([TIDY_BINDING]));
    writeFileSync(at("user/Machine/settings.json"), JSON.stringify(machine));
    writeFileSync(at("cs.yaml"), `auth: none\nbind-addr: 127.0.0.1:${port}\n`);
    const places = [
      "--config",
      at("cs.yaml"),
      "--user-data-dir",
      at("user"),
      "--extensions-dir",
      at("extensions"),
    ];
    const env = this.environment();
    const install = ["--install-extension", join(EXTENSION, "sidekicks.vsix")];
    execFileSync(process.execPath, [PROGRAM, ...places, ...install], { env });
    // Without the grace time a closed window's extension host would stay for three hours.
    const words = ["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"];
    words.push(
      "--disable-proxy",
      "--reconnection-grace-time",
      "1",
      "--vscode-option",
      "enable-smoke-test-driver",
    );
    if (trust) words.push("--disable-workspace-trust");
    const log = openSync(at("cs.log"), "w");
    this.#process = spawn(process.execPath, [PROGRAM, ...places, ...words], {
      env,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
  }

  /** The environment of what is started here: nothing of the developer's own editors and configurations. */
  environment(): NodeJS.ProcessEnv {
    const foreign = /^(SIDEKICKS_|FAKE_AGENT_|VSCODE_|XDG_)/;
    const kept = Object.entries(process.env).filter(([key]) => !foreign.test(key));
    const home = join(this.folder, "home");
    return { ...Object.fromEntries(kept), HOME: home, XDG_CONFIG_HOME: join(home, ".config") };
  }

  /** What the extension logged, with the words of its bridge: a file for each window that was opened. */
  logs(): string[] {
    const all = readdirSync(join(this.folder, "user/logs"), { recursive: true, encoding: "utf8" });
    return all
      .filter((name) => name.endsWith("Sidekicks.log"))
      .map((name) => join(this.folder, "user/logs", name));
  }

  async #listening(): Promise<void> {
    for (let waited = 0; waited < 60_000; waited += 50) {
      const answer = await fetch(`${this.base}/healthz`).catch(() => undefined);
      if (answer?.ok) return;
      if (this.#process.exitCode !== null) break;
      await pause(50);
    }
    const log = readFileSync(join(this.folder, "cs.log"), "utf8");
    throw new Error(`VS Code did not start:\n${log.slice(-2000)}`);
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    if (this.#process.exitCode === null) {
      const ended = new Promise((resolve) => this.#process.once("exit", resolve));
      this.#process.kill();
      await Promise.race([ended, pause(10_000).then(() => this.#process.kill("SIGKILL"))]);
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
