"""What is a slash command, and what of a text is sent (design rule 5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekicks_bridge.channels.commands import SlashCommand, find_command
from sidekicks_bridge.channels.mentions import find_mentions

NAMES = ["alice", "bob"]


def command(text: str) -> SlashCommand | None:
    return find_command(text, find_mentions(text, NAMES).known)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("/help", "/help"),
        (" /help", "/help"),
        ("\t/help", "/help"),
        ("\n/help", "/help"),
        ("\r\n \n/help", "/help"),
        ("\u00a0/help", "/help"),
        ("\ufeff/help", "/help"),
        ("\u3000/help", "/help"),
        ("\u2060/help", "/help"),
        ("\u200e\u202a /help", "/help"),
        ("/help\u200e", "/help\u200e"),
        ("/help me  please ", "/help me  please "),
        ("/plan\n- one\n- two\n", "/plan\n- one\n- two\n"),
        ("/help\tme", "/help\tme"),
        ("/help\u00a0me", "/help\u00a0me"),
        ("/help\ufeff", "/help\ufeff"),
        ("/review @bob `x`", "/review @bob `x`"),
        ("/a-b_c.d:e x", "/a-b_c.d:e x"),
        ("/1st", "/1st"),
        ("/café", "/café"),
        ("/mcp__server__prompt a", "/mcp__server__prompt a"),
        ("/tmp is full", "/tmp is full"),
        ("/bob:review src", "/bob:review src"),
        ("/bob:", "/bob:"),
    ],
)
def test_a_command_at_the_start_is_sent_as_written(text: str, sent: str) -> None:
    found = command(text)
    assert found is not None
    assert (found.text, found.leading) == (sent, [])


NO_COMMANDS = """
    / //help /-x /.x /:x /_x /? /! /help! /help(x) /help@bob /@bob /usr/bin/env /etc/ /a\\b /帮助 ／help
    help **/help** `/help` \\/help ./help ~/help
"""


@pytest.mark.parametrize(
    "text",
    [
        *NO_COMMANDS,
        "",
        " ",
        "/ help",
        "/\u200bhelp",
        "/help, me",
        "/usr/bin is full",
        "try /help",
        "> /help",
        "- /help",
    ],
)
def test_anything_else_is_text(text: str) -> None:
    assert command(text) is None


@pytest.mark.parametrize(
    ("text", "leading", "sent"),
    [
        ("@bob /review src", ["bob"], "/review src"),
        ("  @bob   /review", ["bob"], "/review"),
        ("@BOB /review", ["bob"], "/review"),
        ("@bob, /review", ["bob"], "/review"),
        ("@bob: /review", ["bob"], "/review"),
        ("@bob\u00a0/review", ["bob"], "/review"),
        ("@bob\n/review", ["bob"], "/review"),
        ("@bob @alice /review", ["bob", "alice"], "/review"),
        ("@bob, @alice: /review", ["bob", "alice"], "/review"),
        ("@bob @alice @bob /review", ["bob", "alice"], "/review"),
        ("@bob /review @alice", ["bob"], "/review @alice"),
        ("@bob /alice:review", ["bob"], "/alice:review"),
    ],
)
def test_mentions_may_lead_a_command(text: str, leading: list[str], sent: str) -> None:
    found = command(text)
    assert found is not None
    assert (found.leading, found.text) == (leading, sent)


@pytest.mark.parametrize(
    "text",
    [
        "@bob please /review",
        "@bob and @alice /review",
        "hi @bob /review",
        "@bob",
        "@bob /",
        "@bob/review",
        "@bob /a/b",
        "@bob. /review",
        "@bob `/review`",
        "**@bob** /review",
        "@bbo /review",
    ],
)
def test_a_command_elsewhere_is_text(text: str) -> None:
    assert command(text) is None


@pytest.mark.parametrize(
    ("text", "agent", "own_word", "sent"),
    [
        ("/bob:review x", "bob", "review", "/review x"),
        ("/bob:a:b", "bob", "a:b", "/a:b"),
        ("/bob:", "bob", "", "/"),
        ("/review x", None, "review", "/review x"),
    ],
)
def test_an_agent_in_front_of_the_word(text: str, agent: str | None, own_word: str, sent: str) -> None:
    found = command(text)
    assert found is not None
    assert (found.agent, found.own_word, found.without_agent()) == (agent, own_word, sent)


@given(
    st.sampled_from(["", " ", "\n\t", "@bob ", "@alice, @bob: "]),
    st.from_regex(r"[A-Za-z0-9][\w.:-]{0,8}", fullmatch=True),
    st.sampled_from(["", " ", "\n"]),
    st.text(),
)
def test_arguments_are_untouched_and_the_place_is_right(before: str, word: str, blank: str, rest: str) -> None:
    arguments = f"{blank}{rest}" if blank else ""
    text = f"{before}/{word}{arguments}"
    found = command(text)
    assert found is not None
    assert (found.word, found.rest) == (word, arguments)
    assert text[found.start : found.end] == f"/{word}"


@given(st.text("/@ab:. \n\u00a0", max_size=12))
def test_any_text_can_be_read(text: str) -> None:
    found = command(text)
    assert found is None or text.endswith(found.text)
