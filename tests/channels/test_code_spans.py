"""Which stretches of a text are code: nothing in them is a mention (design: Mentions)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekicks_bridge.channels.code_spans import closing_line, code_ranges

MARKDOWN = st.lists(
    st.sampled_from(["`", "``", "```", "~~~", "````", "\n", "\r\n", " ", "\\", "> ", "- ", "1. ", "# ", "|", "x"])
).map("".join)


def code_of(text: str) -> list[str]:
    return [text[start:end] for start, end in code_ranges(text)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no code", []),
        ("a `b` c", ["`b`"]),
        ("`a` b `c`", ["`a`", "`c`"]),
        ("``a ` b``", ["``a ` b``"]),
        ("`` ` a ` ``", ["`` ` a ` ``"]),
        ("``` a ```", ["``` a ```"]),
        ("a `b", []),
        ("a ``b`", []),
        ("``a `b` c", ["`b`"]),
        ("a `b\nc` d", ["`b\nc`"]),
        ("\\`a` b", []),
        ("\\\\`a` b", ["`a`"]),
        ("`a\\` b", ["`a\\`"]),  # in a code span a backslash is a backslash
        ("\\``a` b", ["``a`"]),  # the first backtick is escaped, the second opens
        ("`a\n\nb` c", []),
        ("`a\r\n\r\nb` c", []),
        ("`a\n \t\nb` c", []),
        ("> `a\n>\n> b`", []),
        ("> `a\n> b`", ["`a\n> b`"]),
        ("- `a\n- b`", []),
        ("1. `a\n2) b`", []),
        ("`a\n# b`", []),
        ("| `a | b |\n| c` | d |", []),
        ("| `a` | b |\n| c | `d` |", ["`a`", "`d`"]),
        ("`a\n-b`", ["`a\n-b`"]),
    ],
)
def test_code_spans(text: str, code: list[str]) -> None:
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```\na\n```\nb", ["```\na\n```"]),
        ("x\n~~~ py\na\n~~~\nb", ["~~~ py\na\n~~~"]),
        ("```py @bob\na\n```", ["```py @bob\na\n```"]),
        ("```\r\na\r\n```\r\nb", ["```\r\na\r\n```\r"]),
        ("```\na", ["```\na"]),
        ("```", ["```"]),
        ("````\n```\na\n````\nb", ["````\n```\na\n````"]),
        ("```\na\n`````\nb", ["```\na\n`````"]),
        ("```\n~~~\na\n```\nb", ["```\n~~~\na\n```"]),
        ("```\na\n``` x\nb\n```\nc", ["```\na\n``` x\nb\n```"]),
        ("~~~ ` x\na\n~~~\nb", ["~~~ ` x\na\n~~~"]),
        ("``` a ` b\nc", []),
        ("``\na\n``", ["``\na\n``"]),  # two are no fence, but they are a span
        ("a ```\nb", []),
        ("a ` b\n```\nc\n```\nd ` e", ["```\nc\n```"]),
        ("  ```\n  a\n  ```\nb", ["  ```\n  a\n  ```"]),
        ("- x\n\n    ```\n    a\n    ```\nb", ["    ```\n    a\n    ```"]),
        ("- ```\n  a\n  ```\nb", ["- ```\n  a\n  ```"]),
        ("12. ```\n    a\n    ```\nb", ["12. ```\n    a\n    ```"]),
        ("> ```\n> a\n> ```\n> b", ["> ```\n> a\n> ```"]),
        ("> - ```\n>   a\n>   ```\nb", ["> - ```\n>   a\n>   ```"]),
        ("> ```\n> a\nb", ["> ```\n> a\n"]),  # a fence ends with its quote
        ("> ```\n> a\n\nb", ["> ```\n> a\n"]),
        ("```\n> ```\na\n```\nb", ["```\n> ```\na\n```"]),  # a quote inside a fence is text
        ("-```\na", []),
    ],
)
def test_fenced_blocks(text: str, code: list[str]) -> None:
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a", None),
        ("```\na\n```", None),
        ("```\na", "```"),
        ("````py\n```\na", "````"),
        ("~~~\na\n```", "~~~"),
        ("```\na\n```\n~~~~\nb", "~~~~"),
        ("- ```\n  a", "```"),
        ("> ```\n> a", "> ```"),
        ("> > ~~~\n> > a", "> > ~~~"),
        ("> ```\n> a\nb", None),
        ("``` a ` b", None),
    ],
)
def test_the_line_that_closes_an_open_fence(text: str, line: str | None) -> None:
    assert closing_line(text) == line


@given(MARKDOWN)
def test_ranges_are_in_order_apart_and_inside_the_text(text: str) -> None:
    borders = [place for span in code_ranges(text) for place in span]
    assert borders == sorted(borders)
    assert all(start < end for start, end in code_ranges(text))
    assert not borders or (borders[0] >= 0 and borders[-1] <= len(text))


@given(MARKDOWN)
def test_the_closing_line_closes(text: str) -> None:
    line = closing_line(text)
    if line is not None:
        assert closing_line(f"{text}\n{line}") is None
        assert code_ranges(f"{text}\n{line}\n\n`x`")[-1] == (len(text) + len(line) + 3, len(text) + len(line) + 6)
