/**
 * Everything that is not inside a conversation: agents, channels, open questions, what waits. A pure reducer over the
 * bridge's events to all clients; knows nothing of VS Code.
 */
import type { AttentionItem, Channel, Elicitation, Event, State } from "./protocol.gen.ts";
import { withSession } from "./reducer.ts";

export interface Overview extends State {
  attention: number;
}

export const EMPTY: Overview = {
  agents: [],
  channels: [],
  permissions: [],
  turns: [],
  storage: { persistent: true },
  config: { path: "", problems: [] },
  attention: 0,
};

/** The codicon of each kind of thing that waits. */
export const ATTENTION_ICONS: Record<AttentionItem["kind"], string> = {
  permission: "shield",
  error: "error",
  unread: "circle-filled",
  queued: "clock",
};

/** The overview after `event`; the same object when the event does not concern it. */
export function update(overview: Overview, event: Event): Overview {
  switch (event.method) {
    case "sidekicks/channels/changed":
      return { ...overview, channels: event.params.channels };
    case "sidekicks/session/changed": {
      const { params } = event;
      const channels = overview.channels.map((known) =>
        known.id === params.channelId ? withSession(known, params) : known,
      );
      return { ...overview, channels };
    }
    case "sidekicks/config/changed": {
      const { agents, channels, problems } = event.params;
      return { ...overview, agents, channels, config: { ...overview.config, problems } };
    }
    case "sidekicks/agent/state": {
      const { agent, state, error } = event.params;
      const agents = overview.agents.map((known) =>
        known.name === agent ? { ...known, state, error } : known,
      );
      return { ...overview, agents };
    }
    case "sidekicks/turn/changed": {
      const others = overview.turns.filter((turn) => turn.channelId !== event.params.channelId);
      return { ...overview, turns: [...others, ...event.params.turns] };
    }
    case "sidekicks/permission/requested": {
      const others = overview.permissions.filter((known) => known.requestId !== event.params.requestId);
      return { ...overview, permissions: [...others, event.params] };
    }
    case "sidekicks/permission/resolved": {
      const permissions = overview.permissions.filter((known) => known.requestId !== event.params.requestId);
      return { ...overview, permissions };
    }
    case "sidekicks/elicitation/requested":
      return { ...overview, elicitations: [...without(overview.elicitations, event.params), event.params] };
    case "sidekicks/elicitation/resolved":
      return { ...overview, elicitations: without(overview.elicitations, event.params) };
    case "sidekicks/auth/required": {
      const others = (overview.signIns ?? []).filter(({ agent }) => agent !== event.params.agent);
      return { ...overview, signIns: [...others, event.params] };
    }
    case "sidekicks/auth/resolved": {
      const signIns = (overview.signIns ?? []).filter(({ agent }) => agent !== event.params.agent);
      return { ...overview, signIns };
    }
    case "sidekicks/storage/changed":
      return { ...overview, storage: event.params };
    case "sidekicks/attention/changed":
      return { ...overview, attention: event.params.count };
    default:
      return overview;
  }
}

function without(elicitations: Elicitation[] = [], { requestId }: { requestId: string }): Elicitation[] {
  return elicitations.filter((known) => known.requestId !== requestId);
}

/** What a channel is called: `#general`, `@alice`, `ann – bob`. */
export function titleOf(channel: Pick<Channel, "kind" | "name" | "agent" | "peers">): string {
  if (channel.kind === "named") return `#${channel.name ?? ""}`;
  if (channel.kind === "direct") return `@${channel.agent ?? ""}`;
  return (channel.peers ?? []).join(" – ");
}

/** The name that a `sidekicks:` URI gives a channel. */
export function slugOf(channel: Channel): string {
  if (channel.kind === "named") return channel.name ?? channel.id;
  if (channel.kind === "direct") return `@${channel.agent ?? ""}`;
  return (channel.peers ?? []).join("--");
}
