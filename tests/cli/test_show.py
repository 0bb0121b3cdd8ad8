"""What the terminal client shows, as tables: records of the protocol in, lines of text out."""

from __future__ import annotations

from typing import Any

import pytest

from sidekicks_bridge.cli import render, status
from sidekicks_bridge.cli.channel_ref import default_channel
from sidekicks_bridge.cli.chat_questions import folder_name
from sidekicks_bridge.cli.composer import completion
from sidekicks_bridge.cli.diff import diff_lines
from sidekicks_bridge.cli.message_view import MessageView
from sidekicks_bridge.cli.names import Names
from sidekicks_bridge.cli.permissions import PermissionDesk
from sidekicks_bridge.cli.picker import Item, Picker, Question
from sidekicks_bridge.cli.style import Line, line_width, to_ansi, wrap
from sidekicks_bridge.cli.text import index_to_utf16, one_line, safe, short_path, utf16_to_index
from sidekicks_bridge.names import name_problem
from sidekicks_bridge.protocol.events import MessageDelta
from sidekicks_bridge.protocol.parts import (
    DiffContent,
    Location,
    PermissionOption,
    TextContent,
    TextPart,
    ToolCallPart,
)
from sidekicks_bridge.protocol.requests import State
from sidekicks_bridge.protocol.routes import Route, RouteNote, RouteProblem, RouteTarget
from sidekicks_bridge.protocol.types import (
    Agent,
    Author,
    Channel,
    ConfigState,
    Cost,
    Message,
    MessageTurn,
    Permission,
    StorageState,
    Turn,
    TurnError,
    Usage,
    WaitsFor,
)

NOW = "2026-11-30T12:00:00.000Z"


def plain(lines: list[Line]) -> list[str]:
    return ["".join(text for _, text in line) for line in lines]


def known() -> Names:
    names = Names()
    names.know(
        Agent(name=name, title=title, state="ready", origin="config", commands=[])
        for name, title in (("scout", "Scout"), ("bob", "Bob"))
    )
    return names


def channel(name: str, **more: Any) -> Channel:
    given: dict[str, Any] = {"members": [], "unread": 0, **more}
    return Channel(id=name, kind="named", name=name, created_at=NOW, updated_at=NOW, **given)


