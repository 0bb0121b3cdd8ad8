/**
 * The one connection to the bridge: starting, restarting, typed requests, events. Owns the language client; what is
 * said over it is others' business.
 */
import { homedir } from "node:os";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State as ClientState,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import { discover, NotFound, type Found } from "./discovery.ts";
import { unsavedText } from "./documents/unsaved.ts";
import { EVENT_NAMES } from "./events.ts";
import {
  PROTOCOL_VERSION,
  type ClientOptions,
  type Event,
  type Method,
  type Params,
  type Result,
} from "./protocol.gen.ts";

export type BridgeState = "starting" | "ready" | "missing" | "failed";

const RESTARTS = 4;
const RESTARTS_WITHIN = 3 * 60_000;

export class Bridge implements vscode.Disposable {
  readonly #log: vscode.LogOutputChannel;
  readonly #events = new vscode.EventEmitter<Event>();
  readonly #states = new vscode.EventEmitter<BridgeState>();
  #client: LanguageClient | undefined;
  #crashes: number[] = [];
  #starting: Promise<void> | undefined;
  #restarting: Promise<void> | undefined;
  #generation = 0;
  state: BridgeState = "starting";
  found: Found | undefined;
  /** Why the bridge is missing or failed. */
  problem: Error | undefined;
  readonly onEvent = this.#events.event;
  readonly onState = this.#states.event;

  constructor(log: vscode.LogOutputChannel) {
    this.#log = log;
  }

  /** Find and start the bridge; afterwards `state` tells. Never throws. */
  start(): Promise<void> {
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  /** One after the other; what asks while another waits for its turn is served by that one. */
  restart(): Promise<void> {
    this.#restarting ??= this.#restart();
    return this.#restarting;
  }

  async #restart(): Promise<void> {
    await this.#starting;
    await this.#stop();
    this.#restarting = undefined; // from here on a change may come too late for this start
    this.#crashes = [];
    await this.start();
  }

  /** Ask the bridge. Throws what it answers. */
  async request<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    if (!this.#client || this.state !== "ready") throw new Error(vscode.l10n.t("The bridge does not run."));
    return this.#client.sendRequest<Result<M>>(method, params);
  }

  async #start(): Promise<void> {
    this.#set("starting");
    const generation = ++this.#generation;
    try {
      this.found = await discover();
    } catch (problem) {
      this.#fail("missing", problem);
      return;
    }
    if (generation !== this.#generation) return;
    this.#log.info(`Bridge ${this.found.version}: ${this.found.command.join(" ")}`);
    const client = this.#newClient(this.found.command);
    this.#client = client;
    client.onDidChangeState(({ newState }) => this.#clientState(client, newState));
    for (const method of EVENT_NAMES) {
      client.onNotification(method, (params: unknown) => this.#events.fire({ method, params } as Event));
    }
    client.onRequest("sidekicks/document/read", ({ path }: { path: string }) => ({
      text: unsavedText(path),
    }));
    try {
      await client.start();
    } catch (problem) {
      this.#fail("failed", problem);
    }
  }

  #clientState(client: LanguageClient, state: ClientState): void {
    if (client !== this.#client) return;
    if (state === ClientState.Running) this.#set("ready");
    else if (state === ClientState.Starting && this.state !== "starting") this.#set("starting");
  }

  #newClient(command: string[]): LanguageClient {
    const [program = "", ...words] = command;
    const server = { command: program, args: [...words, "serve"], options: { cwd: homedir() } };
    return new LanguageClient("sidekicks", "Sidekicks", server, this.#options());
  }

  #options(): LanguageClientOptions {
    const settings = vscode.workspace.getConfiguration("sidekicks");
    const configPath = settings.get<string>("bridge.configuration", "").replace(/^~(?=\/|$)/, homedir());
    const sidekicks: ClientOptions = {
      protocolVersion: PROTOCOL_VERSION,
      workspaceTrusted: vscode.workspace.isTrusted,
      documentRead: true,
      ...(configPath === "" ? {} : { configPath }),
    };
    const documents = settings.get<boolean>("completion.documents", false)
      ? [{ language: "markdown" }, { language: "plaintext" }]
      : [];
    return {
      documentSelector: [{ language: "sidekicks-compose" }, ...documents],
      initializationOptions: { sidekicks },
      outputChannel: this.#log,
      traceOutputChannel: this.#log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.#closed(),
      },
    };
  }

  /** The bridge ended by itself: start it again, unless it does so again and again. */
  #closed(): { action: CloseAction; handled: true } {
    const now = Date.now();
    this.#crashes = [...this.#crashes.filter((at) => now - at < RESTARTS_WITHIN), now];
    if (this.state !== "ready" || this.#crashes.length > RESTARTS) {
      this.#fail(
        "failed",
        new Error(vscode.l10n.t("The bridge ended unexpectedly. The log has its last words.")),
      );
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    this.#log.warn("The bridge ended; it is started again.");
    this.#set("starting");
    return { action: CloseAction.Restart, handled: true };
  }

  #fail(state: "missing" | "failed", problem: unknown): void {
    const known = this.state === state;
    this.problem = problem instanceof Error ? problem : new Error(String(problem));
    this.#log.error(
      problem instanceof NotFound ? `The bridge was not found.\n${problem.message}` : String(problem),
    );
    if (!known) this.#set(state);
  }

  #set(state: BridgeState): void {
    this.state = state;
    this.#states.fire(state);
  }

  async #stop(): Promise<void> {
    this.#generation++;
    const client = this.#client;
    this.#client = undefined;
    try {
      await client?.dispose();
    } catch (problem) {
      this.#log.warn(`The bridge did not end in order: ${String(problem)}`);
    }
  }

  async end(): Promise<void> {
    await this.#stop();
  }

  dispose(): void {
    this.#events.dispose();
    this.#states.dispose();
  }
}
