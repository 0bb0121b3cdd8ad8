/** Finding: messages by their words, and what waits for the user. */
import * as vscode from "vscode";
import type { App, Commands } from "../app.ts";
import { ATTENTION_ICONS, titleOf } from "../overview.ts";
import type { AttentionItem, Permission, SearchHit } from "../protocol.gen.ts";

const TYPING_MILLISECONDS = 150;

export function findCommands(app: App): Commands {
  return {
    search: () => search(app),
    attention: () => attention(app),
    "permission.answer": () => answer(app),
  };
}

type HitItem = vscode.QuickPickItem & { hit: SearchHit };

/** Search as you type, over all channels; choosing a hit opens its channel and shows the message. */
function search(app: App): void {
  const picker = vscode.window.createQuickPick<HitItem>();
  picker.placeholder = vscode.l10n.t("Words that all occur in a message");
  let timer: NodeJS.Timeout | undefined;
  let asked = 0;
  const ask = async (query: string): Promise<void> => {
    const mine = ++asked;
    picker.busy = true;
    try {
      const { hits } = await app.bridge.request("sidekicks/message/search", { query, limit: 50 });
      if (mine === asked) picker.items = hits.map((hit) => hitItem(app, hit));
    } catch {
      picker.items = [];
    }
    picker.busy = false;
  };
  picker.onDidChangeValue((value) => {
    clearTimeout(timer);
    if (value.trim() === "") picker.items = [];
    else timer = setTimeout(() => void ask(value), TYPING_MILLISECONDS);
  });
  picker.onDidAccept(() => {
    const hit = picker.selectedItems[0]?.hit;
    picker.hide();
    if (hit) void showHit(app, hit);
  });
  picker.onDidHide(() => {
    clearTimeout(timer);
    picker.dispose();
  });
  picker.show();
}

function hitItem(app: App, hit: SearchHit): HitItem {
  const channel = app.overview.current.channels.find(({ id }) => id === hit.channelId);
  const author = hit.message.author.name ?? vscode.l10n.t("you");
  const when = new Date(hit.message.createdAt).toLocaleString(vscode.env.language, {
    dateStyle: "short",
    timeStyle: "short",
  });
  return {
    label: hit.snippet.replace(/\s+/g, " ").trim(),
    description: `${channel ? titleOf(channel) : ""} · ${author} · ${when}`,
    alwaysShow: true,
    hit,
  };
}

async function showHit(app: App, { channelId, message }: SearchHit): Promise<void> {
  await app.chat.show(channelId);
  app.chat.post({ type: "reveal", channelId, messageId: message.id, seq: message.seq });
}

/** The one list of what waits, over all channels. */
async function attention(app: App): Promise<void> {
  const { items } = await app.bridge.request("sidekicks/attention/list", {});
  if (items.length === 0) {
    await vscode.window.showInformationMessage(vscode.l10n.t("Nothing waits for you."));
    return;
  }
  const choices = items.map((item: AttentionItem) => ({
    label: `$(${ATTENTION_ICONS[item.kind]}) ${item.text}`,
    item,
  }));
  const chosen = await vscode.window.showQuickPick(choices, {
    placeHolder: vscode.l10n.t("What waits for you"),
  });
  if (chosen) await app.chat.show(chosen.item.channelId);
}

/** Answer the permission that came first, from anywhere by the keyboard. Escape leaves it open. */
async function answer(app: App): Promise<void> {
  const first: Permission | undefined = app.overview.current.permissions[0];
  if (!first) {
    await vscode.window.showInformationMessage(vscode.l10n.t("No agent asks for permission."));
    return;
  }
  const items = first.options.map(({ optionId, name }) => ({ label: name, optionId }));
  const title = vscode.l10n.t("@{0} asks: {1}", first.agent, first.toolCall.title);
  const chosen = await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true });
  if (!chosen) return;
  const { requestId } = first;
  await app.bridge.request("sidekicks/permission/answer", { requestId, optionId: chosen.optionId });
}
