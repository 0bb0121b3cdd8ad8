/**
 * The law of the protocol: snapshot + later events = later snapshot. A port, line by line, of
 * `sidekicks_bridge/protocol/reducer.py`; `schema/fixtures` is replayed by both.
 *
 * Pure: nothing given is changed, and what an event does not concern keeps its identity, so that the views can
 * compare by it. Knows nothing of VS Code or of a browser.
 */
import type {
  Channel,
  ConfigChanged,
  Event,
  Events,
  Member,
  Message,
  MessageDelta,
  OpenedChannel,
  Part,
} from "./protocol.gen.ts";

export type Snapshot = OpenedChannel;

type Handlers = { [E in keyof Events]?: (snapshot: Snapshot, params: Events[E]) => Snapshot };

/** The snapshot after `event`; the same object when the event does not concern it. */
export function reduce(snapshot: Snapshot, event: Event): Snapshot {
  const handler = HANDLERS[event.method] as ((snapshot: Snapshot, params: unknown) => Snapshot) | undefined;
  if (handler === undefined) return snapshot;
  const params = event.params;
  if ("channelId" in params && params.channelId !== snapshot.channel.id) return snapshot;
  return handler(snapshot, params);
}

/** Where a message stands: with a seq, by seq; then streaming; then queued; each by id. */
export function compare(a: Message, b: Message): number {
  return rank(a) - rank(b) || (a.seq ?? 0) - (b.seq ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function rank(message: Message): number {
  return message.seq !== undefined ? 0 : message.state === "queued" ? 2 : 1;
}

function messageUpdated(snapshot: Snapshot, { message }: Events["sidekicks/message/updated"]): Snapshot {
  const others = snapshot.messages.filter((known) => known.id !== message.id);
  if (others.length === snapshot.messages.length && isOlder(snapshot, message)) return snapshot;
  return { ...snapshot, messages: [...others, message].sort(compare) };
}

/** Whether a message lies before those that were asked for: taking it in would leave a gap. */
function isOlder(snapshot: Snapshot, message: Message): boolean {
  const first = snapshot.messages[0];
  return snapshot.hasMore && message.seq !== undefined && first?.seq !== undefined && message.seq < first.seq;
}

function messageDelta(snapshot: Snapshot, params: MessageDelta): Snapshot {
  const messages = snapshot.messages.map((message) =>
    message.id === params.messageId ? { ...message, parts: withDelta(message.parts, params) } : message,
  );
  return { ...snapshot, messages };
}

/** A value sets the part; a text is appended to it. A part right behind the last one begins; a gap is ignored. */
function withDelta(parts: Part[], delta: MessageDelta): Part[] {
  const index = delta.part;
  if (index < 0 || index > parts.length) return parts;
  if (delta.value !== undefined) return [...parts.slice(0, index), delta.value, ...parts.slice(index + 1)];
  if (delta.text === undefined) return parts;
  const part = parts[index];
  if (part === undefined) return [...parts, { type: "text", text: delta.text }];
  if (part.type !== "text" && part.type !== "thought") return parts;
  return [...parts.slice(0, index), { ...part, text: part.text + delta.text }, ...parts.slice(index + 1)];
}

function messageRemoved(snapshot: Snapshot, params: Events["sidekicks/message/removed"]): Snapshot {
  return { ...snapshot, messages: snapshot.messages.filter((known) => known.id !== params.messageId) };
}

function turnChanged(snapshot: Snapshot, params: Events["sidekicks/turn/changed"]): Snapshot {
  return { ...snapshot, turns: params.turns };
}

function usageChanged(snapshot: Snapshot, params: Events["sidekicks/usage/changed"]): Snapshot {
  const usage = pick(params, ["used", "size", "cost"]);
  return { ...snapshot, channel: withMember(snapshot.channel, params.agent, { usage }) };
}

function sessionChanged(snapshot: Snapshot, params: Events["sidekicks/session/changed"]): Snapshot {
  return { ...snapshot, channel: withSession(snapshot.channel, params) };
}

/** The channel with a member's session as it is now. */
export function withSession(channel: Channel, params: Events["sidekicks/session/changed"]): Channel {
  const fields = ["modes", "models", "options"] as const;
  return withMember(channel, params.agent, pick(params, fields), fields);
}

/** The channel whose member `agent` lost the fields `dropped`, then got `fields`. */
function withMember(
  channel: Channel,
  agent: string,
  fields: Partial<Member>,
  dropped: readonly (keyof Member)[] = [],
): Channel {
  const members = channel.members.map((member) => {
    if (member.kind !== "agent" || member.name !== agent) return member;
    const kept = Object.entries(member).filter(([key]) => !dropped.includes(key as keyof Member));
    return { ...(Object.fromEntries(kept) as unknown as Member), ...fields };
  });
  return { ...channel, members };
}

function pick<T extends object, K extends keyof T>(record: T, names: readonly K[]): Pick<T, K> {
  const found = names.filter((name) => name in record).map((name) => [name, record[name]] as const);
  return Object.fromEntries(found) as unknown as Pick<T, K>;
}

function permissionRequested(snapshot: Snapshot, params: Events["sidekicks/permission/requested"]): Snapshot {
  return { ...snapshot, permissions: [...permissionsWithout(snapshot, params.requestId), params] };
}

function permissionResolved(snapshot: Snapshot, params: Events["sidekicks/permission/resolved"]): Snapshot {
  return { ...snapshot, permissions: permissionsWithout(snapshot, params.requestId) };
}

function permissionsWithout(snapshot: Snapshot, requestId: string): Snapshot["permissions"] {
  return snapshot.permissions.filter((known) => known.requestId !== requestId);
}

/** The channel's own record; a channel that is gone keeps its last one. */
function channelsChanged(snapshot: Snapshot, params: { channels: Channel[] }): Snapshot {
  const channel = params.channels.find((known) => known.id === snapshot.channel.id);
  return channel === undefined ? snapshot : { ...snapshot, channel };
}

const HANDLERS: Handlers = {
  "sidekicks/message/updated": messageUpdated,
  "sidekicks/message/delta": messageDelta,
  "sidekicks/message/removed": messageRemoved,
  "sidekicks/turn/changed": turnChanged,
  "sidekicks/usage/changed": usageChanged,
  "sidekicks/session/changed": sessionChanged,
  "sidekicks/permission/requested": permissionRequested,
  "sidekicks/permission/resolved": permissionResolved,
  "sidekicks/channels/changed": channelsChanged,
  "sidekicks/config/changed": (snapshot, params: ConfigChanged) => channelsChanged(snapshot, params),
};
