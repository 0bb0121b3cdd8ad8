"""One change to a text: what it becomes, and that all the rest stays byte for byte."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sidekicks_bridge.config.edit import edit
from sidekicks_bridge.config.render import scalar
from sidekicks_bridge.config.yamltext import Unreadable, read
from sidekicks_bridge.protocol.errors import SidekicksError

TEXT = """\
# head
agents:
  # about alice
  - name: alice   # who
    title: 'Al'
    args: [a,  "b"]
    env: {A: "x"}
  # about bob
  - name: bob
    command: b

# about limits
limits:
  # idleStop: 5m
ui: {}  # nothing
channels:
- name: g
  description: |
    two
    lines
  members:
    - alice # a
    # before bob
    - bob
# tail
"""
CASES: list[tuple[list[str | int], Any, list[str]]] = [
    (["agents", 0, "title"], "It's", ["-    title: 'Al'", "+    title: 'It''s'"]),
    (["agents", 0, "name"], "b: c", ["-  - name: alice   # who", '+  - name: "b: c"   # who']),
    (["agents", 0, "title"], None, ["-    title: 'Al'"]),
    (["agents", 0, "name"], None, ["-  - name: alice   # who", "-    title: 'Al'", "+  - title: 'Al'"]),
    (["agents", 1, "icon"], "🦊", ['+    icon: "🦊"']),
    (["agents", 1], None, ["-  - name: bob", "-    command: b"]),
    (["agents", 0, "args", 2], "z", ['-    args: [a,  "b"]', '+    args: [a,  "b", z]']),
    (["agents", 0, "args", 0], None, ['-    args: [a,  "b"]', '+    args: ["b"]']),
    (["agents", 0, "args", 1], None, ['-    args: [a,  "b"]', "+    args: [a]"]),
    (["agents", 0, "args"], [], ['-    args: [a,  "b"]', "+    args: []"]),
    (["agents", 0, "env", "B"], "80", ['-    env: {A: "x"}', '+    env: {A: "x", B: "80"}']),
    (["agents", 0, "env", "A"], None, ['-    env: {A: "x"}', "+    env: {}"]),
    (
        ["agents", 2],
        {"name": "c", "command": "x", "args": ["--a b", "z"], "env": {"K": "v"}, "mcpServers": [{"name": "m"}]},
        ["+  - name: c", "+    command: x", '+    args: [--a b, z]', "+    env:", "+      K: v", "+    mcpServers:",
         "+      - name: m"],
    ),
    (["limits", "idleStop"], "5m", ["+  idleStop: 5m"]),
    (["limits"], None, ["-limits:"]),
    (["ui", "keepRunning"], True, ["-ui: {}  # nothing", "+ui:  # nothing", "+  keepRunning: true"]),
    (["messaging", "agents"], "on", ["+messaging:", '+  agents: "on"']),
    (["channels", 0, "description"], "one", ["-  description: |", "-    two", "-    lines", "+  description: one"]),
    (["channels", 0, "members", 0], None, ["-    - alice # a"]),
    (["channels", 0, "members", 0], "carol", ["-    - alice # a", "+    - carol # a"]),
    (["channels", 0, "members", 2], "carol", ["+    - carol"]),
    (
        ["channels", 0, "members"],
        ["carol"],
        ["-  members:", "-    - alice # a", "-    # before bob", "-    - bob", "+  members: [carol]"],
    ),
    (["agents", 1, "nothing"], None, []),
    (["permissions", "default"], None, []),
    (["agents", 7 - 5], None, []),
]  # fmt: skip


def changes(before: str, after: str) -> list[str]:
    """The lines that went and came, by their longest common beginning and end and, between, by their text."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return [f"-{line}" for line in old] + [f"+{line}" for line in new]


@pytest.mark.parametrize(("path", "value", "expected"), CASES, ids=lambda value: str(value)[:50])
def test_only_these_lines_change(path: list[str | int], value: Any, expected: list[str]) -> None:
    assert changes(TEXT, edit(TEXT, path, value)) == expected


