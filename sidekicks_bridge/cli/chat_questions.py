"""The lists of `sidekicks chat`: channels, members, queued messages, and what to do in another folder's channel."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.channel_ref import slug
from sidekicks_bridge.cli.client import BridgeError
from sidekicks_bridge.cli.picker import Item, Question, sure
from sidekicks_bridge.cli.style import BOLD, DIM, ERROR, WARN, Line
from sidekicks_bridge.cli.text import one_line
from sidekicks_bridge.names import name_problem
from sidekicks_bridge.paths import same_folder
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.requests import (
    ChannelAgent,
    CreateChannel,
    DeleteChannel,
    DirectChannel,
    Empty,
    MessageRef,
    UpdateChannel,
)
from sidekicks_bridge.protocol.types import Channel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sidekicks_bridge.cli.channel_ref import UnknownChannel
    from sidekicks_bridge.cli.chat_app import ChatApp


class ChatQuestions:
    """Makes the lists and does what was picked. ``root``: the other folder this channel works in, until decided."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self.root: str | None = None

    def pick_channel(self) -> None:
        """All channels: waiting questions first, then unread ones, then by name; direct conversations; a new one.

        What agents and peers write to each other stands below, under a heading of its own.
        """
        model = self._app.model
        waiting = {asked.channel_id for asked in model.desk.open.values()}

        def rank(channel: Channel) -> tuple[bool, bool, bool, str]:
            return channel.id not in waiting, not channel.unread, channel.kind != "named", slug(channel)

        channels = sorted(model.channels.values(), key=rank)
        items = [self._channel_item(one, one.id in waiting) for one in channels if one.kind != "pair"]
        known = {channel.agent for channel in model.channels.values()}
        items += [self._direct_item(name) for name in model.names.agents if name not in known]
        items += [self._channel_item(one, one.id in waiting) for one in channels if one.kind == "pair"]
        self._app.ask(Question("Go to", items, self._new_item, "type to filter, or a new channel's name · Esc closes"))

    def new_channel(self) -> None:
        """A new channel in this folder, by its name."""
        self._app.ask(Question("New channel", [], self._new_item, "type its name · Enter makes it · Esc closes"))

    def unknown_channel(self, unknown: UnknownChannel) -> Question:
        """What to do about a name that nothing is called: what is called nearly so, a new channel, the others."""
        channels = [channel for channel in self._app.model.channels.values() if channel.kind == "named"]
        items = [self._channel_item(channel, False) for channel in channels if slug(channel) in unknown.near]
        items += [self._direct_item(name[1:]) for name in unknown.near if name.startswith("@")]
        items += [] if name_problem(unknown.name) else [self._new_item(unknown.name)]
        items += [self._channel_item(channel, False) for channel in channels if slug(channel) not in unknown.near]
        return Question("Go to", items, self._new_item)

    def this_channel(self) -> None:
        """Invite, remove, rename, delete."""
        channel = self._app.model.channel
        if channel is None:
            return
        present = [member.name for member in channel.members]
        items = []
        if channel.kind == "named":
            absent = [name for name in self._app.model.names.agents if name not in present]
            items += [self._member_item("invite", channel, name) for name in absent]
            items.append(self._rename_item(channel))
            items += [self._member_item("remove", channel, name) for name in present]
        self._app.ask(Question(f"{slug(channel)}:", [*items, self._delete_item(channel)]))

    def _member_item(self, verb: str, channel: Channel, name: str) -> Item:
        """Invite at once; remove after a question, which says whether the agent is at work here."""
        names = self._app.model.names
        act = self._member(verb, channel.id, name)

        async def ask() -> None:
            answers = any(turn.agent == name and turn.state != "queued" for turn in self._app.model.turns)
            title = f"Remove {names.title(name)} from {slug(channel)}?"
            self._app.ask(sure(title + (" Its answer is cut off." if answers else ""), "yes, remove it", act))

        return Item([("", f"{verb} "), names.span(name)], f"{verb} {name}", ask if verb == "remove" else act)

    def _rename_item(self, channel: Channel) -> Item:
        def to(typed: str) -> Item:
            name = typed.lstrip("#")

            async def rename() -> None:
                asked = UpdateChannel(channel_id=channel.id, name=name)
                await self._app.client.request("sidekicks/channel/update", asked, Channel)

            problem = name_problem(name)
            line: Line = [("", "call it "), (BOLD, f"#{one_line(name, 64)}")] if problem is None else [(WARN, problem)]
            return Item(line, typed, rename if problem is None else None, stays=True)

        async def ask() -> None:
            self._app.ask(Question(f"Rename {slug(channel)}", [], to, "type its new name · Enter renames · Esc closes"))

        return Item([("", "rename it")], "rename", ask)

    def _delete_item(self, channel: Channel) -> Item:
        name = channel.name or channel.agent or slug(channel)

        def confirmed(typed: str) -> Item:
            async def delete() -> None:
                asked = DeleteChannel(channel_id=channel.id, confirm=typed)
                await self._app.client.request("sidekicks/channel/delete", asked, Empty)
                self.pick_channel()

            right = typed.casefold() == name.casefold()
            line: Line = [(ERROR, "delete it for good")] if right else [(DIM, f"that is not {one_line(name)}")]
            return Item(line, typed, delete if right else None, stays=True)

        async def ask() -> None:
            title = f"Delete {slug(channel)} and its history?"
            self._app.ask(Question(title, [], confirmed, f"type {one_line(name)} to confirm · Esc keeps it"))

        return Item([("", "delete it, and its history")], "delete", ask)

    def unqueue(self) -> None:
        """Take back a queued message: the only one at once, else the one that is picked."""
        queued = list(self._app.model.queued.values())
        if len(queued) == 1:
            self._app.do(self._removal(queued[0].id))
        elif queued:
            items = []
            for message in queued:
                text = one_line(" ".join(part.text for part in message.parts if isinstance(part, TextPart)))
                items.append(Item([("", text)], text, self._removal(message.id)))
            self._app.ask(Question("Take back", items))

    def tell_other_root(self) -> None:
        """The channel works in another folder: say so at once (design rule 13). Asked is when something is sent."""
        channel, root = self._app.model.channel, self.root
        if channel is not None and root is not None:
            self._app.model.say(
                f"{slug(channel)} works in {one_line(root)}, not in this folder. "
                "Before your first message is sent you are asked which it shall be."
            )

    def other_root(self) -> None:
        """A message is to be sent where the channel works in another folder: ask, then send it."""
        model, root = self._app.model, self.root
        channel = model.channel
        if channel is None or root is None:
            return
        here, there = one_line(model.folder), one_line(root)
        items = [
            Item([("", "make a channel for this folder  "), (DIM, here)], "make channel", self._make_for_here),
            Item([("", "work there  "), (DIM, there)], "work there", self._work_there),
            Item([("", "make it work here  "), (DIM, "its agents start fresh")], "make it work here", self._work_here),
        ]
        named = [other for other in model.channels.values() if other.kind == "named"]
        fitting = [other for other in named if same_folder(other.root, model.folder)]
        items[:1] = [self._channel_item(other, False, carry=True) for other in fitting] or items[:1]
        items = [replace(item, pick=self._then_send(item.pick)) for item in items]
        self._app.ask(Question(f"{slug(channel)} works in {there}, not here", items))

    def _then_send(self, pick: Callable[[], Awaitable[None]] | None) -> Callable[[], Awaitable[None]]:
        async def go() -> None:
            if pick is not None:
                await pick()
            self._app.send()

        return go

    def _channel_item(self, channel: Channel, waiting: bool, *, carry: bool = False) -> Item:
        line: Line = [("", slug(channel))]
        if waiting:
            line.append((WARN, "  a permission question waits"))
        if channel.unread:
            line.append((BOLD, f"  {channel.unread} unread"))
        if channel.root:
            line.append((DIM, f"  {one_line(channel.root)}"))

        async def go() -> None:
            await self._app.open(channel, carry=carry)

        return Item(line, slug(channel), go, "Agent mail" if channel.kind == "pair" else None)

    def _direct_item(self, agent: str) -> Item:
        async def go() -> None:
            asked = DirectChannel(agent=agent)
            await self._app.open(await self._app.client.request("sidekicks/channel/direct", asked, Channel))

        return Item([("", f"@{one_line(agent, 64)}"), (DIM, "  direct conversation")], f"@{agent}", go)

    def _new_item(self, typed: str) -> Item:
        name = typed.lstrip("#")

        async def make() -> None:
            await self._create(name)

        line: Line = [("", "make the channel "), (BOLD, f"#{one_line(name, 64)}")]
        if (problem := name_problem(name)) is not None:
            return Item([(WARN, problem)], typed, None)
        return Item(line, typed, make, stays=True)

    async def _create(self, name: str) -> None:
        asked = CreateChannel(name=name, root=self._app.model.folder)
        await self._app.open(await self._app.client.request("sidekicks/channel/create", asked, Channel))

    def _member(self, verb: str, channel_id: str, agent: str) -> Callable[[], Awaitable[None]]:
        async def change() -> None:
            asked = ChannelAgent(channel_id=channel_id, agent=agent)
            await self._app.client.request(f"sidekicks/channel/{verb}", asked, Channel)

        return change

    def _removal(self, message_id: str) -> Callable[[], Awaitable[None]]:
        async def remove() -> None:
            await self._app.client.request("sidekicks/message/remove", MessageRef(message_id=message_id), Empty)

        return remove

    async def _work_there(self) -> None:
        self.root = None

    async def _work_here(self) -> None:
        channel = self._app.model.channel
        assert channel is not None
        asked = UpdateChannel(channel_id=channel.id, root=self._app.model.folder)
        await self._app.client.request("sidekicks/channel/update", asked, Channel)
        self.root = None

    async def _make_for_here(self) -> None:
        """A channel named after this folder, with the members of the one on screen."""
        channel, folder = self._app.model.channel, self._app.model.folder
        members = [member.name for member in channel.members if member.kind == "agent"] if channel else []
        name = folder_name(folder)
        for number in range(1, 100):
            asked = CreateChannel(name=name if number == 1 else f"{name}-{number}", members=members, root=folder)
            try:
                made = await self._app.client.request("sidekicks/channel/create", asked, Channel)
            except BridgeError as refused:
                if refused.code == "channelExists":
                    continue
                raise
            await self._app.open(made, carry=True)
            return


def folder_name(folder: str) -> str:
    """A good channel name after a folder's."""
    name = re.sub(r"[^A-Za-z0-9._-]+|-{2,}", "-", PurePath(folder).name)[:60].strip(".-_")
    return name if name_problem(name) is None else f"project-{name}".strip("-") if name else "project"
