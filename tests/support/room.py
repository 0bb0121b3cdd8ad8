"""A test's hold on one channel: what it shows now (by the reducer), and the requests one makes there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support import conditions

if TYPE_CHECKING:
    from tests.support.client import Client

    JSON = dict[str, Any]


class Room:
    """An opened channel. ``snapshot`` is what a client would show now."""

    def __init__(self, client: Client, channel_id: str) -> None:
        self.client = client
        self.id = channel_id
        self.snapshot: JSON = {}

    @property
    def channel(self) -> JSON:
        """The channel's record."""
        record: JSON = self.snapshot["channel"]
        return record

    @property
    def messages(self) -> list[JSON]:
        """The messages shown, in order."""
        shown: list[JSON] = self.snapshot["messages"]
        return shown

    @property
    def turns(self) -> list[JSON]:
        """The turns, in running order."""
        turns: list[JSON] = self.snapshot["turns"]
        return turns

    @property
    def members(self) -> list[str]:
        """The members' names, in order."""
        return [member["name"] for member in self.channel["members"]]

    def member(self, name: str) -> JSON:
        """One member's record."""
        return next(dict(member) for member in self.channel["members"] if member["name"] == name)

    def said(self) -> list[str]:
        """The log as people read it: ``who: text`` (a notice: ``system: text``), with the state if unfinished."""
        return [line_of(message) for message in self.messages]

    def frame(self, unseen: list[str], text: str) -> str:
        """The prompt of an agent that has not seen these lines (``who: text``) of this channel."""
        where = f"#{self.channel['name']}" if "name" in self.channel else "this conversation"
        first = f"[Messages in {where} you have not seen yet]"
        last = "The user now writes to you (answer directly, without your name in front):"
        return "\n".join([first, *unseen, "[End of the messages]", last, text])

    async def request(self, method: str, /, **fields: Any) -> Any:
        """A request about this channel."""
        return await self.client.request(method, channelId=self.id, **fields)

    async def send(self, text: str, **fields: Any) -> JSON:
        """Send a message as the user; its `messageId` and `route`."""
        sent: JSON = await self.request("message/send", text=text, **fields)
        return sent

    async def preview(self, text: str) -> JSON:
        """The route of a text."""
        route: JSON = await self.request("message/preview", text=text)
        return route

    async def ask(self, text: str, *, by: str, **fields: Any) -> JSON:
        """Send, and wait for the finished answer of one agent."""
        sent = await self.send(text, **fields)
        return await self.answer(sent, by=by)

    async def answer(self, sent: JSON, *, by: str) -> JSON:
        """The finished answer of one agent to a sent message."""
        return await self.client.until(conditions.Answered(self.id, sent["messageId"], by))

    async def quiet(self) -> None:
        """Wait until no turn is left."""
        await self.client.until(conditions.Quiet(self.id))

    async def turn(self, agent: str, state: str, *, waits: str | None = None) -> JSON:
        """Wait until a turn of the agent is in a state."""
        return await self.client.until(conditions.turn_state(agent, state, waits=waits, channel=self.id))

    async def cancel(self, turn_id: str | None = None) -> None:
        """`turn/cancel`."""
        await self.request("turn/cancel", **({"turnId": turn_id} if turn_id else {}))

    async def close(self) -> None:
        """`channel/close`."""
        self.client.rooms.pop(self.id, None)
        await self.request("channel/close")


def text_of(message: JSON) -> str:
    """The words of a message: its text parts."""
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


def notices(message: JSON) -> list[str]:
    """The codes of the notices in a message."""
    return [part["code"] for part in message["parts"] if part["type"] == "notice"]


def line_of(message: JSON) -> str:
    """A message as one reads it."""
    author = message["author"]
    said = "".join(part["text"] for part in message["parts"] if part["type"] in ("text", "notice"))
    state = "" if message["state"] == "finished" else f" ({message['state']})"
    return f"{author.get('name') or author['kind']}: {said}{state}"