@pytest.mark.parametrize(
    ("text", "path", "value", "after"),
    [
        ("agents: []\n", ["agents", 0], {"name": "a"}, "agents:\n  - name: a\n"),
        ("agents: []", ["limits", "maxHops"], 2, "agents: []\nlimits:\n  maxHops: 2"),
        ("{agents: []}\n", ["limits", "maxHops"], 2, "{agents: [], limits: {maxHops: 2}}\n"),
        ("agents:\n-   name: a\n", ["agents", 0, "args"], ["x"], "agents:\n-   name: a\n    args: [x]\n"),
        ("a:\n    b:\n        c: 1\n", ["a", "d", "e"], 1, "a:\n    b:\n        c: 1\n    d:\n        e: 1\n"),
        ("a: 1\r\nb: 2\r\n", ["c", "d"], 3, "a: 1\r\nb: 2\r\nc:\r\n  d: 3\r\n"),
        ("\ufeffa: 1\n", ["b"], 2, "\ufeffa: 1\nb: 2\n"),
        ("a: 1\nb: 2\n", ["a"], None, "b: 2\n"),
        ("a: 1\n", ["a"], None, "{}\n"),
        ("a:\n  - b\n", ["a", 0], None, "a: []\n"),
        ("a:\nb: 1\n", ["a"], 5, "a: 5\nb: 1\n"),
        ("a:\n- - x\n  - y\n", ["a", 0, 0], None, "a:\n- - y\n"),
        ("a: {b: , c: 1}\n", ["a", "b"], 2, "a: {b: 2 , c: 1}\n"),
        ("---\na: 1\n...\n", ["b"], 2, "---\na: 1\nb: 2\n...\n"),
        ("a: >-\n  folded\n\n# c\n", ["b"], 1.0, "a: >-\n  folded\nb: 1.0\n\n# c\n"),
    ],
)  # fmt: skip
def test_layouts(text: str, path: list[str | int], value: Any, after: str) -> None:
    assert edit(text, path, value) == after


