/** A member's session: its mode, model and options, and the sessions that its agent remembers from elsewhere. */
import * as vscode from "vscode";
import type { App, Commands } from "../app.ts";
import { attempt } from "../errors.ts";
import { titleOf } from "../overview.ts";
import type { AgentSession, Channel, Member, Modes, OptionChoice, SessionOption } from "../protocol.gen.ts";
import type { Given } from "./pick.ts";

export function sessionCommands(app: App): Commands {
  return {
    "session.configure": async (given?: Given) => configure(app, given),
    "session.pickUp": async (given?: Given) => pickUp(app, given),
  };
}

/** The conversation on screen and one of the agents in it. */
async function memberHere(app: App, given: Given): Promise<{ channel: Channel; member: Member } | undefined> {
  const shown = app.chat.conversation.channel;
  if (!shown) return undefined;
  const channel = app.overview.current.channels.find(({ id }) => id === shown.id) ?? shown;
  const members = channel.members.filter(({ kind }) => kind === "agent");
  const name = typeof given === "string" ? given : given?.kind === "agent" ? given.agent.name : undefined;
  const named =
    members.find((member) => member.name === name) ?? (members.length === 1 ? members[0] : undefined);
  const items = members.map((member) => ({ label: `@${member.name}`, member }));
  const placeHolder = vscode.l10n.t("Whose?");
  const member = named ?? (await vscode.window.showQuickPick(items, { placeHolder }))?.member;
  return member && { channel, member };
}

type Choice = vscode.QuickPickItem & { apply?: () => Promise<unknown> };

/** Modes, models and options of a member's session, as one list; what is chosen is set. */
async function configure(app: App, given: Given): Promise<void> {
  const here = await memberHere(app, given);
  if (!here) return;
  const { channel, member } = here;
  const choices = choicesOf(app, channel.id, member);
  if (choices.length === 0) {
    const text = vscode.l10n.t(
      "{0} offers no modes or options here. They appear once its session is open.",
      member.name,
    );
    void vscode.window.showInformationMessage(text);
    return;
  }
  const title = `@${member.name}`;
  const chosen = await vscode.window.showQuickPick(choices, { title, matchOnDescription: true });
  await chosen?.apply?.();
}

function choicesOf(app: App, channelId: string, member: Member): Choice[] {
  const to = { channelId, agent: member.name };
  const set = (what: object): Promise<unknown> =>
    app.bridge.request("sidekicks/session/setMode", { ...to, ...what });
  return [
    ...modeChoices(vscode.l10n.t("Mode"), member.modes, (modeId) => set({ modeId })),
    ...modeChoices(vscode.l10n.t("Model"), member.models, (modelId) => set({ modelId })),
    ...(member.options ?? []).flatMap((option) =>
      optionChoices(option, (value) =>
        app.bridge.request("sidekicks/session/setOption", { ...to, optionId: option.id, value }),
      ),
    ),
  ];
}

function heading(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function marked(name: string, current: boolean): string {
  return current ? `$(check) ${name}` : name;
}

function modeChoices(
  title: string,
  modes: Modes | undefined,
  set: (id: string) => Promise<unknown>,
): Choice[] {
  if (!modes || modes.available.length === 0) return [];
  const choices = modes.available.map(({ id, name, description }) => ({
    label: marked(name, id === modes.current),
    detail: description,
    apply: () => set(id),
  }));
  return [heading(title), ...choices];
}

function optionChoices(option: SessionOption, set: (value: string | boolean) => Promise<unknown>): Choice[] {
  const { name, kind, value, description } = option;
  if (kind === "boolean") {
    const on = value === true;
    return [heading(name), { label: marked(name, on), detail: description, apply: () => set(!on) }];
  }
  if (kind === "other") {
    const detail = vscode.l10n.t("Of a kind that cannot be set here.");
    return [heading(name), { label: value === undefined ? name : String(value), detail }];
  }
  return byGroup(option.choices ?? []).flatMap(([group, choices]) => [
    heading(group === undefined ? name : `${name} · ${group}`),
    ...choices.map((one) => ({
      label: marked(one.name, one.value === value),
      detail: one.description,
      apply: () => set(one.value),
    })),
  ]);
}

function byGroup(choices: OptionChoice[]): [string | undefined, OptionChoice[]][] {
  const groups = new Map<string | undefined, OptionChoice[]>();
  for (const choice of choices) groups.set(choice.group, [...(groups.get(choice.group) ?? []), choice]);
  return [...groups];
}

type SessionItem = vscode.QuickPickItem & { session: AgentSession };

/** Go on, in the conversation on screen, with a session that the agent remembers; or have it forget one. */
async function pickUp(app: App, given: Given): Promise<void> {
  const here = await memberHere(app, given);
  if (!here) return;
  const { channel, member } = here;
  const agent = member.name;
  const { sessions } = await app.bridge.request("sidekicks/agent/sessions", { agent });
  if (sessions.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("@{0} remembers no session.", agent));
    return;
  }
  const chosen = await choose(app, agent, sessions);
  if (!chosen) return;
  const { sessionId } = chosen;
  await app.bridge.request("sidekicks/session/pickUp", { channelId: channel.id, agent, sessionId });
  const text = vscode.l10n.t(
    "@{0} goes on with that session in {1}, with the next message.",
    agent,
    titleOf(channel),
  );
  void vscode.window.showInformationMessage(text);
}

function choose(app: App, agent: string, sessions: AgentSession[]): Promise<AgentSession | undefined> {
  const picker = vscode.window.createQuickPick<SessionItem>();
  const forget = { iconPath: new vscode.ThemeIcon("trash"), tooltip: vscode.l10n.t("Forget This Session") };
  picker.title = vscode.l10n.t("Sessions that @{0} remembers", agent);
  picker.matchOnDescription = true;
  picker.ignoreFocusOut = true; // the question before forgetting takes the focus
  picker.items = sessions.map((session) => ({
    label: session.title ?? vscode.l10n.t("Untitled"),
    description: [session.cwd, session.updatedAt].filter(Boolean).join(" · "),
    detail: session.channelId === undefined ? undefined : vscode.l10n.t("In use in a channel"),
    buttons: [forget],
    session,
  }));
  return new Promise((resolve) => {
    picker.onDidTriggerItemButton(({ item }) => {
      const { sessionId } = item.session;
      void attempt(async () => {
        if (!(await mayForget(agent, item.label))) return;
        await app.bridge.request("sidekicks/agent/deleteSession", { agent, sessionId });
        picker.items = picker.items.filter((one) => one !== item);
      });
    });
    picker.onDidAccept(() => {
      resolve(picker.selectedItems[0]?.session);
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
      picker.dispose();
    });
    picker.show();
  });
}

async function mayForget(agent: string, title: string): Promise<boolean> {
  const forget = vscode.l10n.t("Forget");
  const text = vscode.l10n.t("@{0} forgets the session “{1}” for good.", agent, title);
  return (await vscode.window.showWarningMessage(text, { modal: true }, forget)) === forget;
}
