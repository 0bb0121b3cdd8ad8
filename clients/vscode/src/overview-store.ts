/** Keeps the overview current: loaded when the bridge is ready, then by its events. Sets the context keys of it. */
import * as vscode from "vscode";
import type { Bridge } from "./bridge.ts";
import { EMPTY, update, type Overview } from "./overview.ts";

export class OverviewStore implements vscode.Disposable {
  readonly #bridge: Bridge;
  readonly #changes = new vscode.EventEmitter<Overview>();
  readonly #subscriptions: vscode.Disposable[];
  #loading: Promise<Overview> | undefined;
  current: Overview = EMPTY;
  readonly onChange = this.#changes.event;

  constructor(bridge: Bridge) {
    this.#bridge = bridge;
    this.#subscriptions = [
      bridge.onEvent((event) => {
        const after = update(this.current, event);
        if (after === this.current) return;
        const met =
          event.method === "sidekicks/agent/state" && cameUp(this.current, event.params.agent, after);
        this.#set(after);
        if (met) void this.#askAgents();
      }),
      bridge.onState((state) => {
        void vscode.commands.executeCommand("setContext", "sidekicks.state", state);
        if (state === "ready") this.#loading = this.#load().catch(() => this.current);
        else this.#set({ ...this.current, permissions: [], turns: [], attention: 0 });
      }),
    ];
  }

  /** The overview once the bridge's answer is in. */
  async loaded(): Promise<Overview> {
    return (await this.#loading) ?? this.current;
  }

  /** The state last: the events that come after its answer go on from it. */
  async #load(): Promise<Overview> {
    const { items } = await this.#bridge.request("sidekicks/attention/list", {});
    const state = await this.#bridge.request("sidekicks/state/get", {});
    this.#set({ ...state, attention: items.length });
    return this.current;
  }

  /** What an agent offers is known once its process is up: how to sign in and out, whether it takes pictures. */
  async #askAgents(): Promise<void> {
    try {
      const { agents } = await this.#bridge.request("sidekicks/state/get", {});
      this.#set({ ...this.current, agents });
    } catch {
      // the bridge is gone; what it knows is loaded when it is back
    }
  }

  #set(overview: Overview): void {
    this.current = overview;
    void vscode.commands.executeCommand("setContext", "sidekicks.hasAgents", overview.agents.length > 0);
    this.#changes.fire(overview);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changes.dispose();
  }
}

/** Whether an agent's process, down before, is up after. */
function cameUp(before: Overview, agent: string, after: Overview): boolean {
  const up = ({ agents }: Overview): boolean =>
    ["ready", "busy"].includes(agents.find(({ name }) => name === agent)?.state ?? "");
  return !up(before) && up(after);
}
