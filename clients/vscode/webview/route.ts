/** Where the message that is being typed will go, as a line below it. The bridge decides; this only says it. */
import type { Agent, Route, RouteTarget } from "../src/protocol.gen.ts";
import { button, h, icon } from "./dom.ts";
import { t } from "./l10n.ts";
import { waitingFor } from "./turns.ts";

export function routeLine(
  route: Route,
  agents: Agent[],
  channelNames: Map<string, string>,
  useSuggestion: (suggestion: string) => void,
): Node[] {
  const { problem, notes = [], to } = route;
  if (problem) {
    const line = h("span.problem", {}, icon("warning"), h("span", {}, problem.text));
    const { suggestion } = problem;
    if (suggestion === undefined) return [line];
    return [line, button(t("Use {0}", suggestion), () => useSuggestion(suggestion), "link")];
  }
  const title = (name: string): string => agents.find((agent) => agent.name === name)?.title ?? name;
  const names = to.map((target, index) => {
    const name = target.invited ? t("{0} (will be invited)", title(target.agent)) : title(target.agent);
    return index === 0 ? name : t("then {0}", name);
  });
  const facts = [
    ...to.flatMap((target) => about(target, title(target.agent), channelNames)),
    ...notes.map(({ text }) => text),
  ];
  const arrow = h("span.route-to", {}, icon("arrow-right"), h("span", {}, names.join(", ")));
  return facts.length === 0 ? [arrow] : [arrow, h("span.route-facts", {}, facts.join(" · "))];
}

function about(target: RouteTarget, title: string, channelNames: Map<string, string>): string[] {
  const facts: string[] = [];
  if (target.command !== undefined) facts.push(t("{0} gets {1} alone", title, target.command));
  else if (target.cut > 0) facts.push(t("{0} reads {1} unseen ({2} cut)", title, target.unseen, target.cut));
  else if (target.unseen > 0) facts.push(t("{0} reads {1} unseen", title, target.unseen));
  if (target.waitsFor) facts.push(waitingFor(target.waitsFor, channelNames));
  return facts;
}
