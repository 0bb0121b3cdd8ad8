/** Choosing a channel or an agent: what a tree item, a button or an argument named, else what the user picks. */
import * as vscode from "vscode";
import type { App } from "../app.ts";
import { titleOf } from "../overview.ts";
import type { Agent, Channel } from "../protocol.gen.ts";
import type { Node } from "../tree.ts";

/** What a command may be given: an id or a name, a tree node, or nothing. */
export type Given = string | Node | undefined;

/** The channel given; else the one on screen; else one the user picks. */
export async function channelOf(
  app: App,
  given: Given,
  only?: Channel["kind"],
): Promise<Channel | undefined> {
  const { channels } = app.overview.current;
  if (typeof given === "string") return channels.find(({ id }) => id === given);
  if (given?.kind === "channel") return given.channel;
  const shown = channels.find(({ id }) => id === app.chat.conversation.channelId);
  if (shown && (only === undefined || shown.kind === only)) return shown;
  return pickChannel(app, only);
}

export async function pickChannel(app: App, only?: Channel["kind"]): Promise<Channel | undefined> {
  const channels = app.overview.current.channels.filter(({ kind }) => only === undefined || kind === only);
  const items = channels.map((channel) => ({
    label: titleOf(channel),
    description: channel.unread > 0 ? vscode.l10n.t("{0} unread", channel.unread) : channel.description,
    channel,
  }));
  const placeHolder = vscode.l10n.t("Which channel?");
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.channel;
}

/** The agent given; else one of `among` that the user picks. */
export async function agentOf(
  app: App,
  given: Given,
  placeHolder: string,
  among: (agent: Agent) => boolean = () => true,
): Promise<Agent | undefined> {
  const { agents } = app.overview.current;
  if (typeof given === "string") return agents.find(({ name }) => name === given);
  if (given?.kind === "agent") return given.agent;
  const items = agents.filter(among).map((agent) => ({
    label: agent.title,
    description: `@${agent.name} · ${agent.state}`,
    detail: agent.description,
    agent,
  }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("There is no such agent."));
    return undefined;
  }
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.agent;
}
