/**
 * A bed for tests: a folder of its own with a workspace, a configuration of fake agents and a real VS Code
 * (code-server) that has the packaged extension installed. Starts what it needs, and ends what it started by its id.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  closeSync,
  existsSync,
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
export const BUILD = join(ROOT, ".build/vscode");
export const PYTHON = process.env["PYTHON"] ?? join(ROOT, ".venv/bin/python");
const SERVER = join(BUILD, "cs/node_modules/code-server/out/node/entry.js");

/** A fake agent: its name and further options of `tests.fake_agent`. */
export type Fakes = Record<string, string[]>;

export interface BedOptions {
  agents?: Fakes;
  builtin?: boolean;
  channels?: { name: string; members: string[]; description?: string }[];
  settings?: Record<string, unknown>;
  machine?: Record<string, unknown>;
  trust?: boolean;
  insideHost?: boolean;
  files?: Record<string, string>;
}

export class Bed {
  readonly folder = mkdtempSync(join(tmpdir(), "sidekicks-vscode-"));
  readonly workspace = join(this.folder, "project");
  readonly config = join(this.folder, "sidekicks.yaml");
  readonly gates = join(this.folder, "gates");
  readonly #options: BedOptions;
  #server: ChildProcess | undefined;
  #log = -1;
  base = "";

  constructor(options: BedOptions = {}) {
    this.#options = options;
    for (const made of [
      this.workspace,
      this.gates,
      join(this.folder, "user/User"),
      join(this.folder, "user/Machine"),
      join(this.folder, "home"),
    ]) {
      mkdirSync(made, { recursive: true });
    }
    for (const [name, text] of Object.entries(options.files ?? {}))
      writeFileSync(join(this.workspace, name), text);
    this.writeConfig();
    this.writeSettings(options.settings ?? {});
  }

  /** The arguments that run the bridge of this working copy. */
  get bridge(): string[] {
    return [PYTHON, join(ROOT, "sidekicks_bridge/__main__.py")];
  }

  writeConfig(): void {
    const { agents = { alice: [], bob: [] }, builtin = false } = this.#options;
    const fakes = Object.entries(agents).map(([name, words]) => ({
      name,
      title: name.slice(0, 1).toUpperCase() + name.slice(1),
      command: PYTHON,
      args: ["-I", "-S", join(ROOT, "tests/fake_agent/__main__.py"), "--name", name, ...words],
      env: { FAKE_AGENT_LOG: join(this.folder, `${name}.jsonl`), FAKE_AGENT_GATES: this.gates },
    }));
    const small = builtin
      ? [
          { name: "scout", title: "Scout", icon: "🔭", builtin: "scout" },
          { name: "scribe", title: "Scribe", icon: "📝", builtin: "scribe" },
        ]
      : [];
    const members = [...fakes, ...small].map(({ name }) => name);
    const channels = this.#options.channels ?? [{ name: "general", description: "Everyone", members }];
    writeFileSync(this.config, JSON.stringify({ agents: [...fakes, ...small], channels }, null, 2));
  }

  writeSettings(further: Record<string, unknown>): void {
    const settings = {
      "chat.disableAIFeatures": true,
      "workbench.startupEditor": "none",
      "workbench.tips.enabled": false,
      "telemetry.telemetryLevel": "off",
      "extensions.autoCheckUpdates": false,
      "extensions.autoUpdate": false,
      "extensions.ignoreRecommendations": true,
      "git.enabled": false,
      "workbench.reduceMotion": "on",
      ...further,
    };
    // What belongs to a machine is read from the machine's settings where VS Code runs remotely, as it does here.
    const machine = {
      "sidekicks.bridge.command": this.bridge,
      "sidekicks.bridge.configuration": this.config,
      ...this.#options.machine,
    };
    writeFileSync(join(this.folder, "user/Machine/settings.json"), JSON.stringify(machine));
    writeFileSync(join(this.folder, "user/User/settings.json"), JSON.stringify(settings));
  }

  /** Write a file of the workspace. */
  writeFile(name: string, text: string): void {
    writeFileSync(join(this.workspace, name), text);
  }

  openGate(name: string): void {
    closeSync(openSync(join(this.gates, name), "w"));
  }

  /** What an agent was sent, prompt by prompt. */
  received(agent: string): string {
    const path = join(this.folder, `${agent}.jsonl`);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** Install the package and start VS Code; answers when it listens. */
  async start(): Promise<this> {
    const port = await freePort();
    this.base = `http://127.0.0.1:${port}`;
    const config = join(this.folder, "cs.yaml");
    writeFileSync(config, `auth: none\nbind-addr: 127.0.0.1:${port}\n`);
    const folders = [
      "--config",
      config,
      "--user-data-dir",
      join(this.folder, "user"),
      "--extensions-dir",
      join(this.folder, "extensions"),
    ];
    const env = this.environment();
    execFileSync(
      process.execPath,
      [SERVER, ...folders, "--install-extension", join(EXTENSION, "sidekicks.vsix")],
      { env },
    );
    this.#log = openSync(join(this.folder, "cs.log"), "w");
    const words = [
      "--disable-telemetry",
      "--disable-update-check",
      "--disable-getting-started-override",
      "--disable-proxy",
    ];
    if (this.#options.trust !== false) words.push("--disable-workspace-trust");
    words.push(
      "--reconnection-grace-time",
      "1",
      "--vscode-option",
      "enable-smoke-test-driver",
      "--log",
      "info",
    );
    this.#server = spawn(process.execPath, [SERVER, ...folders, ...words], {
      env,
      stdio: ["ignore", this.#log, this.#log],
    });
    await this.#listening(port);
    return this;
  }

  /** The environment of what is started here: nothing of the developer's own editors and configurations. */
  environment(): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(
      ([key]) => !/^(SIDEKICKS_|FAKE_AGENT_|VSCODE_|XDG_)/.test(key),
    );
    return {
      ...Object.fromEntries(kept),
      HOME: join(this.folder, "home"),
      XDG_CONFIG_HOME: join(this.folder, "home/.config"),
    };
  }

  async #listening(port: number): Promise<void> {
    for (let waited = 0; waited < 30_000; waited += 50) {
      const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
      if (answer?.ok) return;
      if (this.#server?.exitCode !== null) break;
      await pause(50);
    }
    throw new Error(
      `VS Code did not start:\n${readFileSync(join(this.folder, "cs.log"), "utf8").slice(-2000)}`,
    );
  }

  /** Processes of the bridge that this VS Code started, by what they were started with. */
  bridgePids(): number[] {
    const mine: number[] = [];
    for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
        if (words.includes("serve") && words.includes(this.bridge[1] ?? "") && this.#isMine(Number(name)))
          mine.push(Number(name));
      } catch {
        continue; // it has ended
      }
    }
    return mine;
  }

  #isMine(pid: number): boolean {
    return readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .includes(`HOME=${join(this.folder, "home")}`);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server?.exitCode === null) {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill();
      await Promise.race([ended, pause(10_000).then(() => server.kill("SIGKILL"))]);
    }
    if (this.#log >= 0) closeSync(this.#log);
    for (let tries = 0; tries < 100 && this.bridgePids().length > 0; tries++) await pause(50);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
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
