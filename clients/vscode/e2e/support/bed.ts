/**
 * What a test's window stands on: files in VS Code's workspace, its settings, and a configuration of fake agents that is
 * its alone. Many beds share one VS Code, one after the other; they are gone with it.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PYTHON, ROOT, type Server } from "./server.ts";

export interface BedOptions {
  /** Fake agents: name → further options of `tests.fake_agent`. */
  agents?: Record<string, string[]>;
  /** The two agents that come with the bridge, too. */
  builtin?: boolean;
  channels?: { name: string; members: string[]; description?: string }[];
  /** Further keys of the configuration. */
  config?: Record<string, unknown>;
  /** Further settings of the workspace. */
  settings?: Record<string, unknown>;
  /** Files of the workspace: name → text. */
  files?: Record<string, string>;
  /** The bridge can lose answers (`loseNextAnswer`). */
  losing?: boolean;
  /** Channels that have a history already: name → how many messages of alice's. */
  history?: Record<string, number>;
}

/** The command that runs the bridge of this working copy. */
export const BRIDGE = [PYTHON, join(ROOT, "sidekicks_bridge/__main__.py")];

const LOSING = [process.execPath, join(import.meta.dirname, "losing.ts")];

export class Bed {
  readonly folder: string;
  readonly workspace: string;
  readonly config: string;
  readonly #gates: string;
  readonly #settings: Record<string, unknown>;
  readonly server: Server;

  /** `workspace`: another folder than the one that all beds share. */
  constructor(server: Server, options: BedOptions = {}, workspace = server.workspace) {
    this.server = server;
    this.folder = mkdtempSync(join(server.folder, "bed-"));
    this.workspace = workspace;
    this.config = join(this.folder, "sidekicks.yaml");
    this.#gates = join(this.folder, "gates");
    mkdirSync(this.#gates);
    mkdirSync(workspace, { recursive: true });
    for (const name of readdirSync(this.workspace)) {
      if (name !== ".vscode") rmSync(join(this.workspace, name), { recursive: true });
    }
    for (const [name, text] of Object.entries(options.files ?? {})) this.writeFile(name, text);
    this.writeConfig(JSON.stringify(this.#configuration(options), null, 2));
    this.#settings = {
      "sidekicks.bridge.command": options.losing ? [...LOSING, join(this.folder, "lose"), ...BRIDGE] : BRIDGE,
      "sidekicks.bridge.configuration": this.config,
      ...options.settings,
    };
    this.writeSettings();
    if (options.history) this.#fill(options.history);
  }

  #fill(history: Record<string, number>): void {
    const counts = Object.entries(history).map(([name, count]) => `${name}=${count}`);
    const words = ["-m", "scripts.bench.fill", this.config, this.workspace, ...counts];
    execFileSync(PYTHON, words, { cwd: ROOT, env: this.server.environment() });
  }

  #configuration({ agents, builtin, channels, config }: BedOptions): object {
    const fakes = Object.entries(agents ?? { alice: [], bob: [] }).map(([name, words]) => ({
      name,
      title: name.slice(0, 1).toUpperCase() + name.slice(1),
      command: PYTHON,
      args: ["-I", "-S", join(ROOT, "tests/fake_agent/__main__.py"), "--name", name, ...words],
      env: {
        FAKE_AGENT_LOG: this.#log(name),
        FAKE_AGENT_GATES: this.#gates,
        FAKE_AGENT_CREDENTIALS: join(this.folder, `${name}.credentials`),
      },
    }));
    const small = [
      { name: "scout", title: "Scout", icon: "🔭", builtin: "scout" },
      { name: "scribe", title: "Scribe", icon: "📝", builtin: "scribe" },
    ];
    const all = [...fakes, ...(builtin ? small : [])];
    const general = { name: "general", description: "Everyone", members: all.map(({ name }) => name) };
    return { agents: all, channels: channels ?? [general], ...config };
  }

  /** The workspace's settings, with these besides; VS Code takes a change at once. */
  writeSettings(further?: Record<string, unknown>, folder = this.workspace): void {
    mkdirSync(join(folder, ".vscode"), { recursive: true });
    const text = JSON.stringify({ ...this.#settings, ...further }, null, 2);
    replaceFile(join(folder, ".vscode/settings.json"), text);
  }

  /** The configuration as it is from now on. */
  writeConfig(text: string): void {
    replaceFile(this.config, text);
  }

  writeFile(name: string, text: string): void {
    const path = join(this.workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  openGate(name: string): void {
    closeSync(openSync(join(this.#gates, name), "w"));
  }

  /** The next message that is sent is taken; then the window's bridge dies, without a word about it. */
  loseNextAnswer(): void {
    closeSync(openSync(join(this.folder, "lose"), "w"));
  }

  /** What an agent was sent, as its log has it. */
  received(agent: string): string {
    return existsSync(this.#log(agent)) ? readFileSync(this.#log(agent), "utf8") : "";
  }

  #log(agent: string): string {
    return join(this.folder, `${agent}.jsonl`);
  }

  /** Run the `sidekicks` command line on this bed's bridge; answers what it prints. */
  sidekicks(...words: string[]): string {
    const [program, ...rest] = [...BRIDGE, ...words, "--config", this.config];
    const env = this.server.environment();
    return execFileSync(program, rest, { cwd: this.workspace, env, encoding: "utf8" });
  }

  /** The process that owns the bridge; 0: none answers. */
  owner(): number {
    try {
      return (JSON.parse(this.sidekicks("status", "--json")) as { pid?: number }).pid ?? 0;
    } catch {
      return 0;
    }
  }
}

/** As a whole: who watches a file never reads half of it. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
