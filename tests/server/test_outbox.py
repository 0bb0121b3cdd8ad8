"""What waits for one client: in order, merged without loss, bounded."""

from __future__ import annotations

import json
import threading
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidekicks_bridge.protocol.base import to_builtins
from sidekicks_bridge.protocol.events import (
    EVENT_BY_PARAMS,
    AgentLog,
    AgentStateChanged,
    AttentionChanged,
    ChannelsChanged,
    MessageDelta,
    MessageRemoved,
    MessageUpdated,
    PermissionResolved,
    TurnChanged,
)
from sidekicks_bridge.protocol.parts import NoticePart, TextPart, ThoughtPart, ToolCallPart
from sidekicks_bridge.protocol.reducer import reduce
from sidekicks_bridge.protocol.types import Author, Channel, Message, Turn
from sidekicks_bridge.server import outbox
from sidekicks_bridge.server.framing import FrameReader, frame
from sidekicks_bridge.server.outbox import Outbox, SharedFrames, event_frame

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.base import Wire
    from sidekicks_bridge.protocol.parts import Part

    JSON = dict[str, Any]

NOW = "2026-01-01T00:00:00Z"
MEBIBYTE = 1024 * 1024


def box(frames: SharedFrames | None = None) -> Outbox:
    return Outbox(lambda: None, frames or SharedFrames())


def written(source: Outbox) -> list[JSON]:
    """Everything that waits, as a client gets it."""
    reader = FrameReader()
    messages: list[JSON] = []
    while data := source.take():
        messages += [json.loads(body) for body in reader.feed(data)]
    assert reader.rest == b""
    return messages


def delta(text: str | None = None, part: int = 0, message: str = "m", value: Part | None = None) -> MessageDelta:
    return MessageDelta(channel_id="c", message_id=message, part=part, text=text, value=value)


def message(identity: str, parts: list[Part], channel: str = "c") -> Message:
    return Message(
        id=identity,
        channel_id=channel,
        author=Author(kind="agent", name="a"),
        parts=parts,
        created_at=NOW,
        state="streaming",
    )


def channel(description: str) -> Channel:
    return Channel(
        id="c", kind="named", name="x", description=description, created_at=NOW, updated_at=NOW, members=[], unread=0
    )


# ── merging ──────────────────────────────────────────────────────────────────────────────────────────────────────

SNAPSHOT: JSON = {
    "channel": to_builtins(channel("")),
    "messages": [to_builtins(message(name, [TextPart(text="-")])) for name in ("m", "n")],
    "turns": [],
    "permissions": [],
    "hasMore": False,
}

TEXT = st.sampled_from(["a", "é", "中", "😀", '"', "\\", "\n", "\x00", "long " * 30])
PART = st.integers(0, 3)
MESSAGE = st.sampled_from(["m", "n"])
VALUE: st.SearchStrategy[Part] = st.one_of(
    TEXT.map(lambda text: TextPart(text=text)),
    TEXT.map(lambda text: ThoughtPart(text=text)),
    TEXT.map(lambda text: NoticePart(code="x", text=text)),
    TEXT.map(lambda text: ToolCallPart(id="t", kind="read", title=text, status="pending", content=[], locations=[])),
)
EVENT = st.one_of(
    st.builds(delta, text=TEXT, part=PART, message=MESSAGE),
    st.builds(delta, text=TEXT, part=st.just(0), message=st.just("m")),
    st.builds(delta, value=VALUE, part=PART, message=MESSAGE),
    st.builds(
        lambda name, parts: MessageUpdated(channel_id="c", message=message(name, parts)),
        MESSAGE,
        st.lists(VALUE, max_size=3),
    ),
    st.builds(MessageRemoved, channel_id=st.just("c"), message_id=MESSAGE),
    st.builds(
        lambda state: TurnChanged(
            channel_id="c", turns=[Turn(id="t", channel_id="c", agent="a", state=state, in_reply_to="m")]
        ),
        st.sampled_from(["queued", "writing"]),
    ),
    st.builds(lambda text: ChannelsChanged(channels=[channel(text)]), TEXT),
)
STEP = st.one_of(EVENT, EVENT, EVENT, st.none())
"""An event that is put, or (None) a writer that takes."""


def plain(event: Wire) -> JSON:
    return {"method": EVENT_BY_PARAMS[type(event)].name, "params": to_builtins(event)}


@given(st.lists(STEP, max_size=60))
@settings(deadline=None, max_examples=300)
def test_merged_events_give_the_same_state(steps: list[Wire | None]) -> None:
    """The law, through the outbox: whatever merges while it waits, the client ends with the state of the unmerged."""
    source = box()
    expected = shown = SNAPSHOT
    got: list[JSON] = []
    for step in steps:
        if step is None:
            got += written(source)
        else:
            assert source.put(step)
            expected = reduce(expected, plain(step))
    for event in [*got, *written(source)]:
        shown = reduce(shown, event)
    assert shown == expected


@given(st.lists(st.tuples(st.integers(0, 2), TEXT), max_size=80))
@settings(deadline=None)
def test_texts_of_a_part_are_never_lost_nor_reordered(pieces: list[tuple[int, str]]) -> None:
    source = box()
    for part, text in pieces:
        source.put(delta(text, part))
    got = [event["params"] for event in written(source)]
    for part in range(3):
        assert "".join(one["text"] for one in got if one["part"] == part) == "".join(
            text for where, text in pieces if where == part
        )


