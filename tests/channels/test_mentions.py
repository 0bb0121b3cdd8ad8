"""Where a text mentions somebody (design: Mentions). Each table is one sentence of the rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekicks_bridge.channels.code_spans import code_ranges
from sidekicks_bridge.channels.mentions import (
    Mentions,
    closest_name,
    find_mentions,
    may_begin_mention,
    stands_first,
    within,
)

NAMES = ["alice", "bob", "Carol", "bob.smith", "al", "a1-b_c", "all"]
CHARACTERS = "@@@@@ \n\t`*_~\"'()[]<>./\\-:,#|x1é处ก안🦊\u0301\u00a0\ufeff\u200b\u3000，「」"
WORDS = ["bob", "BOB", "alice", "al", "bob.smith", "@bob", " @alice ", "@bbo", "- ", "> ", "```"]
TEXTS = st.lists(st.sampled_from([*CHARACTERS, *WORDS]), max_size=30).map("".join)


NOBODY = Mentions([], None)


def names_in(text: str) -> list[str]:
    return [mention.name for mention in find_mentions(text, NAMES).known]


def unknown_in(text: str) -> str | None:
    unknown = find_mentions(text, NAMES).unknown
    return unknown.word if unknown else None


@pytest.mark.parametrize(
    "text",
    [
        "@bob",
        "hi @bob",
        "hi\t@bob",
        "hi\n@bob",
        "hi\r\n@bob",
        "\u00a0@bob",
        "\ufeff@bob",
        "\u200b@bob",
        "\u3000@bob",
        "\u2003@bob",
        "\u2028@bob",
        "\u200e@bob",  # an invisible mark of direction, which some keyboards put there
        "(@bob)",
        "[@bob]",
        "{@bob}",
        "<@bob>",  # Slack
        "see [@bob](https://example.org)",
        "foo(@bob)",
        '"@bob"',
        "'@bob'",
        "“@bob”",
        "‘@bob’",
        "„@bob“",
        "«@bob»",
        "»@bob«",
        "「@bob」",
        "（@bob）",
        "【@bob】",
        "*@bob*",
        "**@bob** hi",
        "***@bob***",
        "_@bob_",
        "__@bob__",
        "~~@bob~~",
        "(**@bob**)",
        '"_@bob_"',
        '*"@bob"*',
        "请@bob看看",
        "请 @bob 看看",
        "你好，@bob",
        "你好。@bob",
        "ねえ@bobさん",
        "カナ@bob",
        "안녕@bob님",
        "ถาม@bob",
        "ຖາມ@bob",
        "𠀀@bob",
        "说“@bob”",
        "中**@bob**文",
        "> @bob",
        "- @bob",
        "1. @bob",
        "- [ ] @bob",
        "# @bob",
        "| @bob | x |",
        "    @bob",
        "$ @bob",
    ],
)
def test_a_mention_may_stand_here(text: str) -> None:
    assert names_in(text) == ["bob"]


@pytest.mark.parametrize(
    "text",
    [
        "waiting on bob",
        "me@bob",
        "me@bob.com",
        "first.last@bob",
        "me+tag@bob",
        "mailto:@bob",
        "git@github.com:bob/x",
        "git clone ssh://git@bob:22/x",
        "https://example.org/@bob",
        "src/@bob/x.ts",
        "src\\@bob",
        "npm i left@bob",
        "x=@bob",
        "cc:@bob",
        "x,@bob",
        "x;@bob",
        "#@bob",
        "$@bob",
        "%@bob",
        "&@bob",
        "!@bob",
        "?@bob",
        "+@bob",
        "-@bob",
        ".@bob",
        "|@bob|",
        "^@bob",
        ">@bob",
        ")@bob",
        "]@bob",
        "}@bob",
        "@@bob",
        "\\@bob",
        "\\*@bob\\*",
        "`@bob",
        "…@bob",
        "—@bob",
        "🦊@bob",
        "x*@bob*",
        "x_@bob_",
        "don't'@bob",
        'x"@bob"',
        "l’@bob",
        "é@bob",
        "e\u0301@bob",
        "привет@bob",
        "سلام@bob",
        "1@bob",
        "１@bob",
        "ｘ@bob",
        "๑@bob",
        "@ bob",
        "@\u200bbob",
        "＠bob",
    ],
)
def test_a_mention_may_not_stand_here(text: str) -> None:
    assert names_in(text) == []


ENDS = """
    , . : ; ! ? ) ] > … ... ' ’ 's ’s ** ~ ` | _ - — 🦊 @x =1 #1 &x <br> (s) *x* -- -, _. .)
    处理 さん カナ 에게 ช่วย ， 。 、 ） 」
"""


@pytest.mark.parametrize("after", ["", " ", "\n", "\u00a0", "\u200b", "\ufeff", ". Next", " - x", *ENDS.split()])
def test_a_name_ends_here(after: str) -> None:
    assert names_in(f"@bob{after}") == ["bob"]
    assert names_in(f"@BOB{after}") == ["bob"]


GOES_ON = "by 2 -2 _2 .py .com. / /pkg \\x é ж א क ٣ ๑ ２ Ａ \u0301 -é _x .处"


@pytest.mark.parametrize("after", GOES_ON.split())
def test_a_name_goes_on_here(after: str) -> None:
    assert names_in(f"@bob{after}") == []


@pytest.mark.parametrize("text", ["look at @src/bob.py", "@中文/a.md", "@types/node", "npm i @bob/pkg", "@", "@-bob"])
def test_paths_and_packages_are_nobody(text: str) -> None:
    assert find_mentions(text, NAMES) == NOBODY


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@alice do X, @bob do Y", ["alice", "bob"]),
        ("@bob @alice @bob", ["bob", "alice", "bob"]),
        ("@alice@bob", ["alice"]),
        ("@alice,@bob", ["alice"]),
        ("@CAROL", ["Carol"]),
        ("@bob.smith", ["bob.smith"]),
        ("@bob.smith.", ["bob.smith"]),
        ("@bob. smith", ["bob"]),
        ("@bob.smithy", []),
        ("@bob.smith-2", []),
        ("@al", ["al"]),
        ("@ali", []),
        ("@A1-B_C!", ["a1-b_c"]),
        ("@a1-b", []),
        ("@a1-b_c_", ["a1-b_c"]),
        ("@all hi", ["all"]),
        ("@ALL", ["all"]),
        ("@everyone", []),
        ("@" + "a" * 70, []),
    ],
)
def test_the_longest_name_wins_in_any_case(text: str, names: list[str]) -> None:
    assert names_in(text) == names


def test_a_name_of_64_characters_is_found_and_one_of_65_is_not() -> None:
    longest = "n" * 64
    assert [mention.name for mention in find_mentions(f"@{longest} x", [longest]).known] == [longest]
    assert find_mentions(f"@{longest}n x", [longest, longest + "n"]) == NOBODY


@pytest.mark.parametrize(
    "text",
    [
        "`@bob`",
        "`` ` @bob ``",
        "``` @bob ```",
        "`x @bob\ny`",
        "```\n@bob\n```",
        "```\n@bob",
        "```py @bob\nx\n```",
        "~~~\n@bob\n~~~",
        "- ```\n  @bob\n  ```",
        "> ```\n> @bob\n> ```",
        "````\n```\n@bob\n```\n@bob\n````",
        "```\n@app.route\n@bob\n```",
    ],
)
def test_nothing_in_code_counts(text: str) -> None:
    assert find_mentions(text, NAMES) == NOBODY


