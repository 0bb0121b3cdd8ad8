"""Records real runs as fixtures of the law: ``python -m tests.support.record`` writes ``schema/fixtures/run-*.jsonl``.

Each run is a snapshot, the events that followed, and the snapshot afterwards, with ids, times and folders made the same
on every machine. It is run by hand when the protocol grows; `tests/protocol/test_fixtures.py` and the clients replay
what it wrote.
"""

from __future__ import annotations

import json
import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from tests.support.conditions import permission, streaming
from tests.support.sandbox import REPOSITORY, BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.support.client import Client
    from tests.support.room import Room

    JSON = dict[str, Any]
    Run = Callable[[BridgeSandbox, Client, Room], Awaitable[None]]

AGENTS = {
    "alice": "--commands plan:Plan-it,review --modes ask,code --models small,large",
    "bob": "--config-options mode,boolean",
}
FIXTURES = REPOSITORY / "schema" / "fixtures"
_ID = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_SESSION = re.compile(r"\b(alice|bob)-\d+-(\d+)\b")
_START = datetime(2026, 1, 1, 12, tzinfo=UTC)


async def two_answer(_box: BridgeSandbox, _client: Client, room: Room) -> None:
    script = "!for alice !think hm !tool read Read notes | notes.md:3 !say One, !say \\stwo. !usage 5 100 0.1 EUR"
    await room.send(f"@alice @bob {script} !for bob !plan +look;>think;answer !say Three.")
    await room.quiet()


async def permission_and_edit(_box: BridgeSandbox, client: Client, room: Room) -> None:
    await room.send("@alice !permit-diff notes.md|old|new !say Done.")
    asked = await client.until(permission())
    await client.request("permission/answer", requestId=asked["requestId"], optionId="allow")
    await room.quiet()


async def queue_and_cancel(box: BridgeSandbox, client: Client, room: Room) -> None:
    await room.send("@alice !say working !permit run it")
    await client.until(permission())
    gone = await room.send("@bob never mind")
    await room.send("@bob !say later")
    await client.request("message/remove", messageId=gone["messageId"])
    await room.cancel()
    await room.quiet()


async def crash_and_go_on(_box: BridgeSandbox, _client: Client, room: Room) -> None:
    await room.send("@alice @bob !for alice !say partial !crash 3 !for bob !empty")
    await room.quiet()


async def late_words(box: BridgeSandbox, client: Client, room: Room) -> None:
    await room.send("@alice !say first !late gate=late late words")
    await room.quiet()
    box.gates.open("late")
    await client.until(streaming("alice", "late", late=True))
    await client.until(lambda _: not any(message["state"] == "streaming" for message in room.messages))


async def slip_invite_rename(_box: BridgeSandbox, _client: Client, room: Room) -> None:
    await room.request("channel/remove", agent="bob")
    await room.send("@bbo hi")
    await room.send("@bob !say here")
    await room.quiet()
    await room.request("channel/update", name="lobby", description="Everyone")
    await room.request("channel/markRead", seq=5)


RUNS: dict[str, Run] = {
    "two-answer": two_answer,
    "permission-and-edit": permission_and_edit,
    "queue-and-cancel": queue_and_cancel,
    "crash-and-go-on": crash_and_go_on,
    "late-words": late_words,
    "slip-invite-rename": slip_invite_rename,
}


async def record(run: Run, folder: Path) -> list[JSON]:
    """The lines of one run."""
    box = BridgeSandbox(folder, AGENTS)
    async with box.bridge() as client:
        room = await client.open("general")
        first = await client.ask("channel/open", channelId=room.id)
        before = await client.result(first)
        await run(box, client, room)
        last = await client.ask("channel/open", channelId=room.id)
        after = await client.result(last)
        events = client.events[first.seen : last.seen]
    mine = [event for event in events if event["params"].get("channelId", room.id) == room.id]
    return [{"snapshot": before}, *({"event": event} for event in mine), {"snapshot": after}]


def normalised(lines: list[JSON], folder: Path) -> str:
    """The lines as text, with ids and times in their order but the same each time, and a folder of nobody."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    text = text.replace(str(folder / "workspace"), "/home/me/project").replace(str(folder), "/home/me")
    text = _SESSION.sub(r"\1-1-\2", text)
    ids = {found: f"01RUN{number:03}" for number, found in enumerate(sorted(set(_ID.findall(text))), 1)}
    text = _ID.sub(lambda match: ids[match[0]], text)
    times = {found: _time(number) for number, found in enumerate(sorted(set(_TIME.findall(text))))}
    return _TIME.sub(lambda match: times[match[0]], text)


def _time(number: int) -> str:
    return f"{_START + timedelta(seconds=number):%Y-%m-%dT%H:%M:%S}.000Z"


async def main() -> None:
    """Record every run anew."""
    for name, run in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            lines = await record(run, Path(folder))
            text = normalised(lines, Path(folder))
        (FIXTURES / f"run-{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    anyio.run(main)
