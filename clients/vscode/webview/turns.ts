/** Whose turn it is and why others wait, as sentences. */
import type { Turn, WaitsFor } from "../src/protocol.gen.ts";
import { t } from "./l10n.ts";

export function waitingFor(
  { reason, channelId, agent }: WaitsFor,
  channelNames: Map<string, string>,
): string {
  if (reason === "channel") return t("an earlier answer comes first");
  if (reason === "noSlot") return t("as many agents run as may");
  const where = channelId === undefined ? undefined : channelNames.get(channelId);
  if (where === undefined) return t("{0} is busy in another channel", agent ?? t("the agent"));
  return t("{0} is busy in {1}", agent ?? t("the agent"), where);
}

export function doing(turn: Turn, title: string, channelNames: Map<string, string>): string {
  switch (turn.state) {
    case "queued":
      return turn.waitsFor
        ? t("{0} waits: {1}", title, waitingFor(turn.waitsFor, channelNames))
        : t("{0} is next", title);
    case "starting":
      return turn.waitsFor
        ? t("{0} waits: {1}", title, waitingFor(turn.waitsFor, channelNames))
        : t("{0} is starting", title);
    case "thinking":
      return t("{0} is thinking", title);
    case "tool":
      return t("{0} is working", title);
    case "writing":
      return t("{0} is writing", title);
    case "awaitingPermission":
      return t("{0} waits for your permission", title);
    case "cancelling":
      return t("{0} is stopping", title);
  }
}
