"""The one name rule, as tables; and that its regular expression says the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekicks_bridge.names import NAME_PATTERN, WINDOWS_NAMES, fold, name_problem, same_name

GOOD = [
    "a",
    "7",
    "alice",
    "Bob-2",
    "a.b_c",
    "x" * 64,
    "a_",
    "console",
    "com",
    "com10",
    "lpt1x",
    "userx",
    "all.txt",
    "a-b-c",
]
BAD = {
    "": "is empty",
    "x" * 65: "has 65 characters; shorten it to 64",
    "x" * 300: "has 300 characters",
    "x/../alice": "use only letters",
    "alice ": "use only letters",
    "alice\n": "use only letters",
    "#general": "begin with a letter",
    "-a": "begin with a letter",
    ".hidden": "begin with a letter",
    "_a": "begin with a letter",
    "élise": "begin with a letter",
    "ａlice": "begin with a letter",
    "٣": "begin with a letter",
    "a--b": "contains '--'",
    "a.": "ends with '.'",
    "a-": "ends with '-'",
    "CON": "reserved by Windows",
    "nul.txt": "reserved by Windows",
    "Com1": "reserved by Windows",
    "lpt9.a.b": "reserved by Windows",
    "user": "a meaning of its own",
    "SYSTEM": "a meaning of its own",
    "All": "a meaning of its own",
}


@pytest.mark.parametrize("name", GOOD)
def test_good_names(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(("name", "why"), BAD.items())
def test_bad_names(name: str, why: str) -> None:
    problem = name_problem(name)
    assert problem is not None
    assert why in problem
    assert len(problem) < 200


def test_case_does_not_make_another_name() -> None:
    assert same_name("Alice", "aLICE")
    assert not same_name("alice", "alice2")
    assert fold("Alice") == "alice"


@given(
    st.one_of(
        st.text(max_size=70),
        st.text("aZ9._-", max_size=66),
        st.builds(
            "{}{}".format, st.sampled_from([*WINDOWS_NAMES, "USER", "All", "system"]), st.text(".a-", max_size=2)
        ),
    )
)
def test_the_pattern_for_editors_is_the_same_rule(name: str) -> None:
    matches = re.search(NAME_PATTERN.replace("$", r"\Z"), name) is not None  # ECMAScript's $ is Python's \Z
    assert matches == (name_problem(name) is None)
