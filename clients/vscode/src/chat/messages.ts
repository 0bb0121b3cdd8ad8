/** What the extension and its chat view say to each other. Both import this; it imports the protocol alone. */
import type {
  Agent,
  Attachment,
  Channel,
  Elicitation,
  Event,
  Methods,
  OpenedChannel,
  SignIn,
  StorageState,
} from "../protocol.gen.ts";

/** Requests of the bridge that the view may make itself; anything else is refused. */
export const VIEW_METHODS = [
  "sidekicks/message/send",
  "sidekicks/message/preview",
  "sidekicks/message/list",
  "sidekicks/message/complete",
  "sidekicks/message/remove",
  "sidekicks/turn/cancel",
  "sidekicks/turn/retry",
  "sidekicks/permission/answer",
  "sidekicks/elicitation/answer",
  "sidekicks/channel/prepare",
  "sidekicks/draft/set",
] as const satisfies (keyof Methods)[];
export type ViewMethod = (typeof VIEW_METHODS)[number];

/** What the view shows around the conversation. */
export interface Surroundings {
  bridge: "starting" | "ready" | "missing" | "failed";
  agents: Agent[];
  channels: Pick<Channel, "id" | "kind" | "name" | "agent" | "peers">[];
  elicitations: Elicitation[];
  signIns: SignIn[];
  storage: StorageState;
  folder?: string;
  trusted: boolean;
}

/** How the user decides about a channel that works in another folder. */
export type RootChoice = "stay" | "move" | "create";

export type ToView =
  | { type: "surroundings"; surroundings: Surroundings; strings?: Record<string, string> }
  | { type: "open"; opened: OpenedChannel }
  | { type: "closed" }
  | { type: "events"; events: Event[] }
  | { type: "answer"; id: number; result: unknown }
  | { type: "refusal"; id: number; message: string }
  | { type: "attach"; attachments: Attachment[] }
  | { type: "reveal"; channelId: string; messageId: string; seq?: number }
  | { type: "focus" };

export type FromView =
  | { type: "ready" }
  | { type: "focused"; focused: boolean }
  | { type: "request"; id: number; method: ViewMethod; params: unknown }
  | { type: "read"; channelId: string; seq: number }
  | { type: "reopen" }
  | { type: "openDiff"; messageId: string; part: number; content: number }
  | { type: "openPermissionDiff"; requestId: string; content: number }
  | { type: "openFile"; path: string; line?: number }
  | { type: "openLink"; href: string }
  | { type: "showPart"; messageId: string; part: number }
  | { type: "showText"; title: string; text: string; language?: string }
  | { type: "showPrompt"; messageId: string; agent: string }
  | { type: "copy"; text: string }
  | { type: "insert"; text: string }
  | { type: "dropped"; uris: string[] }
  | { type: "root"; choice: RootChoice }
  | { type: "signIn"; agent: string; methodId: string }
  | { type: "command"; command: ViewCommand; argument?: string };

/** Commands of the extension that buttons of the view run. */
export const VIEW_COMMANDS = [
  "sidekicks.attach.pick",
  "sidekicks.session.configure",
  "sidekicks.bridge.restart",
  "sidekicks.bridge.log",
  "sidekicks.bridge.install",
  "sidekicks.agent.log",
  "sidekicks.agent.restart",
  "sidekicks.configuration.open",
  "sidekicks.channel.create",
  "sidekicks.channel.open",
  "sidekicks.channel.invite",
  "workbench.trust.manage",
] as const;
export type ViewCommand = (typeof VIEW_COMMANDS)[number];