@pytest.mark.parametrize(
    "text",
    [
        "`x` @bob",
        "` @bob",
        "`x @bob",
        "`` x ` @bob",
        "\\` @bob `",
        "```\nx\n```\n@bob",
        "```\nx\n```\n\n`y` @bob",
        "- ```\n  x\n  ```\n- @bob",
        "> ```\n> x\n\n@bob",
        "`a\n\n@bob `",
        "- a ` b\n- @bob ` c",
    ],
)
def test_beside_code_it_counts(text: str) -> None:
    assert names_in(text) == ["bob"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("@bbo hi", "bbo"),
        ("@bbo, @dataclass.", "bbo"),
        ("@bob @bbo", "bbo"),
        ("`@bbo` @zoe", "zoe"),
        ("@types/node @zoe", "zoe"),
        ("@bob-2", "bob-2"),
        ("@bbo处理", "bbo"),
        ("@bbo._-", "bbo"),
        ("@app.route('/')", "app.route"),
        ("@types/node", None),
        ("x@bbo", None),
        ("`@bbo`", None),
        ("@bob", None),
    ],
)
def test_the_first_unknown_word(text: str, word: str | None) -> None:
    assert unknown_in(text) == word


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("bbo", "bob"),
        ("bo", None),  # from three letters on
        ("bobb", "bob"),
        ("BBO", "bob"),
        ("ailce", "alice"),
        ("alicia", "alice"),  # two from six letters on
        ("alcia", None),
        ("garfeild", "garfield"),
        ("gafrield", "garfield"),
        ("grafeild", "garfield"),
        ("grafeildo", None),
        ("dataclass", None),
        ("", None),
    ],
)
def test_the_name_that_was_meant(word: str, name: str | None) -> None:
    assert closest_name(word, ["alice", "bob", "garfield"]) == name


