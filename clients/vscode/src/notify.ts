/**
 * What is said outside the chat: permissions of conversations that are not on screen, in the order they came, one at a
 * time; answers that took long and end unseen; the state of the bridge and of the history.
 */
import * as vscode from "vscode";
import type { App } from "./app.ts";
import { attempt, reportNoBridge } from "./errors.ts";
import { titleOf } from "./overview.ts";
import { commandOf } from "./plain.ts";
import type { Message, Permission } from "./protocol.gen.ts";

export function notifications(app: App): vscode.Disposable {
  const permissions = new PermissionNotices(app);
  let told = true;
  return vscode.Disposable.from(
    permissions,
    questions(app),
    app.chat.conversation.onAnswered((message) => void answered(app, message)),
    app.bridge.onState((state) => {
      if ((state === "missing" || state === "failed") && app.bridge.problem)
        void reportNoBridge(app.bridge.problem);
    }),
    app.overview.onChange(({ storage }) => {
      if (!storage.persistent && told) {
        const why = storage.reason ?? "";
        void vscode.window.showWarningMessage(
          vscode.l10n.t("Sidekicks: this history is not being kept. {0}", why),
        );
      }
      told = storage.persistent;
    }),
  );
}

class PermissionNotices implements vscode.Disposable {
  readonly #app: App;
  readonly #shown = new Set<string>();
  readonly #subscriptions: vscode.Disposable[];
  #asking = false;

  constructor(app: App) {
    this.#app = app;
    const next = (): void => void this.#next();
    this.#subscriptions = [
      app.overview.onChange(next),
      app.chat.onVisibility(next),
      app.chat.conversation.onChange(next),
    ];
  }

  /** Ask about the first that is neither on screen nor asked already. */
  async #next(): Promise<void> {
    if (this.#asking) return;
    const enabled = vscode.workspace
      .getConfiguration("sidekicks")
      .get<boolean>("notifications.permissions", true);
    const { permissions } = this.#app.overview.current;
    const hidden = permissions.find(
      (one) => !this.#shown.has(one.requestId) && !this.#app.chat.shows(one.channelId),
    );
    if (!enabled || !hidden) return;
    this.#asking = true;
    this.#shown.add(hidden.requestId);
    try {
      await attempt(() => this.#ask(hidden));
    } finally {
      this.#asking = false;
    }
    await this.#next();
  }

  /** Closing the notice answers nothing: the question stays where it is asked. It ends with the question, too. */
  async #ask(permission: Permission): Promise<void> {
    const { bridge, overview, chat } = this.#app;
    const channel = overview.current.channels.find(({ id }) => id === permission.channelId);
    const where = channel ? titleOf(channel) : "";
    const asks = vscode.l10n.t("@{0} asks in {1}: {2}", permission.agent, where, describe(permission));
    const text = permission.about === "silence" ? permission.toolCall.title : asks;
    const show = vscode.l10n.t("Show");
    const names = permission.options.map(({ name }) => name);
    const answer = vscode.window.showWarningMessage(text, ...names, show);
    const chosen = await Promise.race([answer, this.#resolved(permission.requestId)]);
    if (chosen === show) await chat.show(permission.channelId);
    const option = permission.options.find(({ name }) => name === chosen);
    if (!option) return;
    const { requestId } = permission;
    const given = { requestId, optionId: option.optionId };
    const { accepted } = await bridge.request("sidekicks/permission/answer", given);
    if (!accepted) void vscode.window.showInformationMessage(vscode.l10n.t("That was answered already."));
  }

  #resolved(requestId: string): Promise<undefined> {
    return new Promise((resolve) => {
      const subscription = this.#app.overview.onChange(({ permissions }) => {
        if (permissions.some((one) => one.requestId === requestId)) return;
        subscription.dispose();
        resolve(undefined);
      });
    });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

/** Forms and sign-ins of conversations that are not on screen: said once, answered there. */
function questions(app: App): vscode.Disposable {
  const told = new WeakSet<object>();
  return app.overview.onChange(({ elicitations = [], signIns = [] }) => {
    const fresh = [...elicitations, ...signIns].filter((one) => !told.has(one));
    for (const one of fresh) {
      told.add(one);
      if (one.channelId === undefined || app.chat.shows(one.channelId)) continue;
      const text =
        "message" in one
          ? vscode.l10n.t("@{0} asks you: {1}", one.agent, one.message)
          : `@${one.agent}: ${one.text}`;
      void attempt(() => offer(app, text, one.channelId));
    }
  });
}

async function offer(app: App, text: string, channelId = ""): Promise<void> {
  const show = vscode.l10n.t("Show");
  if ((await vscode.window.showWarningMessage(text, show)) === show) await app.chat.show(channelId);
}

/** What is asked, with the command or the files it is about. */
function describe({ toolCall }: Permission): string {
  const about =
    commandOf(toolCall.input) ??
    toolCall.locations.map(({ path }) => vscode.workspace.asRelativePath(path)).join(", ");
  return about === "" || toolCall.title.includes(about) ? toolCall.title : `${toolCall.title} (${about})`;
}

/** A long answer that ended while the user was elsewhere. */
async function answered(app: App, message: Message): Promise<void> {
  const least = vscode.workspace.getConfiguration("sidekicks").get<number>("notifications.longTurn", 20);
  const { channel } = app.chat.conversation;
  if (least === 0 || vscode.window.state.focused || app.chat.conversation.took(message) < least * 1000)
    return;
  const failed = message.turn?.error !== undefined;
  const where = channel ? titleOf(channel) : "";
  const text = failed
    ? vscode.l10n.t("@{0} failed in {1}.", message.author.name ?? "", where)
    : vscode.l10n.t("@{0} has answered in {1}.", message.author.name ?? "", where);
  const show = vscode.l10n.t("Show");
  if ((await vscode.window.showInformationMessage(text, show)) === show)
    await app.chat.show(message.channelId);
}
