"""Requests about messages, turns and permissions. Each method is one request of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidekicks_bridge.bridge.attachments import keep_pasted
from sidekicks_bridge.bridge.completion import Choice, Suggestion, complete_command, complete_mention
from sidekicks_bridge.paths import same_folder
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.events import DraftChanged
from sidekicks_bridge.protocol.requests import (
    Accepted,
    Attention,
    Completions,
    Empty,
    MessagePage,
    Prompt,
    SearchHits,
    SentMessage,
    WholePart,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.bridge.bridge import Bridge
    from sidekicks_bridge.bridge.client import Client
    from sidekicks_bridge.channels.channel import Channel
    from sidekicks_bridge.protocol import requests as wire
    from sidekicks_bridge.protocol.agent_requests import AnswerElicitation
    from sidekicks_bridge.protocol.routes import Route

PAGE_LIMIT = 500
SEARCH_LIMIT = 200


class MessageRequests:
    """What can be asked about messages."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def send(self, client: Client, params: wire.SendMessage) -> SentMessage:
        """`message/send`."""
        channel = self._bridge.directory.get(params.channel_id)
        self._check_size(params)
        if not params.text.strip() and not params.attachments:
            raise SidekicksError("invalidParams", "The message is empty. Write something to send, or attach a file.")
        delivery = await channel.send(
            params.text,
            await keep_pasted(params.attachments, self._bridge.pasted, self._bridge.ids),
            token=params.client_token,
            folder=client.folder,
            forbidden=_forbidden(channel, client),
        )
        if self._bridge.preferences.draft(channel.id) == params.text:
            self._keep_draft(channel, client, "")  # it was sent: the other composers are empty again, too
        return SentMessage(message_id=delivery.message.id, route=delivery.route)

    def _check_size(self, params: wire.SendMessage) -> None:
        limit = self._bridge.configuration.current.limits.message_bytes
        size = len(params.text.encode("utf-8", "surrogatepass"))
        attached = sum(len((one.text or "").encode("utf-8", "surrogatepass")) for one in params.attachments)
        for what, bytes_ in (("message", size), ("attached text", attached)):
            if bytes_ > limit:
                raise SidekicksError(
                    "tooLarge",
                    f"The {what} has {bytes_:,} bytes; the limit is {limit:,} (limits.messageBytes). "
                    "Attach a file instead, or raise the limit.",
                    {"bytes": bytes_, "limit": limit},
                )

    async def preview(self, client: Client, params: wire.PreviewMessage) -> Route:
        """`message/preview`."""
        channel = self._bridge.directory.get(params.channel_id)
        return await self.preview_in(channel, client, params.text, attached=params.attached)

    async def preview_in(self, channel: Channel, client: Client, text: str, *, attached: bool = False) -> Route:
        """Where ``text`` would go if this client sent it."""
        return await channel.preview(text, _forbidden(channel, client), attached=attached)

    async def page(self, _client: Client, params: wire.ListMessages) -> MessagePage:
        """`message/list`."""
        channel = self._bridge.directory.get(params.channel_id)
        limit = max(1, min(params.limit, PAGE_LIMIT))
        return await channel.page(params.before, params.after, limit)

    async def part(self, _client: Client, params: wire.MessagePart) -> WholePart:
        """`message/part`: nothing shortened, of a message that streams too."""
        for channel in self._bridge.directory.all():
            streaming = channel.streaming(params.message_id)
            if streaming is not None and 0 <= params.part < len(streaming.parts):
                return WholePart(part=streaming.parts[params.part])
        part = await self._bridge.store.part(params.message_id, params.part)
        if part is None:
            raise SidekicksError(
                "messageNotFound",
                f"There is no part {params.part} of a message {params.message_id!r}.",
                {"messageId": params.message_id, "part": params.part},
            )
        return WholePart(part=part)

    async def search(self, _client: Client, params: wire.SearchMessages) -> SearchHits:
        """`message/search`."""
        limit = max(1, min(params.limit, SEARCH_LIMIT))
        hits = await self._bridge.store.search(
            params.query, channel_id=params.channel_id, author=params.author, limit=limit
        )
        return SearchHits(hits=hits)

    async def prompt(self, _client: Client, params: wire.MessageRef) -> Prompt:
        """`message/prompt`."""
        prompt = await self._bridge.store.prompt(params.message_id)
        if prompt is None:
            raise SidekicksError(
                "messageNotFound",
                "For this message no prompt is kept: it is no agent's answer, or it is older than limits.keepPrompts.",
                {"messageId": params.message_id},
            )
        return prompt

    async def complete(self, _client: Client, params: wire.CompleteText) -> Completions:
        """`message/complete`: LSP CompletionItems for a composer that is no LSP document."""
        offset = _code_points(params.text, params.offset)
        channel = self._bridge.directory.get(params.channel_id)
        items = self.suggest(channel, params.text, offset)
        return Completions(items=completion_items(items, lambda at: _position(params.text, at)))

    def suggest(self, channel: Channel | None, text: str, offset: int) -> list[Suggestion]:
        """What completes before ``offset`` (code points): in a channel's composer, or (None) in an ordinary buffer."""
        bridge = self._bridge
        specs = bridge.configuration.current.agents
        members = channel.state.members if channel else {spec.name for spec in specs}
        direct = channel is not None and channel.state.stored.kind == "direct"
        choices = [Choice(spec.name, spec.title, spec.description, spec.name in members) for spec in specs]
        mentions = [] if direct else complete_mention(text, offset, choices)
        if mentions or channel is None:
            return mentions
        commands = {spec.name: bridge.announced.of(spec.name) for spec in specs}
        return complete_command(text, offset, list(members), commands, mentions_count=not direct)

    async def remove(self, _client: Client, params: wire.MessageRef) -> Empty:
        """`message/remove`."""
        for channel in self._bridge.directory.all():
            if params.message_id in channel.state.queued and await channel.remove_queued(params.message_id):
                return Empty()
        raise SidekicksError(
            "messageNotFound",
            "No such message is queued (any more): it was removed, or its first turn has begun.",
            {"messageId": params.message_id},
        )

    async def cancel(self, _client: Client, params: wire.CancelTurn) -> Empty:
        """`turn/cancel`."""
        await self._bridge.directory.get(params.channel_id).cancel(params.turn_id)
        return Empty()

    async def retry(self, client: Client, params: wire.MessageRef) -> Empty:
        """`turn/retry`: the answer's agent is prompted anew with the same message."""
        message = await self._bridge.store.message(params.message_id)
        if message is None:
            raise SidekicksError(
                "messageNotFound", f"There is no message {params.message_id!r}.", {"messageId": params.message_id}
            )
        channel = self._bridge.directory.get(message.channel_id)
        if forbidden := _forbidden(channel, client):
            raise SidekicksError("untrusted", forbidden)
        if message.author.kind == "agent":
            self._bridge.directory.agent_name(message.author.name or "")
        await channel.retry(message, client.folder)
        return Empty()

    async def answer_permission(self, _client: Client, params: wire.AnswerPermission) -> Accepted:
        """`permission/answer`."""
        for channel in self._bridge.directory.all():
            if any(open_.request_id == params.request_id for open_ in channel.open_permissions()):
                return Accepted(accepted=await channel.answer_permission(params.request_id, params.option_id))
        return Accepted(accepted=False)

    async def answer_elicitation(self, _client: Client, params: AnswerElicitation) -> Accepted:
        """`elicitation/answer`."""
        for channel in self._bridge.directory.all():
            if any(asked.request_id == params.request_id for asked in channel.permissions.forms.all()):
                accepted = await channel.answer_elicitation(params.request_id, params.action, params.content)
                return Accepted(accepted=accepted)
        return Accepted(accepted=False)

    async def attention(self, _client: Client, _params: wire.Empty) -> Attention:
        """`attention/list`."""
        return Attention(items=self._bridge.attention())

    async def set_draft(self, client: Client, params: wire.ChannelText) -> Empty:
        """`draft/set`: kept, and shown to the others."""
        self._keep_draft(self._bridge.directory.get(params.channel_id), client, params.text)
        return Empty()

    def _keep_draft(self, channel: Channel, client: Client, text: str) -> None:
        preferences = self._bridge.preferences
        if text != (preferences.draft(channel.id) or ""):
            preferences.set_draft(channel.id, text)
            channel.tell_others(DraftChanged(channel_id=channel.id, text=text), client)


