/** The list beside the chat: what waits, channels, direct messages, agents. Renders the overview; changes nothing. */
import * as vscode from "vscode";
import type { Bridge } from "./bridge.ts";
import type { OverviewStore } from "./overview-store.ts";
import { ATTENTION_ICONS, slugOf, titleOf } from "./overview.ts";
import type { Agent, AttentionItem, Channel } from "./protocol.gen.ts";

type Section = { kind: "section"; id: "attention" | "channels" | "direct" | "mail" | "agents" };
export type Node =
  | Section
  | { kind: "attention"; item: AttentionItem }
  | { kind: "channel"; channel: Channel }
  | { kind: "agent"; agent: Agent };

const SECTION_OF = { named: "channels", direct: "direct", pair: "mail" } as const;
const SCHEME = "sidekicks-channel";

export class Tree implements vscode.TreeDataProvider<Node>, vscode.FileDecorationProvider, vscode.Disposable {
  readonly #bridge: Bridge;
  readonly #overview: OverviewStore;
  readonly #changes = new vscode.EventEmitter<undefined>();
  readonly #decorations = new vscode.EventEmitter<undefined>();
  readonly #disposables: vscode.Disposable[];
  readonly #view: vscode.TreeView<Node>;
  #attention: AttentionItem[] = [];
  #shown: unknown[] = [];
  readonly onDidChangeTreeData = this.#changes.event;
  readonly onDidChangeFileDecorations = this.#decorations.event;

  constructor(bridge: Bridge, overview: OverviewStore) {
    this.#bridge = bridge;
    this.#overview = overview;
    this.#view = vscode.window.createTreeView("sidekicks.channels", { treeDataProvider: this });
    this.#disposables = [
      this.#changes,
      this.#decorations,
      this.#view,
      overview.onChange(() => void this.#refresh()),
      vscode.window.registerFileDecorationProvider(this),
    ];
  }

