/** A message on screen: who, when, its parts, and below them how it ended and what it touched. */
import type { Agent, Message, Part, ToolCallPart, Turn } from "../src/protocol.gen.ts";
import { change } from "./changes.ts";
import { button, h, icon, iconButton } from "./dom.ts";
import { post, request } from "./host.ts";
import { t, time } from "./l10n.ts";
import { PartView } from "./parts.ts";
import { visible } from "./safe.ts";
import { counts, shortPath } from "./tool.ts";
import { waitingFor } from "./turns.ts";

export interface Around {
  agents: Agent[];
  turns: Turn[];
  channelNames: Map<string, string>;
  useSuggestion: (suggestion: string) => void;
  failed: (error: unknown) => void;
}

export class MessageView {
  readonly element = h("article.message");
  readonly #head = h("header.message-head");
  readonly #body = h("div.message-body");
  readonly #foot = h("footer.message-foot");
  readonly #parts: PartView[] = [];
  #around: Around;
  message: Message | undefined;

  constructor(around: Around) {
    this.#around = around;
    this.element.append(this.#head, this.#body, this.#foot);
  }

  update(message: Message, around: Around): void {
    const before = this.message;
    const waits = message.state === "queued" && around.turns !== this.#around.turns;
    if (message === before && around.agents === this.#around.agents && !waits) return;
    this.#around = around;
    this.message = message;
    this.element.dataset["id"] = message.id;
    this.element.className = `message by-${message.author.kind} ${message.state}`;
    this.element.setAttribute("aria-busy", String(message.state === "streaming"));
    if (
      before?.state !== message.state ||
      before.turn !== message.turn ||
      around.agents !== this.#around.agents
    ) {
      this.#drawHead(message);
    }
    this.#drawParts(message);
    if (message.state !== "streaming" || before?.state !== message.state) this.#drawFoot(message);
  }

  #drawHead(message: Message): void {
    const { author } = message;
    this.#head.replaceChildren();
    if (author.kind === "system") return;
    const agent = this.#around.agents.find(({ name }) => name === author.name);
    const name = author.kind === "user" ? t("You") : (agent?.title ?? author.name ?? "");
    const avatar = agent?.icon ?? "";
    this.element.setAttribute("aria-label", name);
    this.#head.append(
      h(
        "span.avatar",
        { "aria-hidden": "true" },
        avatar === "" ? icon(author.kind === "user" ? "account" : "hubot") : avatar,
      ),
      h("span.author", {}, visible(name)),
    );
    if (author.kind === "peer") this.#head.append(h("span.badge", {}, t("by mail")));
    this.#head.append(h("time.time", { datetime: message.createdAt }, time(message.createdAt)));
    const actions = h("span.actions");
    if (author.kind === "agent" && message.state === "finished") {
      const label = t("What did {0} see?", author.name ?? "");
      const show = (): void => post({ type: "showPrompt", messageId: message.id, agent: author.name ?? "" });
      actions.append(iconButton("eye", label, show));
    }
    if (message.state === "finished")
      actions.append(iconButton("copy", t("Copy Message"), () => this.#copy()));
    this.#head.append(actions);
  }

  #drawParts({ id, parts, state }: Message): void {
    const final = state !== "streaming";
    this.#body.hidden = final && parts.every((part) => part.type === "text" && part.text === "");
    parts.forEach((part, index) => {
      let view = this.#parts[index];
      if (!view) {
        view = new PartView((suggestion) => this.#around.useSuggestion(suggestion));
        this.#parts.push(view);
        this.#body.append(view.element);
      }
      view.update(part, final || (index < parts.length - 1 && isText(part)), id, index);
    });
    for (const surplus of this.#parts.splice(parts.length)) surplus.element.remove();
  }

  #drawFoot(message: Message): void {
    this.#foot.replaceChildren();
    const { attachments = [], turn } = message;
    if (attachments.length > 0) {
      const chips = attachments.map(({ uri, title }) =>
        button(visible(title ?? uri), () => post({ type: "openLink", href: uri }), "chip"),
      );
      this.#foot.append(h("div.attachments", {}, ...chips));
    }
    if (message.state === "queued") this.#foot.append(this.#queued(message));
    if (message.state !== "finished" || !turn) return;
    const touched = touchedFiles(message);
    if (touched) this.#foot.append(touched);
    this.#foot.append(...this.#ending(message));
  }

  #queued(message: Message): HTMLElement {
    const turn = this.#around.turns.find(({ inReplyTo }) => inReplyTo === message.id);
    const why = turn?.waitsFor ? waitingFor(turn.waitsFor, this.#around.channelNames) : "";
    const remove = (): void => {
      request("sidekicks/message/remove", { messageId: message.id }).catch(this.#around.failed);
    };
    const text = why === "" ? t("Queued") : t("Queued: {0}", why);
    return h("div.queued-line", {}, icon("clock"), h("span", {}, text), button(t("Remove"), remove, "link"));
  }

  /** How the answer ended, if not simply at its end; what can be done about it. */
  #ending(message: Message): Node[] {
    const { turn } = message;
    const nodes: Node[] = [];
    if (turn?.error) {
      nodes.push(h("div.error", { role: "note" }, icon("error"), h("span", {}, visible(turn.error.message))));
    } else if (turn?.stopReason !== undefined && turn.stopReason !== "end_turn") {
      nodes.push(h("div.stopped", {}, icon("debug-stop"), h("span", {}, stopText(turn.stopReason))));
    }
    if (turn?.stopReason === "failed" || turn?.stopReason === "interrupted") {
      const agent = message.author.name ?? "";
      const retry = (): void => {
        request("sidekicks/turn/retry", { messageId: message.id }).catch(this.#around.failed);
      };
      const log = (): void => post({ type: "command", command: "sidekicks.agent.log", argument: agent });
      nodes.push(
        h(
          "div.ways",
          {},
          button(t("Try Again"), retry, "secondary small"),
          button(t("Show Log"), log, "link"),
        ),
      );
    }
    return nodes;
  }

  #copy(): void {
    const parts = this.message?.parts ?? [];
    post({ type: "copy", text: parts.map((part) => (part.type === "text" ? part.text : "")).join("") });
  }
}

function isText(part: Part): boolean {
  return part.type === "text" || part.type === "thought";
}

function stopText(reason: string): string {
  const texts: Record<string, string> = {
    cancelled: t("Stopped."),
    interrupted: t("Interrupted: the bridge ended before the answer did."),
    max_tokens: t("Stopped: the limit of tokens was reached."),
    max_turn_requests: t("Stopped: the limit of requests in one turn was reached."),
    refusal: t("The agent declined to answer."),
    failed: t("Failed."),
  };
  return texts[reason] ?? reason;
}

/** The files an answer's tool calls changed, each once, with the way to its diff. */
function touchedFiles(message: Message): HTMLElement | undefined {
  const files = new Map<string, { part: number; content: number; added: number; removed: number }>();
  message.parts.forEach((part, index) => {
    if (part.type !== "toolCall" || part.status !== "completed") return;
    for (const [path, at, added, removed] of diffsOf(part)) {
      const known = files.get(path);
      const sum = { added: added + (known?.added ?? 0), removed: removed + (known?.removed ?? 0) };
      files.set(path, { part: index, content: at, ...sum });
    }
  });
  if (files.size === 0) return undefined;
  const rows = [...files].map(([path, { part, content, added, removed }]) => {
    const open = (): void => post({ type: "openDiff", messageId: message.id, part, content });
    return h("li", {}, button(visible(shortPath(path)), open, "link"), counts(added, removed));
  });
  const title = files.size === 1 ? t("1 file changed") : t("{0} files changed", files.size);
  return h("div.touched", {}, h("div.touched-title", {}, icon("diff-multiple"), title), h("ul", {}, ...rows));
}

function diffsOf(part: ToolCallPart): [path: string, content: number, added: number, removed: number][] {
  return part.content.flatMap((content, at) => {
    if (content.type !== "diff") return [];
    const { added, removed } = change(content.oldText, content.newText, 0);
    return [[content.path, at, added, removed] as [string, number, number, number]];
  });
}