def test_fewer_slips_win_over_the_earlier_name() -> None:
    assert closest_name("garfeld", ["garfunld", "garfield"]) == "garfield"


@given(st.text("ab", max_size=5), st.text("ab", max_size=5), st.integers(0, 2))
def test_slips_are_the_same_both_ways_and_grow(left: str, right: str, slips: int) -> None:
    assert within(left, right, slips) == within(right, left, slips)
    assert within(left, right, 0) == (left == right)
    assert within(left, right, slips + 1) or not within(left, right, slips)


@pytest.mark.parametrize(
    ("before", "first"),
    [("", True), (" \n\u00a0\ufeff\u3000", True), ("**(“「", True), ("hi ", False), ("`x` ", False), ("1. ", False)],
)
def test_what_a_message_begins_with(before: str, first: bool) -> None:
    assert stands_first(f"{before}@bbo", len(before)) is first


@given(TEXTS)
def test_every_mention_is_what_it_says_and_where(text: str) -> None:
    mentions = find_mentions(text, NAMES)
    assert all(text[place.start : place.end].lower() == f"@{place.name}".lower() for place in mentions.known)
    for at in (place.start for place in mentions.known):
        assert may_begin_mention(text, at)
    if mentions.unknown:
        assert text[mentions.unknown.start : mentions.unknown.end] == f"@{mentions.unknown.word}"
    starts = [place.start for place in mentions.known]
    assert starts == sorted(set(starts))


@given(TEXTS)
def test_no_mention_lies_in_code(text: str) -> None:
    code = code_ranges(text)
    for place in find_mentions(text, NAMES).known:
        assert not any(start < place.end and place.start < end for start, end in code)


@given(TEXTS)
def test_fenced_no_text_mentions_anybody(text: str) -> None:
    assert find_mentions(f"`````\n{text}\n`````", NAMES) == NOBODY


@given(TEXTS, TEXTS.filter(lambda more: "`" not in more and "~" not in more))
def test_what_is_added_after_a_blank_changes_no_earlier_mention(text: str, more: str) -> None:
    """Only a backtick or tilde could make code of what stands before it."""
    before = find_mentions(text, NAMES).known
    assert find_mentions(f"{text} {more}", NAMES).known[: len(before)] == before


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert len(find_mentions(text, NAMES).known) <= text.count("@")