@pytest.mark.parametrize(
    ("text", "path", "code"),
    [
        ("a: [\n", ["a"], "configInvalid"),
        ("", ["a"], "configInvalid"),
        ("- a\n", [0], "configInvalid"),
        ("a: 1\n", [], "invalidParams"),
        ("a: 1\n", ["a", "b"], "invalidParams"),
        ("a: 1\n", [0], "invalidParams"),
        ("a: []\n", ["a", "x"], "invalidParams"),
        ("a: []\n", ["a", 1], "invalidParams"),
        ("a: []\n", ["a", -1], "invalidParams"),
        ("a: []\n", ["b", 1], "invalidParams"),
        ("a: &x [1]\nb: *x\n", ["b", 0], "configUnwritable"),
        ("? a\n", ["b"], "configUnwritable"),
        ("a: |\n  the last line, without an end", ["b"], "configUnwritable"),
    ],
)
def test_refusals(text: str, path: list[str | int], code: str) -> None:
    with pytest.raises(SidekicksError) as caught:
        edit(text, path, 5)
    assert caught.value.code == code


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers(-9999, 9999) | TEXTS
KEYS = st.sampled_from(["a", "b", "c d", "on", "12", "x: y"]) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
SPACE = st.sampled_from(["", "\n", "# note\n", "\n    # deep: note\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A YAML text in many layouts: block and flow, several indentations, comments between and behind."""
    step, offset = draw(st.sampled_from([(2, 0), (2, 2), (4, 2), (4, 4), (3, 0)]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    behind = st.sampled_from(["", "  # note", " #"])

    def inline(depth: int) -> str:
        kind = draw(st.integers(0, 5 if depth < 3 else 3))
        if kind == 4:
            return (
                "["
                + draw(st.sampled_from([", ", ",   "])).join(inline(depth + 1) for _ in range(draw(st.integers(0, 3))))
                + "]"
            )
        if kind == 5:
            return "{" + ", ".join(f"k{n}: {inline(depth + 1)}" for n in range(draw(st.integers(0, 3)))) + "}"
        return draw(st.sampled_from(["word", "'single'", '"dou\\tble"', "12", "true", "null", "a b", "10m", "~"]))

    def block(indent: int, depth: int) -> list[str]:
        lines = []
        for number in range(draw(st.integers(1, 3))):
            lines += draw(SPACE).splitlines()
            nested = draw(st.integers(0, 4)) if depth < 3 else 0
            key = " " * indent + f"k{number}:" + draw(st.sampled_from(["", " "]))
            if nested == 3:
                lines += [key.rstrip() + draw(behind), *block(indent + step, depth + 1)]
            elif nested == 4:
                lines.append(key.rstrip() + draw(behind))
                for _ in range(draw(st.integers(1, 3))):
                    dash = " " * (indent + offset) + "- "
                    if draw(st.booleans()):
                        lines.append(dash + inline(1) + draw(behind))
                    else:
                        item = block(len(dash), depth + 1)
                        first = next(
                            at for at, line in enumerate(item) if line.strip() and not line.lstrip().startswith("#")
                        )
                        lines += [dash + item[first].lstrip(), *item[first + 1 :]]
            elif nested == 2:
                lines += [key.rstrip() + " |", " " * (indent + step) + "text", " " * (indent + step) + "# no comment"]
            else:
                lines.append(key.rstrip() + " " + inline(1) + draw(behind))
        return lines

    return newline.join([*block(0, 0), *draw(SPACE).splitlines(), ""])


def places(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every path in ``data``, and one new place in every mapping and list."""
    if isinstance(data, dict):
        inner = [place for key, value in data.items() for place in places(value, (*path, key))]
        return [path, *inner, (*path, "new")]
    if isinstance(data, list):
        inner = [place for index, value in enumerate(data) for place in places(value, (*path, index))]
        return [path, *inner, (*path, len(data))]
    return [path]


@settings(max_examples=150, deadline=None)
@given(documents(), st.data())
def test_any_change_means_what_was_asked_and_leaves_the_rest(text: str, data: st.DataObject) -> None:
    before = read(text).data
    path = list(data.draw(st.sampled_from(places(before)[1:])))
    value = data.draw(VALUES)
    after = edit(text, path, value)
    assert read(after).data == applied(before, path, value)
    gone = [line for line in changes(text, after) if line.startswith("-")]
    assert len(gone) <= most_lines(text, path, before, removed=value is None)


def applied(before: Any, path: list[str | int], value: Any) -> Any:
    data = copy.deepcopy(before)
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    last = path[-1]
    if value is not None:
        if isinstance(holder, list) and last == len(holder):
            holder.append(value)
        else:
            holder[last] = value
    elif last in (range(len(holder)) if isinstance(holder, list) else holder):
        del holder[last]
    return data


def most_lines(text: str, path: list[str | int], data: Any, *, removed: bool) -> int:
    """How many old lines a change at ``path`` may touch: from its key to where the next thing begins, and one more.

    What removing leaves empty is written ``{}`` or ``[]`` on its own key's line, so all of it counts.
    """
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    if removed and len(path) > 1 and len(holder) == 1:
        path = path[:-1]
    document = read(text)
    begin = document.place(tuple(path), at_key=True).line
    things = [*document.keys.items(), *document.values.items()]
    later = [place.line for at, place in things if at[: len(path)] != tuple(path) and place.line > begin]
    return min(later, default=text.count("\n") + 1) - begin + 1


@given(TEXTS, st.sampled_from([None, "'", '"']))
def test_a_text_is_read_as_it_was_written(text: str, style: str | None) -> None:
    assert read(f"a: {scalar(text, style)}\n").data == {"a": text}
    assert read(f"[{scalar(text, style)}]\n").data == [text]


@settings(suppress_health_check=[HealthCheck.filter_too_much], max_examples=40, deadline=None)
@given(st.text("abc:-[]{}#&*!|>'\"%@`,? \n", max_size=12).map("a:{}".format))
def test_any_text_is_edited_or_refused(text: str) -> None:
    try:
        before = read(text).data
    except Unreadable:
        before = None
    assume(isinstance(before, dict))
    try:
        after = edit(text, ["zzz"], "v")
    except SidekicksError:
        return
    assert read(after).data == {**before, "zzz": "v"}
