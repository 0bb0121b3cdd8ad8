/**
 * What a test's windows stand on: a folder with a workspace, its settings, and a configuration of fake agents that is
 * its alone. Many beds share one VS Code.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
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
  /** Channels that have a history already: name → how many messages of alice's. */
  history?: Record<string, number>;
}

/** The command that runs the bridge of this working copy. */
export const BRIDGE = [PYTHON, join(ROOT, "sidekicks_bridge/__main__.py")];

export class Bed {
  readonly folder = mkdtempSync(join(tmpdir(), "sidekicks-bed-"));
  readonly workspace = join(this.folder, "project");
  readonly config = join(this.folder, "sidekicks.yaml");
  readonly #gates = join(this.folder, "gates");
  readonly #settings: Record<string, unknown>;
  readonly server: Server;

  constructor(server: Server, options: BedOptions = {}) {
    this.server = server;
    mkdirSync(this.workspace);
    mkdirSync(this.#gates);
    for (const [name, text] of Object.entries(options.files ?? {})) this.writeFile(name, text);
    writeFileSync(this.config, JSON.stringify(this.#configuration(options), null, 2));
    this.#settings = {
      "sidekicks.bridge.command": BRIDGE,
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
    writeFileSync(join(folder, ".vscode/settings.json"), text);
  }

  writeFile(name: string, text: string): void {
    const path = join(this.workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  openGate(name: string): void {
    closeSync(openSync(join(this.#gates, name), "w"));
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

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