def test_nothing_is_merged_while_nothing_waits() -> None:
    source = box()
    got = []
    for number in range(5):
        source.put(delta(str(number)))
        got += written(source)
    assert [one["params"]["text"] for one in got] == list("01234")


def test_what_waits_merges_into_one() -> None:
    source = box()
    for number in range(1000):
        source.put(delta(f"{number} "))
    first, second = written(source)
    assert first["params"]["text"] == "0 "
    assert second["params"]["text"] == "".join(f"{number} " for number in range(1, 1000))


def test_answers_keep_their_place_among_events() -> None:
    source = box()
    for number in range(6):
        source.put(delta("x"))
        source.put_frame(frame(json.dumps({"id": number}).encode()))
    assert [one.get("id", "event") for one in written(source)] == [
        shown for number in range(6) for shown in ("event", number)
    ]


def test_a_state_replaces_the_one_that_still_waits() -> None:
    source = box()
    source.put(delta("x"))
    for number in range(50):
        source.put(AttentionChanged(count=number))
        source.put(AgentStateChanged(agent="a", state="ready"))
        source.put(AgentStateChanged(agent="b", state="busy"))
        source.put(ChannelsChanged(channels=[channel(str(number))]))
    assert [(one["method"][10:], one["params"].get("agent")) for one in written(source)] == [
        ("message/delta", None),
        ("attention/changed", None),
        ("agent/state", "a"),
        ("agent/state", "b"),
        ("channels/changed", None),
    ]


def test_a_writer_on_another_thread_loses_nothing() -> None:
    ready = threading.Event()
    source = Outbox(ready.set, SharedFrames())
    got: list[JSON] = []
    count = 20_000

    def write() -> None:
        reader = FrameReader()
        while True:
            ready.wait()
            ready.clear()
            while data := source.take():
                got.extend(json.loads(body) for body in reader.feed(data))
            if got and got[-1].get("id") == "end":
                return

    writer = threading.Thread(target=write)
    writer.start()
    for number in range(count):
        source.put(delta(f"{number} ", part=number // 5000))
    source.put_frame(frame(b'{"id":"end"}'))
    writer.join(20)
    assert not writer.is_alive()
    text = "".join(one["params"]["text"] for one in got[:-1])
    assert text == "".join(f"{number} " for number in range(count))


# ── a client that does not read ──────────────────────────────────────────────────────────────────────────────────


def fill(source: Outbox, events: int = 1_000_000) -> int:
    """Stream until the outbox gives up the channel; how many events that took."""
    for number in range(events):
        if not source.put(delta("word ", part=number % 2, message=f"m{number % 3}")):
            return number
    raise AssertionError("The outbox has no end.")


def test_one_endless_answer_is_given_up_too() -> None:
    """Its deltas merge, which must not mean that they may grow for ever."""
    source = box()
    source.put_frame(frame(b"{}"))
    tracemalloc.start()
    for _ in range(40_000):
        if not source.put(delta("x" * 1000)):
            break
    else:
        raise AssertionError("The outbox has no end.")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * MEBIBYTE


@pytest.mark.parametrize("text", ["w", "word ", "中文", "😀", "x" * 2000], ids=ascii)
def test_it_costs_a_bounded_amount_of_memory(text: str) -> None:
    """Alternating parts cannot be merged: the worst case, small texts above all."""
    source = box()
    tracemalloc.start()
    number = 0
    while source.put(delta("".join(text), part=number % 2, message=f"m{number % 3}")):
        number += 1
    tracemalloc.reset_peak()
    while source.take():
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * MEBIBYTE


def test_its_channel_is_dropped_with_a_notice_and_others_are_not() -> None:
    source = box()
    source.put_frame(frame(b'{"id":"first"}'))
    other = TurnChanged(channel_id="other", turns=[])
    source.put(other)
    source.put(PermissionResolved(request_id="r", channel_id="c", outcome="cancelled"))
    assert fill(source) > 1000
    source.put(AttentionChanged(count=3))
    got = [(one.get("method", "answer"), one.get("params", {}).get("channelId")) for one in written(source)]
    assert got == [
        ("answer", None),
        ("sidekicks/turn/changed", "other"),
        ("sidekicks/permission/resolved", "c"),
        ("sidekicks/channel/desynced", "c"),
        ("sidekicks/attention/changed", None),
    ]
    assert source.put(delta("again"))
    assert written(source) == [plain(delta("again")) | {"jsonrpc": "2.0"}]
    assert not source.overrun


def test_a_talkative_agent_costs_no_memory() -> None:
    source = box()
    source.put_frame(frame(b"{}"))
    tracemalloc.start()
    for _ in range(30_000):
        source.put(AgentLog(agent="a", line="x" * 1000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * MEBIBYTE
    assert not source.overrun


def test_a_client_that_asks_and_never_reads_is_given_up() -> None:
    source = box()
    answer = frame(b'"%b"' % (b"x" * MEBIBYTE))
    for _ in range(outbox.HARD_LIMIT // MEBIBYTE - 1):
        source.put_frame(answer)
    assert not source.overrun
    for _ in range(3):
        source.put_frame(answer)
    assert source.overrun


def test_an_event_is_encoded_once_for_all_clients() -> None:
    frames = SharedFrames()
    event = TurnChanged(channel_id="c", turns=[])
    assert frames.of(event) is frames.of(event)
    assert frames.of(event) == event_frame(event)
    boxes = [box(frames) for _ in range(3)]
    for one in boxes:
        one.put(event)
    assert len({one.take() for one in boxes}) == 1
