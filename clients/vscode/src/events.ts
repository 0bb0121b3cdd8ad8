/** The names of the bridge's notifications, complete by the compiler's word. */
import type { EventName } from "./protocol.gen.ts";

const NAMES: Record<EventName, true> = {
  "sidekicks/message/updated": true,
  "sidekicks/message/delta": true,
  "sidekicks/message/removed": true,
  "sidekicks/turn/changed": true,
  "sidekicks/usage/changed": true,
  "sidekicks/commands/changed": true,
  "sidekicks/session/changed": true,
  "sidekicks/permission/requested": true,
  "sidekicks/permission/resolved": true,
  "sidekicks/channels/changed": true,
  "sidekicks/agent/state": true,
  "sidekicks/agent/log": true,
  "sidekicks/config/changed": true,
  "sidekicks/storage/changed": true,
  "sidekicks/attention/changed": true,
  "sidekicks/bridge/stopping": true,
  "sidekicks/channel/desynced": true,
  "sidekicks/draft/changed": true,
  "sidekicks/elicitation/requested": true,
  "sidekicks/elicitation/resolved": true,
  "sidekicks/auth/required": true,
  "sidekicks/auth/resolved": true,
};

export const EVENT_NAMES = Object.keys(NAMES) as EventName[];
