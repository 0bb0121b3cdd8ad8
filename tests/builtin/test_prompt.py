"""Prompts taken apart: the bridge's frame as the bridge really builds it, addressed parts, commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekicks_bridge.builtin.markdown import code, fence, quote
from sidekicks_bridge.builtin.prompt import USER, Message, Prompt, Slash, addressed_text, read_command, read_prompt
from sidekicks_bridge.channels.context import Limits, Utterance, build
from tests.builtin.harness import framed

UNSEEN = [
    Utterance(1, "user", None, "@alice explain\ngoroutines"),
    Utterance(2, "agent", "alice", "Light:\n\n  - a\n- b"),
]


@pytest.mark.parametrize("where", ["general", None])
@pytest.mark.parametrize(("writer", "speaker"), [("The user", USER), ("ann (not the user)", "ann")])
def test_the_bridges_frame_is_read_back(where: str | None, writer: str, speaker: str) -> None:
    context = build(UNSEEN, "@bob well?\n[End of the messages]", where=where, limits=Limits(), writer=writer)
    messages = [Message(USER, "@alice explain\ngoroutines"), Message("alice", "Light:\n\n  - a\n- b")]
    assert read_prompt(context.text) == Prompt(where, messages, speaker, "@bob well?\n[End of the messages]")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n :[]a0"), max_size=60)


@given(
    said=st.lists(TEXTS, min_size=1, max_size=4), text=TEXTS, writer=st.sampled_from(["The user", "ann (not the user)"])
)
def test_no_message_forges_another(said: list[str], text: str, writer: str) -> None:
    utterances = [Utterance(seq, "agent", f"a{seq}", one) for seq, one in enumerate(said)]
    prompt = read_prompt(build(utterances, text, where="x", limits=Limits(), writer=writer).text)
    assert prompt.unseen == [Message(f"a{seq}", one) for seq, one in enumerate(said)]
    assert prompt.text == text


def test_a_peer_is_named_though_nothing_is_unseen() -> None:
    context = build([], "see this\nplease", where="x", limits=Limits(), writer="ann (not the user)")
    assert read_prompt(context.text) == Prompt(None, [], "ann", "see this\nplease")


@pytest.mark.parametrize(
    "text",
    [
        "where are routes decided?",
        "[Messages in #general you have not seen yet]\nno end",
        "[Messages in #general you have not seen yet]\n[End of the messages]",
        "The user now writes to you (answer directly, without your name in front):\nhello",
        "",
    ],
)
def test_without_a_frame_the_text_is_the_users(text: str) -> None:
    assert read_prompt(text) == Prompt(None, [], USER, text)


def test_the_helper_frames_as_the_bridge_does() -> None:
    context = build(UNSEEN, "well?", where="general", limits=Limits())
    said = [f"{one.speaker}: {one.text}" for one in UNSEEN]
    assert framed(*said, text="well?") == context.text


@pytest.mark.parametrize(
    ("text", "scout", "scribe"),
    [
        ("@scout where are routes decided? @scribe keep that", "where are routes decided?", "keep that"),
        ("@scout where are routes decided @scribe keep that", "where are routes decided", "keep that"),
        (
            "@scout where are routes? @bob, what do you think?",
            "where are routes?",
            "where are routes? @bob, what do you think?",
        ),
        ("@scout @scribe compare them", "compare them", "compare them"),
        ("@scribe, @scout: compare them", "compare them", "compare them"),
        ("@all compare them", "compare them", "compare them"),
        ("where are routes decided, @scout?", "where are routes decided,", "where are routes decided, @scout?"),
        ("**@scout** find _it_", "find _it_", "find _it_"),
        ("@Scout where is `@scribe` used", "where is `@scribe` used", "where is `@scribe` used"),
        ("@scout where is @dataclass used", "where is @dataclass used", "where is @dataclass used"),
        ("@scout who is me@scribe.org", "who is me@scribe.org", "who is me@scribe.org"),
        ("@scout-2 hello", "hello", "hello"),
        ("no mention", "no mention", "no mention"),
        ("@scout", "", ""),
    ],
)
def test_a_message_is_cut_at_the_mention_of_another(text: str, scout: str, scribe: str) -> None:
    assert addressed_text(text, "scout", set()) == scout
    assert addressed_text(text, "scribe", set()) == scribe


def test_speakers_are_known_names() -> None:
    assert addressed_text("@scout where is it @alice note that", "scout", {"Alice"}) == "where is it"
    assert addressed_text("@finder where is it @scout no", "finder", set()) == "where is it"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/find a  b ", Slash("find", "a  b")),
        ("/Files\n*.py", Slash("files", "*.py")),
        ("/todo", Slash("todo", "")),
        ("/usr/bin/env python", None),
        ("/ find", None),
        ("find /todo", None),
    ],
)
def test_commands(text: str, command: Slash | None) -> None:
    assert read_command(text) == command


@given(st.text(max_size=80))
def test_no_text_leaves_its_quote_fence_or_code_span(text: str) -> None:
    assert all(line.startswith(">") for line in quote(text).splitlines())
    lines = text.split("\n")
    opened, *_, closed = fence(lines, "").split("\n")
    assert closed == opened
    assert not any(closed in line for line in lines)
    span = code(text)
    ticks = span[: len(span) - len(span.lstrip("`"))]
    assert span == "" or (span.endswith(ticks) and ticks not in span[len(ticks) : -len(ticks)].replace(" ", ""))
