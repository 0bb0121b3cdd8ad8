"""An agent's own name in front of its answer is dropped once, however the answer is cut in pieces (design rule 4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekicks_bridge.channels.name_prefix import NamePrefix

NAMES = ["bob", "Bob the Builder", "İstanbul", "ΟΔΟΣ", "bob:x"]


def shown(text: str, names: list[str], size: int = 1) -> str:
    """What is shown of ``text`` given in pieces of ``size`` characters."""
    prefix = NamePrefix(names)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return "".join(map(prefix.feed, pieces)) + prefix.flush()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bob: hi", "hi"),
        ("Bob: 4217", "4217"),
        ("BOB: hi", "hi"),
        ("bob:\nhi", "hi"),
        ("bob:\u00a0hi", "hi"),
        ("bob:  hi", " hi"),
        ("bob: bob: hi", "bob: hi"),
        ("Bob the Builder: hi", "hi"),
        ("bob THE builder: hi", "hi"),
        ("bob: ", ""),
        ("İstanbul: merhaba", "merhaba"),  # its lower case is longer than itself
        ("οδος: x", "x"),
        ("οδοσ: x", "x"),
        ("bob:x: hi", "hi"),
        ("bob:1", "bob:1"),
        ("bob:x", "bob:x"),
        ("bob:", "bob:"),
        ("bob", "bob"),
        ("bob hi", "bob hi"),
        ("bobby: hi", "bobby: hi"),
        ("Bob the Builder", "Bob the Builder"),
        ("Bob the: hi", "Bob the: hi"),
        (" bob: hi", " bob: hi"),
        ("@bob: hi", "@bob: hi"),
        ("alice: hi", "alice: hi"),
        (": hi", ": hi"),
        ("", ""),
        ("Hello. bob: hi", "Hello. bob: hi"),
    ],
)
def test_the_prefix_is_dropped_once(text: str, expected: str) -> None:
    for size in (1, 2, 3, 100):
        assert shown(text, NAMES, size) == expected


def test_pieces_are_held_back_only_until_it_is_decided() -> None:
    prefix = NamePrefix(["bob", "Bobby"])
    assert [prefix.feed(piece) for piece in ["B", "ob", ":", " ", "h", "bob: "]] == ["", "", "", "", "h", "bob: "]
    prefix = NamePrefix(["bob"])
    assert [prefix.feed(piece) for piece in ["b", "oat", "s"]] == ["", "boat", "s"]
    prefix = NamePrefix(["bob"])
    assert prefix.feed("x") == "x"


def test_what_is_held_is_shown_when_something_else_follows() -> None:
    prefix = NamePrefix(["bob"])
    assert prefix.feed("bob") == ""
    assert prefix.flush() == "bob"
    assert prefix.feed(": hi") == ": hi"
    assert prefix.flush() == ""


def test_a_thought_before_the_first_words_decides_nothing() -> None:
    prefix = NamePrefix(["bob"])
    assert prefix.flush() == ""
    assert prefix.feed("") == ""
    assert prefix.feed("bob: hi") == "hi"


@pytest.mark.parametrize("names", [[], [""]])
def test_without_a_name_nothing_is_held(names: list[str]) -> None:
    assert NamePrefix(names).feed(": hi") == ": hi"


@given(
    st.lists(st.sampled_from(["b", "B", "ob", "bob", ":", ": ", " ", "\n", "the Builder", "İ", "i̇stanbul", "x"])),
    st.data(),
)
def test_any_pieces_give_the_same_and_at_most_one_prefix_is_missing(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    prefix = NamePrefix(NAMES)
    pieces = [prefix.feed(text[start:end]) for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = "".join(pieces) + prefix.flush()
    assert whole == shown(text, NAMES, 1_000)
    assert text.endswith(whole)
    dropped = text[: len(text) - len(whole)]
    assert not dropped or (dropped[-1].isspace() and dropped[:-1].casefold() in [f"{n}:".casefold() for n in NAMES])
