"""Streaming Markdown: whatever the chunks, the settled lines are those of the whole text, and nothing leaks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidekicks_bridge.cli.markdown import MarkdownStream
from sidekicks_bridge.cli.style import Line, line_width

SAMPLE = """# Title

Some **bold**, _italic_, `code` and a [link](https://example.org/a_(b)).
snake_case_name and 2 * 3 * 4 stay.

- one
- two with a rather long text that must be wrapped because it is wider than the columns that there are
  1. nested
- [x] done

| a | b |
|---|---|
| 1 | **two** |

```python
def f():
    return "x"  # ok
```

> quoted

---
end"""


def whole(text: str, columns: int = 40) -> list[Line]:
    stream = MarkdownStream(columns)
    stream.feed(text)
    return stream.finish()


def plain(lines: list[Line]) -> str:
    return "\n".join("".join(text for _, text in line) for line in lines)


def styles(lines: list[Line]) -> dict[str, str]:
    return {text: style for line in lines for style, text in line}


def test_blocks_look_as_they_should() -> None:
    assert plain(whole(SAMPLE)).split("\n") == [
        "Title",
        "",
        "Some bold, italic, code and a link",
        "(https://example.org/a_(b)).",
        "snake_case_name and 2 * 3 * 4 stay.",
        "",
        "• one",
        "• two with a rather long text that must",
        "  be wrapped because it is wider than",
        "  the columns that there are",
        "  1. nested",
        "• ☑ done",
        "",
        "a │ b  ",
        "──┼────",
        "1 │ two",
        "",
        "  def f():",
        '      return "x"  # ok',
        "",
        "▏ quoted",
        "",
        "─" * 40,
        "end",
    ]


def test_inline_styles() -> None:
    found = styles(whole("**bold** _it_ ***both*** `co*d*e` ~~gone~~ [text](http://x) a\\*b ``a`b``", 200))
    assert found["bold"] == "bold"
    assert found["it"] == "italic"
    assert found["both"] == "bold italic"
    assert found["co*d*e"] == found["a`b"] == "fg:ansicyan"
    assert found["gone"] == "strike"
    assert found["text"] == "underline"
    assert plain(whole("a\\*b **open `tick")) == "a*b **open `tick"


def test_python_is_coloured_over_several_calls() -> None:
    stream = MarkdownStream(80)
    stream.feed('```python\nx = """first\n')
    first = stream.settle()
    stream.feed('second"""\ndef f(): pass\n```\n')
    found = styles(stream.settle())
    assert styles(first)['"""'] == "fg:ansigreen"
    assert found["second"] == "fg:ansigreen"
    assert found["def"] == "fg:ansimagenta"


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 30), min_size=1), st.integers(20, 60))
def test_chunks_do_not_matter(sizes: list[int], columns: int) -> None:
    stream = MarkdownStream(columns)
    lines: list[Line] = []
    at = 0
    for turn in range(len(SAMPLE)):
        size = sizes[turn % len(sizes)]
        stream.feed(SAMPLE[at : at + size])
        at += size
        lines += stream.settle()
        stream.tail()
    lines += stream.finish()
    assert lines == whole(SAMPLE, columns)


@settings(deadline=None)
@given(st.text(alphabet="ab *_`~[]()|#>-1.\n\t\\处🦊\u202e\x1b", max_size=300), st.integers(20, 50))
def test_any_text_is_shown_within_the_columns_and_without_controls(text: str, columns: int) -> None:
    stream = MarkdownStream(columns)
    stream.feed("x\n" + text)
    for line in stream.tail() + stream.finish():
        shown = "".join(piece for _, piece in line)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        if "```" not in text and "~~~" not in text:  # code is left for the terminal to wrap: copying keeps its lines
            assert line_width(line) <= columns


def test_a_line_of_twenty_thousand_words_is_whole_and_costs_by_what_is_new() -> None:
    words = [f"token {number} " for number in range(20_000)]
    stream = MarkdownStream(100)
    lines: list[Line] = []
    began = time.process_time()
    for at in range(0, len(words), 50):
        for word in words[at : at + 50]:
            stream.feed(word)
        lines += stream.settle()
        assert len(stream.tail()) <= 40
    lines += stream.finish()
    assert time.process_time() - began < 3
    assert all(line_width(line) <= 100 for line in lines)
    assert " ".join(plain(lines).split()) == "".join(words).strip()
    assert sum(line_width(line) < 80 for line in lines) <= 1  # no ragged rows where the line was cut


@pytest.mark.parametrize("text", ["```python\nx = 1", "~~~\n| a | b |", "text\n```\n# no heading"])
def test_an_open_fence_ends_with_its_message(text: str) -> None:
    whole(text)
    assert plain(whole("# Next\n**bold**")) == "Next\nbold"
    assert styles(whole("**bold**"))["bold"] == "bold"


def test_other_output_waits_for_the_end_of_a_block() -> None:
    stream = MarkdownStream(80)
    for text, between in (("a", False), ("b\n", True), ("```\n", False), ("x\n", False), ("```\n", True)):
        stream.feed(text)
        stream.settle()
        assert stream.between_blocks is between, text
