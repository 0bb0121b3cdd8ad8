/** What one should know before writing: the bridge is away, history is not kept, the channel works in another folder. */
import type { Surroundings } from "../src/chat/messages.ts";
import { button, h, icon } from "./dom.ts";
import { post } from "./host.ts";
import { t } from "./l10n.ts";

export interface BannerState {
  surroundings: Surroundings;
  otherRoot: string | undefined;
  decide: (choice: "stay" | "move" | "create") => void;
  direct: boolean;
}

export function banners({ surroundings, otherRoot, decide, direct }: BannerState): HTMLElement[] {
  const found: HTMLElement[] = [];
  const { bridge, storage, trusted, folder } = surroundings;
  if (bridge === "starting") found.push(banner("loading", t("The bridge is starting…")));
  if (bridge === "missing" || bridge === "failed") {
    const restart = button(
      t("Restart Bridge"),
      () => post({ type: "command", command: "sidekicks.bridge.restart" }),
      "small",
    );
    const log = button(
      t("Show Log"),
      () => post({ type: "command", command: "sidekicks.bridge.log" }),
      "secondary small",
    );
    found.push(banner("warning", t("The bridge does not run. What you type is kept."), restart, log));
  }
  if (!trusted) {
    const manage = button(
      t("Manage Trust"),
      () => post({ type: "command", command: "workbench.trust.manage" }),
      "small",
    );
    found.push(banner("shield", t("This folder is not trusted, so no agent runs in it."), manage));
  }
  if (!storage.persistent)
    found.push(banner("warning", t("This history is not being kept. {0}", storage.reason ?? "")));
  if (otherRoot !== undefined && folder !== undefined) {
    const create = direct ? t("New Conversation Here") : t("New Channel Here");
    const element = banner(
      "folder",
      t("This channel works in {0}, your folder is {1}.", otherRoot, folder),
      button(create, () => decide("create"), "small"),
      button(t("Work There"), () => decide("stay"), "secondary small"),
      button(t("Make It Work Here"), () => decide("move"), "secondary small"),
    );
    element.classList.add("other-root");
    found.push(element);
  }
  return found;
}

function banner(name: string, text: string, ...buttons: HTMLElement[]): HTMLElement {
  const words = h("div.banner-text", {}, icon(name, name === "loading"), h("span", {}, text));
  return h("div.banner", { role: "note" }, words, h("div.ways", {}, ...buttons));
}