def tool(**more: Any) -> ToolCallPart:
    given: dict[str, Any] = {"id": "t", "kind": "edit", "title": "Do it", "status": "completed", **more}
    return ToolCallPart(**{"content": [], "locations": [], **given})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, grüße 🦊", "plain, grüße 🦊"),
        ("a\tb", "a    b"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b[2J\x9b2J\x00\x7f", "␛[2J‹9B›2J␀␡"),
        ("a\u202eb\u2066c\u200f", "a‹U+202E›b‹U+2066›c‹U+200F›"),
        ("\u200bhid\U000e0041den\ufeff", "‹U+200B›hid‹U+E0041›den‹U+FEFF›"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("lone \udc80", "lone \ufffd"),
    ],
)
def test_safe(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_one_line_and_short_paths() -> None:
    assert one_line("  a\n\tb  ") == "a b"
    assert one_line("x" * 300, 10) == "xxxxxxxxx…"
    assert short_path("/p/src/a.py", "/p") == "src/a.py"
    assert short_path("/project/a.py", "/p") == "/project/a.py"


@pytest.mark.parametrize(
    ("text", "index", "units"), [("abc", 2, 2), ("🦊b", 1, 2), ("🦊b", 2, 3), ("é処", 2, 2), ("", 0, 0)]
)
def test_offsets_of_the_wire(text: str, index: int, units: int) -> None:
    assert index_to_utf16(text, index) == units
    assert utf16_to_index(text, units) == index


@pytest.mark.parametrize(
    ("line", "columns", "rows"),
    [
        ([("", "one two three")], 8, ["one two", "  three"]),
        ([("", "• one two three")], 9, ["• one two", "  three"]),
        ([("", "abcdefghij kl")], 4, ["abcd", "  ef", "  gh", "  ij", "  kl"]),
        ([("", "bo"), ("bold", "ld wo"), ("", "rd")], 5, ["bold", "  wor", "  d"]),
        ([("", "処理処理")], 5, ["処理", "  処", "  理"]),
    ],
)
def test_wrap(line: Line, columns: int, rows: list[str]) -> None:
    wrapped = wrap(line, columns, [("", "  ")])
    assert plain(wrapped) == rows
    assert all(line_width(row) <= columns for row in wrapped)


def test_styles_become_terminal_sequences() -> None:
    lines: list[Line] = [[("bold fg:ansired", "a"), ("", "b")], []]
    assert to_ansi(lines) == "\x1b[1;31ma\x1b[0mb\n\n"
    assert to_ansi(lines, colours=False) == "\x1b[1ma\x1b[0mb\n\n"


def test_tool_calls() -> None:
    places = [Location(path=f"/p/{name}.py", line=7) for name in "abcd"]
    assert plain(render.tool_lines(tool(locations=places), "/p", 80)) == ["✓ Do it  a.py:7  b.py:7  c.py:7 …"]
    output = [TextContent(text="\n".join(f"line {number}" for number in range(9)))]
    assert plain(render.tool_lines(tool(kind="execute", status="failed", content=output), None, 80)) == [
        "✗ Do it",
        "  … 5 lines",
        "  line 5",
        "  line 6",
        "  line 7",
        "  line 8",
    ]
    assert plain([render.tool_head(tool(status="in_progress", title="a\nb" * 90), None, 20, "*")]) == [
        "* a ba ba ba ba ba …"
    ]


def test_diffs() -> None:
    old = "".join(f"{number}\n" for number in range(20))
    new = old.replace("10\n", "ten\n")
    assert plain(diff_lines(DiffContent(path="/p/a", old_text=old, new_text=new), "/p", 20)) == [
        "a  +1 -1",
        "  8",
        "  9",
        "- 10",
        "+ ten",
        "  11",
        "  12",
    ]
    made = plain(diff_lines(DiffContent(path="/p/a", new_text=old), "/p", 4))
    assert made == ["new file a  +20 -0", "+ 0", "+ 1", "+ 2", "… 17 more lines of this change"]


@pytest.mark.parametrize(
    ("turn", "lines"),
    [
        ({"stop_reason": "end_turn"}, []),
        ({"stop_reason": "cancelled"}, ["■ cancelled"]),
        ({"stop_reason": "something_new"}, ["■ something_new"]),
        (
            {"stop_reason": "failed", "error": TurnError(code="agentExited", message="Exit code 1.\nboom")},
            ["■ Exit code 1.", "  boom", "  Send again: it is started anew."],
        ),
    ],
)
def test_ends_of_turns(turn: dict[str, Any], lines: list[str]) -> None:
    assert plain(render.end_lines(MessageTurn(id="t", started_at=NOW, **turn), 80)) == lines


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        (Usage(used=900), "900"),
        (Usage(used=53_000, size=200_000), "53.0k/200.0k (26 %)"),
        (Usage(used=250_000, size=200_000), "250.0k/200.0k"),
        (Usage(used=10, size=0, cost=Cost(amount=0.5, currency="EUR\x1b")), "10 0.50 EUR␛"),
    ],
)
def test_usage_is_shown_as_reported(usage: Usage, text: str) -> None:
    assert render.usage_text(usage) == text


def test_what_a_permission_is_about() -> None:
    asked = tool(input={"command": ["rm", "-rf", "/tmp/a b"]})
    assert plain(render.subject_lines(asked, None, 80, 5)) == ['$ rm -rf "/tmp/a b"']
    long = tool(input={"command": "\n".join("abcdefgh")})
    assert plain(render.subject_lines(long, None, 80, 3)) == ["$ a", "  b", "… 6 more lines; 0 shows all of it"]
    assert len(render.subject_lines(long, None, 80, None)) == 8
    assert plain(render.subject_lines(tool(input={"url": "x\x1b[2J"}), None, 80, 5)) == ['{"url": "x\\u001b[2J"}']


def target(agent: str, **more: Any) -> RouteTarget:
    return RouteTarget(**{"agent": agent, "invited": False, "unseen": 0, "cut": 0, "fresh": False, **more})


@pytest.mark.parametrize(
    ("route", "text"),
    [
        (Route(to=[]), ""),
        (
            Route(to=[target("scout"), target("bob", invited=True, unseen=7, cut=2)]),
            "→ Scout, then Bob (will be invited · 7 unseen, 2 cut)",
        ),
        (Route(to=[target("scout", command="/find")]), "→ Scout (/find alone)"),
        (
            Route(to=[target("bob", waits_for=WaitsFor(reason="agentBusy", channel_id="review", agent="bob"))]),
            "→ Bob (Bob is busy in #review)",
        ),
        (
            Route(to=[target("bob")], notes=[RouteNote(code="x", text="Ann reads it by mail.")]),
            "→ Bob  Ann reads it by mail.",
        ),
        (
            Route(
                to=[], problem=RouteProblem(code="x", text="No agent is named @bbo.", suggestion="@bob", start=0, end=4)
            ),
            "No agent is named @bbo.  Tab: @bob",
        ),
    ],
)
def test_routes(route: Route, text: str) -> None:
    assert plain([status.route_line(route, known(), {"review": channel("review")}, 100)]) == [text]


def test_turns_say_what_they_wait_for() -> None:
    turns = [
        Turn(id="1", channel_id="c", agent="scout", state="starting"),
        Turn(id="2", channel_id="c", agent="bob", state="queued", waits_for=WaitsFor(reason="noSlot")),
    ]
    assert plain(status.turn_lines(turns, known(), {}, "*", 3)) == [
        "* Scout is getting ready… 3 s  Ctrl-C cancels",
        "  Bob is next: waits until another agent is idle",
    ]


def test_alerts() -> None:
    shown = status.alerts([channel("a"), channel("b", unread=2)], "disk full", 1, 200)
    assert plain([shown]) == [
        "unread: 2 in #b · history is not kept: disk full · 1 problem in the configuration: sidekicks config check"
    ]


def answer(**more: Any) -> Message:
    given: dict[str, Any] = {"parts": [], "state": "streaming", **more}
    return Message(id="m", channel_id="c", author=Author(kind="agent", name="bob"), created_at=NOW, **given)


def test_a_fence_waits_for_the_tool_before_it() -> None:
    view = MessageView(answer(), known(), None, 80)

    def delta(part: int, **what: Any) -> list[str]:
        view.delta(MessageDelta(channel_id="c", message_id="m", part=part, **what))
        return plain(view.settle())

    assert delta(0, value=tool(status="in_progress")) == []
    assert delta(1, value=TextPart(text="```\ncode\n")) == []
    assert plain(view.live("*"))[2:] == ["  * Do it", "    code"]
    assert delta(0, value=tool())[2:] == ["  ✓ Do it", "", "    code"]
    assert delta(1, text="more\n```\n") == ["    more"]


def test_a_tool_that_ended_before_the_text_began_stands_before_it() -> None:
    view = MessageView(answer(), known(), None, 80)
    view.delta(MessageDelta(channel_id="c", message_id="m", part=0, value=tool()))
    view.delta(MessageDelta(channel_id="c", message_id="m", part=1, value=TextPart(text="Found")))
    assert plain(view.settle())[2:] == ["  ✓ Do it"]
    view.delta(MessageDelta(channel_id="c", message_id="m", part=1, text=" it.\n"))
    assert plain(view.settle()) == ["", "  Found it."]


def test_the_whole_message_adds_only_what_was_missed() -> None:
    view = MessageView(answer(parts=[TextPart(text="one ")]), known(), None, 80)
    view.delta(MessageDelta(channel_id="c", message_id="m", part=0, text="two "))
    view.update(answer(parts=[TextPart(text="one two three"), TextPart(text="four")], state="finished"))
    assert plain(view.settle())[2:] == ["  one two three", "  four"]
    assert view.settle() == []


def permission(request_id: str, channel_id: str = "c") -> Permission:
    options = [PermissionOption(option_id=kind, name=kind, kind=kind) for kind in ("allow_once", "reject_once")]
    return Permission(
        request_id=request_id,
        channel_id=channel_id,
        agent="bob",
        turn_id="t",
        tool_call=tool(),
        options=options,
        requested_at=NOW,
    )


def test_permissions_come_in_order_and_are_inert_at_first() -> None:
    desk = PermissionDesk()
    first, second, other = permission("1"), permission("2"), permission("3", "elsewhere")
    for asked in (first, second, other, first):
        desk.add(asked)
    assert desk.current("c") is first
    assert desk.elsewhere("c") == [other]
    assert desk.chosen(first, 1, 100.0) is None  # never drawn
    desk.drawn(first, 100.0)
    desk.drawn(first, 100.4)
    assert desk.chosen(first, 1, 100.49) is None
    chosen = desk.chosen(first, 2, 100.5)
    assert chosen is not None
    assert chosen.option_id == "reject_once"
    assert desk.chosen(first, 3, 101.0) is None
    desk.toggle(first, 102.0)
    assert desk.postponed(first)
    assert desk.chosen(first, 1, 103.0) is None
    desk.toggle(first, 104.0)
    assert desk.chosen(first, 1, 104.3) is None
    assert desk.chosen(first, 1, 104.6) is not None
    desk.close("1")
    assert desk.current("c") is second


def test_picking() -> None:
    async def nothing() -> None: ...

    picker = Picker()
    items = [Item([("", word)], word, nothing) for word in ("#general", "#review", "@scout")]
    picker.show(Question("Go to", items, lambda typed: Item([("", f"make {typed}")], typed, nothing)))
    picker.move(-1)
    assert plain(picker.lines(80)) == [
        "Go to  ↑ ↓ Enter · Esc closes",
        "  #general",
        "  #review",
        "❯ @scout",
    ]
    picker.buffer.text = "rvw"
    assert plain(picker.lines(80))[1:] == ["❯ #review", "  make rvw"]
    picker.close()
    assert picker.lines(80) == []


def test_the_channel_of_this_folder_comes_first() -> None:
    general, here, used = channel("general"), channel("here", root="/p"), channel("used", last_message_at="2027")
    state = State(
        agents=[],
        channels=[general, here, used],
        permissions=[],
        turns=[],
        storage=StorageState(persistent=True),
        config=ConfigState(path="/c", problems=[]),
    )
    assert default_channel(state, "/p") is here
    assert default_channel(state, "/q") is general
    state.channels = []
    assert default_channel(state, "/q") is None


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/src/My Project!", "My-Project"),
        ("/src/con", "project-con"),
        ("/src/処理", "project"),
        ("/", "project"),
        ("/a/b--c", "b-c"),
    ],
)
def test_a_channel_named_after_a_folder(folder: str, name: str) -> None:
    assert folder_name(folder) == name
    assert name_problem(name) is None


def test_completion_items_of_the_wire() -> None:
    span = {"start": {"line": 1, "character": 3}, "end": {"line": 1, "character": 5}}
    item = {"label": "@bob", "detail": "Bob", "textEdit": {"range": span, "newText": "@bob"}}
    taken = completion(item, "🦊\n🦊 @b", 6)
    assert (taken.text, taken.start_position, taken.display_meta_text) == ("@bob ", -2, "")
    assert completion({"label": "/find"}, "/fi", 3).start_position == -3
