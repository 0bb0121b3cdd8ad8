"""A busy conversation on one bridge, and what its client saw of it: for tests that end the bridge in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fake_agent import log
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.support.wire import Wire

    JSON = dict[str, Any]

TEXTS = [
    "@alice !words one two three four five six seven",
    "@bob !tool read Look-at-it | notes.md:3 !words that is it",
    "@alice @bob hello both",
    "@wrapper !chunks 120 40",
    "@alice !permit Write-it",
    "@bob !think hm !plan +A;>B;C !words so",
    "@wrapper !permit-diff notes.md|old|new",
    "@all !words hi",
    "@bob !output 40000",
    "@alice !crash 3",
]


def sandbox(folder: Path) -> BridgeSandbox:
    """Three agents, one of them a wrapper with children, in two channels."""
    agents = {"alice": "", "bob": "", "wrapper": f"--spawn-child {folder / 'children'}"}
    return BridgeSandbox(folder, agents, {"one": list(agents), "two": list(agents)})


class Busy:
    """Sends, answers questions, and keeps what the client was told over all bridges of the sandbox."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.finished: dict[str, JSON] = {}
        """The last form of every message the client saw finished, by id."""
        self.acknowledged: dict[str, str] = {}
        """The text of every message that was accepted, by id."""
        self.channels: list[str] = []

    async def join(self, client: Wire) -> None:
        """Shake hands and open the channels."""
        await client.shake_hands()
        state = await client.result("sidekicks/state/get", {})
        self.channels = [channel["id"] for channel in state["channels"]]
        for channel in self.channels:
            await client.result("sidekicks/channel/open", {"channelId": channel})

    async def converse(self, client: Wire, news: int) -> None:
        """Keep the bridge busy until it has said ``news`` more things."""
        seen = len(client.received)
        end = seen + news
        while seen < end:
            if not self._unanswered(client):
                await self._send(client)
            await client.more_than(seen)
            fresh = client.received[seen:]
            seen += len(fresh)
            for message in fresh:
                await self._react(client, message)

    def _unanswered(self, client: Wire) -> bool:
        """Whether turns are left somewhere, so that something will happen by itself."""
        latest = {params["channelId"]: params["turns"] for params in client.events("sidekicks/turn/changed")}
        return any(latest.values())

    async def _send(self, client: Wire) -> None:
        """Several messages at once, so that some queue."""
        for _ in range(self.random.randint(2, 5)):
            text = self.random.choice(TEXTS)
            params = {"channelId": self.random.choice(self.channels), "text": text}
            answer = await client.call("sidekicks/message/send", params)
            self.acknowledged[answer["result"]["messageId"]] = text

    async def _react(self, client: Wire, message: JSON) -> None:
        params = message.get("params", {})
        if message.get("method") == "sidekicks/message/updated":
            self._note(params["message"])
        elif message.get("method") == "sidekicks/permission/requested":
            option = self.random.choice(params["options"])["optionId"]
            await client.ask("sidekicks/permission/answer", {"requestId": params["requestId"], "optionId": option})

    def note_rest(self, client: Wire) -> None:
        """Take in what came in the end without reacting to it."""
        for params in client.events("sidekicks/message/updated"):
            self._note(params["message"])

    def _note(self, message: JSON) -> None:
        if message["state"] == "finished":
            self.finished[message["id"]] = message

    async def check_kept(self, client: Wire) -> list[JSON]:
        """Everything that was seen finished, or accepted, is there as it was; nothing runs. All messages."""
        state = await client.result("sidekicks/state/get", {})
        assert state["storage"] == {"persistent": True}
        assert (state["turns"], state["permissions"]) == ([], [])
        stored: list[JSON] = []
        for channel in self.channels:
            stored += await _all_messages(client, channel)
        by_id = {message["id"]: message for message in stored}
        for identity, message in self.finished.items():
            kept = by_id.get(identity)
            assert kept == message, f"of {len(stored)} messages this one was\n{message}\nand is\n{kept}"
        for identity, text in self.acknowledged.items():
            assert by_id[identity]["parts"] == [{"type": "text", "text": text}]
        assert {message["state"] for message in stored} <= {"finished"}
        for channel in self.channels:
            seqs = [message["seq"] for message in stored if message["channelId"] == channel]
            assert seqs == sorted(set(seqs))
        return stored


async def _all_messages(client: Wire, channel: str) -> list[JSON]:
    """Page by page, backwards: a long run says more than a page may hold."""
    found: list[JSON] = []
    more = True
    while more:
        before = {"before": found[0]["seq"]} if found else {}
        page = await client.result("sidekicks/message/list", {"channelId": channel, "limit": 500, **before})
        found, more = page["messages"] + found, page["hasMore"]
    return found


def agent_pids(box: BridgeSandbox) -> list[int]:
    """Every process the agents' logs name: agents and what they started."""
    pids: list[int] = []
    for path in box.logs.glob("*.jsonl"):
        pids += log.pids(path)
        for record in log.records(path, "children"):
            pids += [record["group"], record["setsid"]]
    return pids
