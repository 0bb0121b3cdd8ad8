/** Making, changing, opening and leaving channels. Each command is one request of the bridge. */
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { App, Commands } from "../app.ts";
import { slugOf, titleOf } from "../overview.ts";
import { agentOf, channelOf, pickChannel, type Given } from "./pick.ts";

export function channelCommands(app: App): Commands {
  const { bridge, chat } = app;
  return {
    "channel.open": async (given?: Given) => {
      const channel = given === undefined ? await pickChannel(app) : await channelOf(app, given);
      if (channel) await chat.show(channel.id);
    },
    ...memberCommands(app),
    "channel.create": () => create(app),
    "channel.rename": async (given?: Given) => {
      const channel = await channelOf(app, given, "named");
      if (!channel) return;
      const name = await askName(vscode.l10n.t("The new name of {0}", titleOf(channel)), channel.name);
      if (name) await bridge.request("sidekicks/channel/update", { channelId: channel.id, name });
    },
    "channel.describe": async (given?: Given) => {
      const channel = await channelOf(app, given, "named");
      if (!channel) return;
      const prompt = vscode.l10n.t("What is {0} about?", titleOf(channel));
      const description = await vscode.window.showInputBox({ prompt, value: channel.description });
      if (description !== undefined) {
        await bridge.request("sidekicks/channel/update", { channelId: channel.id, description });
      }
    },
    "channel.delete": async (given?: Given) => remove(app, given),
    "channel.markRead": async (given?: Given) => {
      const channel = await channelOf(app, given);
      if (channel) {
        await bridge.request("sidekicks/channel/markRead", {
          channelId: channel.id,
          seq: Number.MAX_SAFE_INTEGER,
        });
      }
    },
    "channel.moveHere": async (given?: Given) => moveHere(app, given),
    "channel.export": async (given?: Given) => exportTo(app, given),
    "channel.next": () => step(app, 1),
    "channel.previous": () => step(app, -1),
    "agent.message": async (given?: Given) => {
      const agent = await agentOf(app, given, vscode.l10n.t("Whom do you want to write to?"));
      if (!agent) return;
      const channel = await bridge.request("sidekicks/channel/direct", { agent: agent.name });
      await chat.show(channel.id);
    },
  };
}

function memberCommands(app: App): Commands {
  const { bridge } = app;
  return {
    "channel.invite": async (given?: Given) => {
      const channel = await channelOf(app, given, "named");
      if (!channel) return;
      const inside = channel.members.map(({ name }) => name);
      const placeHolder = vscode.l10n.t("Who joins {0}?", titleOf(channel));
      const agent = await agentOf(app, undefined, placeHolder, ({ name }) => !inside.includes(name));
      if (agent)
        await bridge.request("sidekicks/channel/invite", { channelId: channel.id, agent: agent.name });
    },
    "channel.remove": async (given?: Given) => {
      const channel = await channelOf(app, given, "named");
      if (!channel) return;
      const items = channel.members.filter(({ kind }) => kind === "agent").map(({ name }) => name);
      const agent = await vscode.window.showQuickPick(items, {
        placeHolder: vscode.l10n.t("Who leaves {0}?", titleOf(channel)),
      });
      if (agent) await bridge.request("sidekicks/channel/remove", { channelId: channel.id, agent });
    },
  };
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A channel's name; what the bridge would refuse is said while it is typed. */
async function askName(prompt: string, value?: string): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    prompt,
    value,
    validateInput: (text) =>
      text === "" || NAME.test(text.replace(/^#/, ""))
        ? undefined
        : vscode.l10n.t("Letters, digits, “.”, “_” and “-”, beginning with a letter or a digit; at most 64."),
  });
  return name?.replace(/^#/, "") || undefined;
}

async function create(app: App): Promise<void> {
  const name = await askName(vscode.l10n.t("The name of the new channel"));
  if (!name) return;
  const items = app.overview.current.agents.map((agent) => ({
    label: agent.title,
    description: `@${agent.name}`,
    detail: agent.description,
    picked: app.overview.current.agents.length <= 2,
    name: agent.name,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    placeHolder: vscode.l10n.t("Who is in #{0}?", name),
  });
  if (!chosen) return;
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const channel = await app.bridge.request("sidekicks/channel/create", {
    name,
    members: chosen.map((item) => item.name),
    ...(root === undefined ? {} : { root }),
  });
  await app.chat.show(channel.id);
}

/** Deleting takes the history along, so the name is typed, not clicked. */
async function remove(app: App, given: Given): Promise<void> {
  const channel = await channelOf(app, given);
  if (!channel) return;
  const name = channel.name ?? channel.agent ?? slugOf(channel);
  const confirm = await vscode.window.showInputBox({
    prompt: vscode.l10n.t(
      "{0} and its whole history are deleted. Type “{1}” to delete them.",
      titleOf(channel),
      name,
    ),
    placeHolder: name,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text === "" || text === name ? undefined : vscode.l10n.t("Type exactly “{0}”.", name),
  });
  if (confirm !== name) return;
  await app.bridge.request("sidekicks/channel/delete", { channelId: channel.id, confirm });
  if (app.chat.conversation.channelId === channel.id) app.chat.conversation.leave();
}

async function moveHere(app: App, given: Given): Promise<void> {
  const channel = await channelOf(app, given);
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!channel || !root) return;
  await app.bridge.request("sidekicks/channel/update", { channelId: channel.id, root });
  if (app.chat.conversation.channelId === channel.id) await app.chat.conversation.open(channel.id);
}

async function exportTo(app: App, given: Given): Promise<void> {
  const channel = await channelOf(app, given);
  if (!channel) return;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
  const target = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.file(join(folder, `${slugOf(channel).replace(/^@/, "")}.md`)),
    filters: { Markdown: ["md"], [vscode.l10n.t("JSON lines")]: ["jsonl"] },
    saveLabel: vscode.l10n.t("Export"),
  });
  if (!target) return;
  const format = target.fsPath.endsWith(".jsonl") ? "json" : "markdown";
  const { messages } = await app.bridge.request("sidekicks/channel/export", {
    channelId: channel.id,
    path: target.fsPath,
    format,
  });
  const show = vscode.l10n.t("Open");
  const text = vscode.l10n.t("{0} messages of {1} were written.", messages, titleOf(channel));
  if ((await vscode.window.showInformationMessage(text, show)) === show)
    await vscode.window.showTextDocument(target);
}

/** The next or previous channel of the list. */
async function step(app: App, by: 1 | -1): Promise<void> {
  const { channels } = app.overview.current;
  const byTitle = channels.toSorted((a, b) => titleOf(a).localeCompare(titleOf(b)));
  const at = byTitle.findIndex(({ id }) => id === app.chat.conversation.channelId);
  const next = byTitle[(at + by + byTitle.length) % byTitle.length];
  if (next) await app.chat.show(next.id, false); // the focus stays, so that the key can be pressed again
}
