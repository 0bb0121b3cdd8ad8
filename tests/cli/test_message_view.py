"""What of a message is printed for good, and when: the order of its parts is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.cli.message_view import MessageView
from sidekicks_bridge.cli.names import Names
from sidekicks_bridge.protocol.events import MessageDelta
from sidekicks_bridge.protocol.parts import NoticePart, Part, TextPart, ToolCallPart, ToolStatus
from sidekicks_bridge.protocol.types import Author, Message, MessageTurn

if TYPE_CHECKING:
    from sidekicks_bridge.cli.style import Line

NOW = "2026-11-30T12:00:00.000Z"


def rows(lines: list[Line]) -> list[str]:
    return [text for line in lines if (text := "".join(span for _, span in line).strip())]


def tool(status: ToolStatus, title: str = "Search") -> ToolCallPart:
    return ToolCallPart(id="t", kind="search", title=title, status=status, content=[], locations=[])


class Stream:
    """An answer that grows, and what of it was printed."""

    def __init__(self) -> None:
        self.message = Message(
            id="m",
            channel_id="c",
            author=Author(kind="agent", name="scout"),
            parts=[],
            created_at=NOW,
            state="streaming",
            turn=MessageTurn(id="t", started_at=NOW),
        )
        self.view = MessageView(self.message, Names(), None, 80)
        self.printed: list[str] = []

    def set(self, at: int, part: Part) -> None:
        self._delta(MessageDelta(channel_id="c", message_id="m", part=at, value=part))

    def say(self, at: int, text: str) -> None:
        self._delta(MessageDelta(channel_id="c", message_id="m", part=at, text=text))

    def end(self, *parts: Part, reason: str = "end_turn") -> None:
        assert self.message.turn is not None
        self.message.turn.stop_reason = reason
        self.message.parts, self.message.state = [*parts], "finished"
        self.view.update(self.message)
        self.printed += rows(self.view.settle())

    def live(self) -> list[str]:
        return rows(self.view.live("~"))

    def _delta(self, delta: MessageDelta) -> None:
        self.view.delta(delta)
        self.printed += rows(self.view.settle())


def test_what_follows_an_unfinished_tool_call_waits_for_it() -> None:
    answer = Stream()
    answer.set(0, tool("in_progress"))
    answer.set(1, TextPart(text="First.\n"))
    answer.set(2, tool("completed", "Read"))
    answer.set(3, TextPart(text="Second.\nThi"))
    assert answer.printed == []
    assert answer.live()[1:] == ["~ Search", "First.", "✓ Read", "Second.", "Thi"]
    answer.set(0, tool("completed"))
    assert answer.printed[1:] == ["✓ Search", "First.", "✓ Read", "Second."]
    assert answer.live() == ["Thi"]
    answer.say(3, "rd.")
    answer.end(
        tool("completed"), TextPart(text="First.\n"), tool("completed", "Read"), TextPart(text="Second.\nThird.")
    )
    assert answer.printed[1:] == ["✓ Search", "First.", "✓ Read", "Second.", "Third."]
    assert answer.live() == []


def test_a_tool_call_that_never_ends_does_not_hold_up_a_long_answer() -> None:
    answer = Stream()
    answer.set(0, tool("in_progress"))
    answer.set(1, TextPart(text=""))
    most = 0
    for number in range(200):
        answer.say(1, f"Row {number}\n")
        most = max(most, len(answer.live()))
    assert most < 16
    assert answer.printed[1:] == ["◌ Search", *(f"Row {number}" for number in range(200))]
    assert answer.live() == ["~ Search"]  # it is still seen to run
    answer.say(1, "| a table")
    answer.set(0, tool("failed"))
    assert answer.printed[-1] == "Row 199"  # not torn apart
    answer.say(1, " |\n\nend\n")
    assert answer.printed[-2:] == ["end", "✗ Search"]
    assert answer.live() == []


def test_that_it_was_cancelled_is_said_once() -> None:
    answer = Stream()
    answer.end(NoticePart(code="noText", text="@scout was stopped before it said anything."), reason="cancelled")
    assert answer.printed[1:] == ["• @scout was stopped before it said anything."]
    other = Stream()
    other.end(TextPart(text="I was"), reason="cancelled")
    assert other.printed[1:] == ["I was", "■ cancelled"]
