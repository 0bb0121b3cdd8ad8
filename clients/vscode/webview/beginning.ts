/** What stands where no message does yet: what the channel is, or the way to one. */
import { titleOf } from "../src/overview.ts";
import type { Channel } from "../src/protocol.gen.ts";
import { button, h } from "./dom.ts";
import { post } from "./host.ts";
import { t } from "./l10n.ts";

export function beginning(channel: Channel | undefined): HTMLElement {
  if (!channel) {
    const create = (): void => post({ type: "command", command: "sidekicks.channel.create" });
    const open = (): void => post({ type: "command", command: "sidekicks.channel.open" });
    return h(
      "div.nothing",
      {},
      h("p", {}, t("Choose a channel, or make one.")),
      button(t("New Channel"), create),
      button(t("Open Channel"), open, "secondary"),
    );
  }
  const named = channel.kind === "named";
  const names = channel.members.map(({ name }) => `@${name}`).join(", ");
  const facts = [
    named && names !== "" ? t("Here are {0}.", names) : "",
    named ? t("Mention an agent with @; its commands come with /.") : "",
  ];
  return h(
    "div.nothing",
    {},
    h("h2", {}, titleOf(channel)),
    h("p", {}, channel.description ?? ""),
    h("p", {}, facts.filter(Boolean).join(" ")),
  );
}