  /** Rows are made anew only when what they show changed: a row that is made anew loses a click on it. */
  async #refresh(): Promise<void> {
    const { agents, channels, attention, permissions } = this.#overview.current;
    const shown = [this.#bridge.state, agents, channels, attention, permissions];
    if (shown.every((part, index) => part === this.#shown[index])) return;
    this.#shown = shown;
    this.#view.badge =
      attention > 0
        ? { value: attention, tooltip: vscode.l10n.t("{0} things wait for you", attention) }
        : undefined;
    this.#attention = attention > 0 ? await this.#askAttention() : [];
    this.#changes.fire(undefined);
    this.#decorations.fire(undefined);
  }

  async #askAttention(): Promise<AttentionItem[]> {
    try {
      const { items } = await this.#bridge.request("sidekicks/attention/list", {});
      return items.filter(({ kind }) => kind !== "unread");
    } catch {
      return [];
    }
  }

  getChildren(node?: Node): Node[] {
    const { agents, channels } = this.#overview.current;
    if (!node) return this.#sections();
    if (node.kind !== "section") return [];
    switch (node.id) {
      case "attention":
        return this.#attention.map((item) => ({ kind: "attention", item }));
      case "agents":
        return agents.map((agent) => ({ kind: "agent", agent }));
      default:
        return channels
          .filter(({ kind }) => SECTION_OF[kind] === node.id)
          .toSorted((a, b) => titleOf(a).localeCompare(titleOf(b)))
          .map((channel) => ({ kind: "channel", channel }));
    }
  }

  /** None without an agent or a channel: then the view's welcome is shown. */
  #sections(): Node[] {
    const { agents, channels } = this.#overview.current;
    if (this.#bridge.state !== "ready" || (agents.length === 0 && channels.length === 0)) return [];
    const ids: Section["id"][] = this.#attention.length > 0 ? ["attention"] : [];
    ids.push("channels");
    for (const id of ["direct", "mail"] as const)
      if (channels.some(({ kind }) => SECTION_OF[kind] === id)) ids.push(id);
    if (agents.length > 0) ids.push("agents");
    return ids.map((id) => ({ kind: "section", id }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "section":
        return sectionItem(node.id);
      case "attention":
        return attentionItem(node.item);
      case "channel":
        return channelItem(node.channel, this.#overview.current.agents);
      case "agent":
        return agentItem(node.agent);
    }
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== SCHEME) return undefined;
    const channel = this.#overview.current.channels.find(({ id }) => id === uri.authority.toUpperCase());
    if (!channel || channel.unread === 0) return undefined;
    const badge = channel.unread > 99 ? "99" : `${channel.unread}`;
    return new vscode.FileDecoration(
      badge,
      vscode.l10n.t("{0} unread", channel.unread),
      new vscode.ThemeColor("list.highlightForeground"),
    );
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

function sectionItem(id: Section["id"]): vscode.TreeItem {
  const titles = {
    attention: vscode.l10n.t("Waiting for You"),
    channels: vscode.l10n.t("Channels"),
    direct: vscode.l10n.t("Direct Messages"),
    mail: vscode.l10n.t("Agent Mail"),
    agents: vscode.l10n.t("Agents"),
  };
  const item = new vscode.TreeItem(titles[id], vscode.TreeItemCollapsibleState.Expanded);
  item.id = id;
  item.contextValue = `section ${id}`;
  return item;
}

function attentionItem(attention: AttentionItem): vscode.TreeItem {
  const item = new vscode.TreeItem(attention.text);
  item.iconPath = new vscode.ThemeIcon(ATTENTION_ICONS[attention.kind]);
  item.tooltip = attention.text;
  item.contextValue = "attention";
  item.command = open(attention.channelId);
  return item;
}

function channelItem(channel: Channel, agents: Agent[]): vscode.TreeItem {
  const icons = { named: "symbol-numeric", direct: "comment", pair: "mail" };
  const title = agents.find(({ name }) => name === channel.agent)?.title;
  const item = new vscode.TreeItem(channel.name ?? title ?? titleOf(channel));
  item.id = channel.id;
  item.iconPath = new vscode.ThemeIcon(icons[channel.kind]);
  item.resourceUri = vscode.Uri.from({ scheme: SCHEME, authority: channel.id, path: `/${slugOf(channel)}` });
  item.contextValue = ["channel", channel.kind, ...(channel.unread > 0 ? ["unread"] : [])].join(" ");
  const members = channel.members.map(({ name }) => `@${name}`).join(" ");
  item.tooltip = [titleOf(channel), channel.description, members, channel.root].filter(Boolean).join("\n");
  const unread = channel.unread > 0 ? vscode.l10n.t("{0} unread", channel.unread) : "";
  item.accessibilityInformation = { label: [titleOf(channel), unread].filter(Boolean).join(", ") };
  item.command = open(channel.id);
  return item;
}

function agentItem(agent: Agent): vscode.TreeItem {
  const states = {
    stopped: [vscode.l10n.t("stopped"), "circle-outline"],
    starting: [vscode.l10n.t("starting"), "loading~spin"],
    ready: [vscode.l10n.t("ready"), "circle-filled"],
    busy: [vscode.l10n.t("busy"), "sync~spin"],
    error: [vscode.l10n.t("error"), "error"],
  } as const;
  const [state, icon] = states[agent.state];
  const item = new vscode.TreeItem(agent.title || agent.name);
  item.id = `agent ${agent.name}`;
  item.description =
    agent.title.toLowerCase() === agent.name.toLowerCase() ? state : `@${agent.name} · ${state}`;
  const colour = { ready: "testing.iconPassed", error: "testing.iconFailed" } as Record<string, string>;
  const themed = colour[agent.state];
  item.iconPath = new vscode.ThemeIcon(icon, themed ? new vscode.ThemeColor(themed) : undefined);
  item.contextValue = [
    "agent",
    agent.state === "stopped" || agent.state === "error" ? "stopped" : "running",
    ...((agent.signIn ?? []).length > 0 ? ["signIn"] : []),
    ...(agent.canLogOut === true ? ["signOut"] : []),
  ].join(" ");
  item.tooltip = [agent.description, agent.error].filter(Boolean).join("\n") || `@${agent.name}`;
  item.accessibilityInformation = { label: `${agent.title}, ${state}` };
  item.command = {
    command: "sidekicks.agent.message",
    title: vscode.l10n.t("Message"),
    arguments: [agent.name],
  };
  return item;
}

function open(channelId: string): vscode.Command {
  return { command: "sidekicks.channel.open", title: vscode.l10n.t("Open"), arguments: [channelId] };
}
