"""Who answers a user's message, in which order, and what is wrong with it (design rules 1, 2, 5 and Mentions)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekicks_bridge.channels.routing import Prospect, RoutingView, explain, utf16_length
from sidekicks_bridge.protocol.routes import Route
from sidekicks_bridge.protocol.types import WaitsFor

AGENTS = ["alice", "bob", "carol", "garfield"]


@dataclass(frozen=True)
class Room:
    """A channel to route in; what each test leaves out is a channel of alice and bob where nobody has spoken."""

    members: list[str] = field(default_factory=lambda: ["alice", "bob"])
    last: str | None = None
    direct: str | None = None
    agents: list[str] = field(default_factory=lambda: AGENTS)
    peers: list[str] = field(default_factory=lambda: ["ann"])
    commands: dict[str, frozenset[str]] = field(default_factory=dict)
    forbidden: str | None = None
    prospects: dict[str, Prospect] = field(default_factory=dict)

    def route(self, text: str) -> Route:
        return explain(
            text,
            RoutingView(
                agents=self.agents,
                members=self.members,
                prospect=lambda name: self.prospects.get(name, Prospect()),
                direct=self.direct,
                peers=self.peers,
                commands=self.commands,
                last_active=self.last,
                forbidden=self.forbidden,
            ),
        )


def told(route: Route) -> list[str]:
    """Who is told what: the agents in order, ``+`` for invited, with the command if it is one."""
    return [
        f"{'+' if target.invited else ''}{target.agent}" + (f" {target.command}" if target.command else "")
        for target in route.to
    ]


def problem(route: Route) -> tuple[str, str | None]:
    assert route.problem is not None
    assert route.to == []
    return route.problem.code, route.problem.suggestion


def notes(route: Route) -> list[str]:
    return [note.code for note in route.notes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@bob hi", ["bob"]),
        ("@alice do X, @bob do Y", ["alice", "bob"]),
        ("@bob @alice @bob", ["bob", "alice"]),
        ("hello @BOB", ["bob"]),
        ("@carol and @bob", ["+carol", "bob"]),
        ("@all hi", ["alice", "bob"]),
        ("@bob then @all", ["bob", "alice"]),
        ("@all and @carol", ["alice", "bob", "+carol"]),
        ("@bob, not @bbo", ["bob"]),
        ("@bbo or @bob", ["bob"]),
        ("@bob `@alice`", ["bob"]),
        ("@bob /a/b", ["bob"]),
        ("@bob please /review", ["bob"]),
    ],
)
def test_the_mentioned_agents_answer_in_order_each_once(text: str, expected: list[str]) -> None:
    for last in (None, "alice", "carol"):
        assert told(Room(last=last).route(text)) == expected


def test_all_is_in_the_order_they_joined() -> None:
    assert told(Room(members=["carol", "alice"]).route("@all")) == ["carol", "alice"]


def test_all_leaves_out_who_is_no_longer_configured() -> None:
    assert told(Room(members=["zoe", "bob", "alice"]).route("@all")) == ["bob", "alice"]


@pytest.mark.parametrize(
    ("members", "last", "expected"),
    [
        (["alice", "bob"], "bob", ["bob"]),
        (["alice", "bob"], "alice", ["alice"]),
        (["bob"], None, ["bob"]),
        (["bob"], "bob", ["bob"]),
        (["zoe", "bob"], None, ["bob"]),  # zoe is not configured
        (["bob"], "zoe", ["bob"]),
        (["alice", "bob"], "carol", ["+carol"]),  # her first turn is queued: she is invited when it begins
    ],
)
def test_without_a_mention_the_last_one_answers_else_the_only_one(
    members: list[str], last: str | None, expected: list[str]
) -> None:
    for text in ("and q2", "waiting on bob", "me@alice.com", "`@alice`", "@dataclass\nclass X: ...", "see @types/node"):
        route = Room(members=members, last=last).route(text)
        assert told(route) == expected
        assert route.problem is None
        assert route.notes == []


@pytest.mark.parametrize(
    ("room", "sentence"),
    [
        (Room(), "Nobody was addressed. Mention who should answer: @alice, @bob."),
        (Room(last="zoe"), "Nobody was addressed. Mention who should answer: @alice, @bob."),
        (
            Room(members=[]),
            "Nobody was addressed. Mention an agent to invite it: @alice, @bob, @carol, @garfield.",
        ),
        (Room(members=["zoe"], agents=[]), "No agent is configured. Add one to the configuration."),
    ],
)
def test_else_nobody_and_the_channel_says_so(room: Room, sentence: str) -> None:
    for text in ("hi", "/help"):
        route = room.route(text)
        assert problem(route) == ("nobody", None)
        assert route.problem is not None
        assert route.problem.text == sentence


@pytest.mark.parametrize("text", ["@zoe is it safe?", " **@zoe** hi", "@zoe"])
def test_a_message_that_begins_with_an_unknown_name_says_that_it_is_text(text: str) -> None:
    route = Room(last="bob").route(text)
    assert (told(route), notes(route)) == (["bob"], ["unknownAgent"])
    assert route.notes[0].text == "No agent is named @zoe: it is read as text."
    nobody = Room().route(text).problem
    assert nobody is not None
    assert nobody.text == "No agent is named @zoe. Mention who should answer: @alice, @bob."


@pytest.mark.parametrize("text", ["ask @zoe", "@zoe and @bob", "@types/node", "`@zoe` is", "mail@zoe.org"])
def test_elsewhere_an_unknown_name_needs_no_word(text: str) -> None:
    assert notes(Room(last="bob").route(text)) == []


def test_all_in_an_empty_channel_is_nobody() -> None:
    assert problem(Room(members=[]).route("@all hi")) == ("nobody", None)


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_empty_text_goes_nowhere_and_nothing_is_wrong(text: str) -> None:
    assert Room(last="bob").route(text) == Route(to=[])


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("@bbo hi", "@bob"),
        (" \u00a0@bbo, hi", "@bob"),
        ("**@bbo** hi", "@bob"),
        ("「@bbo」", "@bob"),
        ("@BBO", "@bob"),
        ("@garfeild hi", "@garfield"),
        ("@grafeild hi", "@garfield"),
        ("@bbo and @ann", "@bob"),  # a peer is not addressed by a route
        ("@bbo and `@alice`", "@bob"),
        ("@bbo /review", "@bob"),
    ],
)
def test_a_slip_at_the_start_goes_to_nobody(text: str, suggestion: str) -> None:
    for room in (Room(last="alice"), Room(members=["alice"])):
        route = room.route(text)
        assert problem(route) == ("unknownAgent", suggestion)
        assert route.problem is not None
        assert route.problem.text.endswith(f"Did you mean {suggestion}?")


@pytest.mark.parametrize(
    "text",
    ["ask @bbo", "`x` @bbo", "@bo hi", "@dataclass", "@grafeildo", "@alcia", "@ann asks @bbo", "@bob/x", "x@bbo"],
)
def test_other_unknown_words_are_text(text: str) -> None:
    assert told(Room(last="alice").route(text)) == ["alice"]


def test_the_place_of_a_problem_is_in_utf_16_units() -> None:
    route = Room().route("\u3000(“@bbo hi")
    assert route.problem is not None
    assert (route.problem.start, route.problem.end) == (3, 7)
    route = Room(commands={"bob": frozenset({"𝒳:x"})}, last="alice").route("/b𝒳o:review hi")
    assert route.problem is not None
    assert (route.problem.start, route.problem.end) == (0, 12)


@given(st.text())
def test_utf_16_length(text: str) -> None:
    assert utf16_length(text) == sum(2 if ord(character) > 0xFFFF else 1 for character in text)


def test_a_lone_surrogate_counts_one() -> None:
    assert utf16_length("\ud83e") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("@ann hi", ["alice"]), ("@ann and @bob", ["bob"]), ("@Ann @ann", ["alice"]), ("@ann /x", ["alice /x"])],
)
def test_a_peer_is_started_by_nobody_and_a_note_says_how_it_reads(text: str, expected: list[str]) -> None:
    route = Room(last="alice", commands={"alice": frozenset({"x"})}).route(text)
    assert told(route) == expected
    assert [(note.code, note.text) for note in route.notes] == [
        ("peer", "@ann is not an agent here and reads this by mail.")
    ]


def test_a_message_to_a_peer_alone_may_reach_nobody() -> None:
    route = Room().route("@ann hi")
    assert problem(route) == ("nobody", None)
    assert notes(route) == ["peer"]


def test_an_agent_wins_over_a_peer_of_its_name() -> None:
    assert told(Room(peers=["Bob"]).route("@bob hi")) == ["bob"]


COMMANDS = {
    "alice": frozenset({"help", "plan", "mcp:fetch"}),
    "bob": frozenset({"help", "review", "docs:build"}),
    "carol": frozenset({"draw"}),
}


@pytest.mark.parametrize(
    ("text", "last", "expected", "noted"),
    [
        ("/help me", "bob", ["bob /help me"], []),
        (" \t/plan\n- x", "alice", ["alice /plan\n- x"], []),
        ("/bob:review src", "alice", ["bob /review src"], []),
        ("/BOB:review", "alice", ["bob /review"], []),
        ("/carol:draw a", "alice", ["+carol /draw a"], []),
        ("/bob:a:b", "alice", ["bob /a:b"], ["unlistedCommand"]),
        ("@bob /review", "alice", ["bob /review"], []),
        ("@bob @alice /help", None, ["bob /help", "alice /help"], []),
        ("@carol /draw", "alice", ["+carol /draw"], []),
        ("@all /help", None, ["alice /help", "bob /help"], []),
        ("@alice /bob:review", None, ["bob /review"], []),
        ("@bob /review @alice", "alice", ["bob /review @alice"], []),
        ("/help @bob", "alice", ["alice /help @bob"], []),
        ("/mcp:fetch x", "alice", ["alice /mcp:fetch x"], []),
        ("@bob /docs:build", "alice", ["bob /docs:build"], []),
        ("/secret x", "alice", ["alice /secret x"], ["unlistedCommand"]),
        ("@alice /review", None, ["alice /review"], ["unlistedCommand"]),  # said to alice in so many words
        ("@alice @bob /review", None, ["alice /review", "bob /review"], ["unlistedCommand"]),
        ("/draw", "alice", ["alice /draw"], ["unlistedCommand"]),  # carol is no member
        ("/usr/bin/env", "alice", ["alice"], []),
        ("hi /help", "alice", ["alice"], []),
    ],
)
def test_commands(text: str, last: str | None, expected: list[str], noted: list[str]) -> None:
    route = Room(last=last, commands=COMMANDS).route(text)
    assert told(route) == expected
    assert notes(route) == noted


@pytest.mark.parametrize(
    ("text", "last", "code", "suggestion"),
    [
        ("/review src", "alice", "unknownCommand", "/bob:review"),
        ("/review src", None, "unknownCommand", "/bob:review"),
        ("/bob:", "alice", "unknownCommand", None),
        ("/bob: review", "alice", "unknownCommand", None),
        ("/bob::x", "alice", "unknownCommand", None),
        ("/bbo:review src", "alice", "unknownAgent", "/bob:review"),
        ("/bbo:review src", None, "unknownAgent", "/bob:review"),  # not «mention somebody»: the slip is the trouble
        ("/zzz:review", "alice", "unknownAgent", None),
        ("/ann:review", "alice", "unknownAgent", None),
        ("/bbo:", "alice", "unknownAgent", None),
        ("@alice /bbo:review", None, "unknownAgent", "/bob:review"),
        ("/docs:build x", "alice", "unknownAgent", "/bob:docs:build"),
        ("/docs:build x", None, "unknownAgent", "/bob:docs:build"),
        ("@alice @bob /docs:build", None, "unknownAgent", "/bob:docs:build"),
        ("/carol:", None, "unknownCommand", None),
    ],
)
def test_a_command_that_names_the_wrong_one_starts_nobody(
    text: str, last: str | None, code: str, suggestion: str | None
) -> None:
    route = Room(last=last, commands=COMMANDS).route(text)
    assert problem(route) == (code, suggestion)
    assert route.problem is not None
    assert text[route.problem.start : route.problem.end] == "/" + text.split("/")[1].split(" ")[0]
    assert (suggestion or "") in route.problem.text


def test_who_gets_a_command_only_others_have_is_told_in_the_sentence() -> None:
    def sentence(text: str, last: str | None) -> str:
        route = Room(last=last, commands=COMMANDS).route(text)
        assert route.problem is not None
        return route.problem.text

    assert sentence("/review", "alice") == "@alice has no command /review. Did you mean /bob:review?"
    assert sentence("/review", None) == "Nobody was addressed. Did you mean /bob:review?"
    assert sentence("/docs:build", "alice") == (
        "No agent is named docs, and @alice has no command /docs:build. Did you mean /bob:docs:build?"
    )
    assert sentence("/zzz:x", None) == "No agent is named zzz."
    assert sentence("/bob:", None) == "/bob: names no command. Write /bob:command."


def test_a_command_of_a_member_no_longer_configured_is_not_suggested() -> None:
    route = Room(members=["alice", "zoe"], last="alice", commands={"zoe": frozenset({"x"})}).route("/x")
    assert told(route) == ["alice /x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hi", ["alice"]),
        ("@bob hi", ["alice"]),
        ("@bbo @all @ann", ["alice"]),
        ("@bob /help", ["alice"]),  # mentions are plain text, so this is no command
        (" /help me", ["alice /help me"]),
        ("/secret", ["alice /secret"]),
        ("/review", ["alice /review"]),
        ("/alice:plan x", ["alice /plan x"]),
        ("/ALICE:plan x", ["alice /plan x"]),
        ("/mcp:fetch x", ["alice /mcp:fetch x"]),
        ("/usr/bin/env", ["alice"]),
    ],
)
def test_in_a_direct_conversation_its_agent_always_answers(text: str, expected: list[str]) -> None:
    for last in (None, "alice"):
        route = Room(members=["alice"], direct="alice", last=last, commands=COMMANDS).route(text)
        assert told(route) == expected
        assert "peer" not in notes(route)


@pytest.mark.parametrize(
    ("text", "code", "suggestion"),
    [
        ("/bob:review", "unknownAgent", "/alice:review"),
        ("/bbo:review", "unknownAgent", "/alice:review"),
        ("/bob:", "unknownAgent", None),
        ("/alice:", "unknownCommand", None),
        ("/carol:sing", "unknownAgent", "/alice:carol:sing"),  # what alice has is not for carol
    ],
)
def test_there_a_command_can_name_only_that_agent(text: str, code: str, suggestion: str | None) -> None:
    room = Room(members=["alice"], direct="alice", commands={"alice": frozenset({"carol:sing"})})
    assert problem(room.route(text)) == (code, suggestion)


def test_an_agent_that_left_the_configuration_does_not_answer() -> None:
    assert problem(Room(members=["zoe"], direct="zoe").route("hi")) == ("agentNotFound", None)


def test_where_no_agent_may_run_nobody_is_started() -> None:
    route = Room(last="bob", forbidden="This folder is not trusted.").route("@bob hi")
    assert problem(route) == ("untrusted", None)
    assert route.problem is not None
    assert route.problem.text == "This folder is not trusted."


def test_a_target_carries_what_its_turn_would_begin_with() -> None:
    waits = WaitsFor(reason="agentBusy", agent="bob", channel_id="c2")
    room = Room(prospects={"bob": Prospect(unseen=7, cut=2, fresh=False, waits_for=waits)})
    target = room.route("@bob hi").to[0]
    assert (target.unseen, target.cut, target.fresh, target.waits_for) == (7, 2, False, waits)
    command = room.route("@bob /help").to[0]  # sent alone, without context
    assert (command.unseen, command.cut, command.fresh, command.waits_for) == (0, 0, False, waits)
    assert room.route("@alice hi").to[0].fresh


@given(st.text("@/:alicebo. \n\u00a0`x", max_size=20), st.sampled_from([None, "alice"]))
def test_a_route_has_targets_or_says_why_not(text: str, direct: str | None) -> None:
    route = Room(direct=direct, commands=COMMANDS).route(text)
    if text.strip():
        assert bool(route.to) != (route.problem is not None)
    names = [target.agent for target in route.to]
    assert len(names) == len(set(names))
    if route.problem is not None and route.problem.start is not None and route.problem.end is not None:
        assert text[route.problem.start] in "@/"
        assert route.problem.start < route.problem.end <= len(text)