def completion_items(items: list[Suggestion], position: Callable[[int], dict[str, int]]) -> list[dict[str, Any]]:
    """Suggestions as LSP CompletionItems; ``position`` is an offset (code points) as an LSP position.

    Plain dicts: with hundreds of agents, the library's objects would cost more than all the rest.
    """
    positions = {at: position(at) for at in {end for item in items for end in (item.start, item.end)}}
    return [_completion_item(item, {"start": positions[item.start], "end": positions[item.end]}) for item in items]


def _completion_item(item: Suggestion, replaced: dict[str, Any]) -> dict[str, Any]:
    fields = {
        "label": item.label,
        "kind": 23 if item.label.startswith("/") else 18,  # Event, Reference: some editors add () to a Function
        "detail": item.detail,
        "sortText": item.sort_text,
        "filterText": item.filter_text,
        "textEdit": {"range": replaced, "newText": item.label},
    }
    return fields if item.documentation is None else {**fields, "documentation": item.documentation}


def _position(text: str, offset: int) -> dict[str, int]:
    from sidekicks_bridge.channels.routing import utf16_length

    line_start = text.rfind("\n", 0, offset) + 1
    return {"line": text.count("\n", 0, offset), "character": utf16_length(text[line_start:offset])}


def _code_points(text: str, utf16: int) -> int:
    """A UTF-16 offset as a code point offset, clamped to the text."""
    units = 0
    for index, character in enumerate(text):
        if units >= utf16:
            return index
        units += 1 + (character > "\uffff")
    return len(text)


def _forbidden(channel: Channel, client: Client) -> str | None:
    """Why no agent may run for this client's message: its folder is expressly not trusted (design: Handshake)."""
    root = channel.state.stored.root or client.folder
    if client.trusted is False and same_folder(root, client.folder):
        where = root or "of this window"
        return f"The folder {where} is not trusted, so no agent may run there. Trust it in your editor first."
    return None
