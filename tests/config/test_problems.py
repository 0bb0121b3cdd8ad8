"""What is wrong with a file, where, in which words: one table. `check` compares everything that is reported."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidekicks_bridge.config.load import Parsed, load, parse

FILE = Path("/home/ann/config.yaml")
DURATION = "a duration such as 500ms, 30s, 10m, 2h or 30d (at most 36500d)"
NAME_RULE = "begin with a letter (A–Z) or digit and use only letters, digits, '.', '_' and '-'."
AGENT = "agents:\n  - name: alice\n    command: a\n"
UNREADABLE = {
    "": '1:1 error: The file is empty; it needs at least "agents:" (or "agents: []" if there shall be none).',
    "# only words\n\n---\n": '1:1 error: The file is empty; it needs at least "agents:" '
    '(or "agents: []" if there shall be none).',
    "- name: a\n": '1:1 error: The file must be a mapping with keys such as "agents:", not a list.',
    "hello": '1:1 error: The file must be a mapping with keys such as "agents:", not text.',
    "agents:\n\t- name: a\n": "2:1 error: The line is indented with a tab; YAML allows only spaces there.",
    "agents:\n  - name: a\n  \tcommand: b\n": "3:3 error: The line is indented with a tab; "
    "YAML allows only spaces there.",
    "agents:\n  - name: a\n   title: b\n": "3:4 error: The indentation does not fit the lines above; "
    "align it with its neighbours.",
    'agents:\n  - name: "a\n    command: b\n': "2:11 error: The text in quotes that begins here is not closed; "
    "add the closing quote.",
    "agents: [a, b\nlimits: {}\n": "1:9 error: The '[' or '{' here is not closed, or a ',' is missing in it.",
    "agents: [\n": "2:1 error: A value is missing here, or a '[' or '{' above is not closed.",
    "agents: a: b\n": "1:10 error: A ':' is not expected here: check the indentation, or quote the value.",
    "agents:\n  - name: @bob\n": "2:11 error: This character cannot begin a value; put the value in quotes.",
    'a: "\\d"\n': "1:6 error: A backslash in double quotes is not a known escape; double it, or use single quotes.",
    "agents: *all\n": "1:9 error: The alias refers to an anchor that does not exist; define '&name' first, "
    "or quote the '*'.",
    "agents: &all [*all]\n": "1:9 error: An alias stands inside its own anchor; write the value out.",
    "agents: !!binary x\nlimits: !secret y\n": "2:9 error: The YAML tag !secret means nothing here; remove it, "
    "or quote the text.",
    "? [a]\n: b\n": "1:3 error: A key must be a plain word; put the text in quotes.",
    '"a\\0": 1\n': "1:1 error: The key contains U+0000, which is no character; remove it.",
    "agents: []\n---\nagents: []\n": "2:1 error: A second document begins here; a configuration is one, "
    "so remove the '---'.",
    "agents: []\n\x00": "2:1 error: The character U+0000 is not allowed in YAML; remove it.",
    "a: " + "[" * 5000: "1:35 error: The text is nested more than 32 levels deep.",
    "x" * (1024 * 1024 + 1): "1:1 error: The text is larger than 1 MiB, the most a configuration may have.",
}
PROBLEMS = {
    # agents
    "agents:\n": ['1:1 error: "agents" is empty; write "agents: []" if there shall be none.'],
    "agents: []\n": [],
    "agents: {alice: {command: a}}\n": ['1:9 error: "agents" must be a list, not a mapping.'],
    "agents: [alice]\n": ["1:10 error: Agent number 1 must be a mapping (key: value), not text."],
    "agents:\n  - command: a\n": ['2:5 error: Agent number 1 needs a "name".'],
    "agents:\n  - name:\n    command: a\n": ['2:5 error: Agent number 1 needs a "name".'],
    "agents:\n  - name: 7\n    command: a\n": [
        '2:11 error: "name" of agent number 1 must be text, not 7; put it in quotes.'
    ],
    "agents:\n  - name: al--ice\n    command: a\n": [
        "2:11 error: The name 'al--ice' contains '--', which joins the names of a pair; use a single '-'."
    ],
    "agents:\n  - name: a\n": ['2:5 error: Agent a needs a "command" that starts it (or "builtin": scout or scribe).'],
    AGENT + "    builtin: scout\n": ['4:5 error: Agent alice has a "command" and a "builtin"; remove one of them.'],
    "agents: [{name: a, builtin: scot}]\n": [
        "1:29 error: \"builtin\" of agent a must be scout or scribe, not 'scot'. Did you mean scout?"
    ],
    "agents: [{name: a, command: ''}]\n": [
        '1:29 error: "command" of agent a is empty; give it a value, or remove the line.'
    ],
    "agents: [{name: a, command: npx -y b}]\n": [
        "1:29 warning: The command 'npx -y b' is one program's name and is not split; put arguments into \"args\"."
    ],
    "agents: [{name: a, command: ~nobody-here/b}]\n": [
        "1:29 error: The home folder in '~nobody-here/b' is not known; write the path out."
    ],
    AGENT + "    args: --acp\n": [
        "4:11 error: \"args\" of agent alice must be a list, not text; write each item on its own line after '- '."
    ],
    AGENT + "    args: [--port, 8080]\n": [
        '4:20 error: "args[1]" of agent alice must be text, not 8080; put it in quotes.'
    ],
    AGENT + "    env: {A: true, B=: x}\n": [
        '4:14 error: "env.A" of agent alice must be text, not true or false; put it in quotes.',
        "4:20 error: 'B=' cannot be the name of an environment variable; rename it.",
    ],
    AGENT + "    env: {A: '${MISSING}/x', B: '${HERE}'}\n": [
        "4:14 warning: MISSING is not set in the environment, so A of agent alice is left out."
    ],
    AGENT + '    env: {A: "\\0"}\n': ["4:14 error: The text contains U+0000, which is no character; remove it."],
    AGENT + '    title: "\\ud800"\n': ["4:12 error: The text contains U+D800, which is no character; remove it."],
    AGENT + '    title: "two\\nlines"\n': [
        '4:12 error: "title" of agent alice contains a line break or another control character; remove it.'
    ],
    AGENT + "    title:\n": ['4:5 warning: "title" has no value; give it one, or remove the line.'],
    AGENT + "    runtime: {container: box}\n": [
        "4:14 error: \"runtime\" of agent alice {'container': 'box'} is not supported (yet); only local is."
    ],
    AGENT + "    runtime: local\n": [],
    AGENT + "    mcpServers: [files]\n": [
        '4:18 error: "mcpServers[0]" of agent alice must be a mapping (key: value), not text.'
    ],
    AGENT + "    mcpServers: [{name: files, command: x, env: [{name: A, value: null}]}]\n": [],
    AGENT + "    comand: x\n": ["4:5 warning: The key 'comand' is unknown and ignored. Did you mean command?"],
    AGENT + "    mcp_servers: []\n": [
        "4:5 warning: The key 'mcp_servers' is unknown and ignored. Did you mean mcpServers?"
    ],
    AGENT + "  - name: ALICE\n    command: b\n": [
        (
            "4:11 error: Another agent is named ALICE (alice: upper and lower case are the same); "
            "this entry is ignored. Rename or remove it."
        )
    ],
    AGENT + "    command: b\n": ["4:5 error: The key 'command' stands twice (first in line 3); keep one of them."],
    AGENT + "agents: []\n": ["4:1 error: The key 'agents' stands twice (first in line 1); keep one of them."],
    # channels
    AGENT + "channels:\n": [],
    AGENT + "channels:\n  - name: g\n    members: [alcie, Alice, bob, alice]\n": [
        "6:15 error: Channel g: no agent is named 'alcie'. Did you mean alice?",
        "6:29 error: Channel g: no agent is named 'bob'; add the agent, or remove the member.",
        "6:34 warning: Channel g has the member alice twice.",
    ],
    AGENT + "channels:\n  - name: '#g'\n  - {}\n": [
        f"5:11 error: The name '#g' is not allowed; {NAME_RULE}",
        '6:5 error: Channel number 2 needs a "name".',
    ],
    AGENT + "channels:\n  - name: g\n  - name: g\n": [
        "6:11 error: Another channel is named g; this entry is ignored. Rename or remove it."
    ],
    "agents: 5\nchannels:\n  - {name: g, members: [alice]}\n": ['1:9 error: "agents" must be a list, not 5.'],
    # the rest
    AGENT + "limits:\n  # all comments\nui:\n": [],
    AGENT + "limits: many\n": ['4:9 error: "limits" must be a mapping (key: value), not text.'],
    AGENT + "limits:\n  idleStop: 10 minutes\n": [
        f"5:13 error: \"limits.idleStop\" must be {DURATION}, not '10 minutes'."
    ],
    AGENT + "limits: {startTimeout: 0, cancelTimeout: -1, turnSilence: 0, keepPrompts: 99999d}\n": [
        '4:24 error: "limits.startTimeout" must be more than 0, not 0.',
        f'4:42 error: "limits.cancelTimeout" must be {DURATION}, not -1.',
        f'4:75 error: "limits.keepPrompts" must be {DURATION}, not 99999d.',
    ],
    AGENT + "limits: {messageBytes: 1GiB}\n": [
        "4:24 error: \"limits.messageBytes\" must be a size such as 64KiB or 1MiB (at most 256MiB), not '1GiB'."
    ],
    AGENT + "limits: {maxRunningAgents: 0, maxHops: 2.5, contextMessages: .inf}\n": [
        '4:28 error: "limits.maxRunningAgents" must be at least 1, not 0.',
        '4:40 error: "limits.maxHops" must be a whole number, not 2.5.',
        '4:62 error: "limits.contextMessages" must be a whole number, not text.',
    ],
    AGENT + "limits: {idleStop: .nan}\n": [f"4:20 error: \"limits.idleStop\" must be {DURATION}, not '.nan'."],
    AGENT + "permissions: {default: never}\nmessaging: {agents: on}\nui: {keepRunning: yes}\n": [
        "4:24 error: \"permissions.default\" must be ask or reject, not 'never'.",
        '6:19 error: "ui.keepRunning" must be true or false, not text.',
    ],
    "agnts: []\nagents: []\n": ["1:1 warning: The key 'agnts' is unknown and ignored. Did you mean agents?"],
    "agents: []\nzzz: 1\n": [
        (
            "2:1 warning: The key 'zzz' is unknown and ignored. "
            "Known here: agents, channels, limits, permissions, messaging, ui."
        )
    ],
}


def told(parsed: Parsed) -> list[str]:
    assert all(problem.file == str(FILE) for problem in parsed.problems)
    return [f"{problem.line}:{problem.column} {problem.severity}: {problem.message}" for problem in parsed.problems]


@pytest.mark.parametrize(("text", "expected"), UNREADABLE.items(), ids=lambda value: repr(value[:30]))
def test_a_file_that_says_nothing_as_a_whole(text: str, expected: str) -> None:
    parsed = parse(text, FILE, {})
    assert told(parsed) == [expected]
    assert parsed.config is None


@pytest.mark.parametrize(("text", "expected"), PROBLEMS.items(), ids=lambda value: repr(value)[-40:])
def test_problems_of_a_readable_file(text: str, expected: list[str]) -> None:
    parsed = parse(text, FILE, {"HERE": "1"})
    assert told(parsed) == expected
    assert parsed.config is not None


def test_every_problem_is_found_at_once() -> None:
    text = "agents:\n  - name: a--b\n    args: 5\n  - nme: c\nlimits:\n  maxHops: x\nui: 1\nfoo: 1"
    places = [(problem.line, problem.severity) for problem in parse(text, FILE, {}).problems]
    assert sorted(set(places)) == [
        (2, "error"), (3, "error"), (4, "error"), (4, "warning"), (6, "error"), (7, "error"), (8, "warning"),
    ]  # fmt: skip


def test_line_ends_and_byte_order_mark_do_not_move_places(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(b"\xef\xbb\xbfagents:\r\n  - name: a\r\n    comand: x\r\n")
    assert [(p.line, p.column) for p in load(file).problems] == [(2, 5), (3, 5)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"agents: []\n# caf\xe9\n", "2:6 The file is not UTF-8 (byte 0xe9); save it as UTF-8."),
        ("agents: []".encode("utf-16"), "1:1 The file is not UTF-8 (byte 0xff); save it as UTF-8."),
        (b"#" * (1024 * 1024 + 1), "1:1 The file is larger than 1 MiB, the most a configuration may have."),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, expected: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(data)
    (problem,) = load(file).problems
    assert f"{problem.line}:{problem.column} {problem.message}" == expected


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (missing,) = load(tmp_path / "none.yaml").problems
    assert missing.message == f"The file {tmp_path / 'none.yaml'} cannot be read: No such file or directory."
    (folder,) = load(tmp_path).problems
    assert "Is a directory" in folder.message


def test_a_pipe_is_no_configuration(tmp_path: Path) -> None:
    """Nobody would ever be served while the bridge waits for what comes through it."""
    os.mkfifo(tmp_path / "pipe")
    (problem,) = load(tmp_path / "pipe").problems
    assert problem.message == f"{tmp_path / 'pipe'} is a pipe or a device; name a file that can be read again."


def test_aliases_that_multiply_are_stopped_soon() -> None:
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    levels += [
        f"{name}: &{name} [{', '.join(['*' + before] * 9)}]" for before, name in zip("abcdefg", "bcdefgh", strict=True)
    ]
    begin = time.monotonic()
    parsed = parse("\n".join(levels), FILE, {})
    assert time.monotonic() - begin < 5
    assert "more than 20000 values, aliases counted as often as used" in parsed.problems[0].message


def test_many_problems_are_cut(tmp_path: Path) -> None:
    members = ", ".join(f"nobody{number}" for number in range(5000))
    parsed = parse(f"{AGENT}channels: [{{name: g, members: [{members}]}}]\n", FILE, {})
    assert len(parsed.problems) == 200
    assert parsed.config is not None
    assert parsed.config.channels[0].members == []


PIECES = st.sampled_from(
    [
        *("agents:", "channels:", "limits:", "- name: ", "name: a", "command: ", "members: ", "idleStop: ", "env: "),
        *(
            "mcpServers: ",
            "builtin: scout",
            "${A}",
            "a",
            "  ",
            "\n",
            "\n  ",
            "\n    ",
            "\t",
            ": ",
            "- ",
            "[",
            "]",
            "{",
            "}",
        ),
        *(
            "&a ",
            "*a",
            "<<: ",
            "!x ",
            "|\n",
            ">-\n",
            "'",
            '"',
            "#",
            "? ",
            "---\n",
            "...\n",
            "%YAML 1.1\n",
            "%TAG ! x\n",
        ),
        *(
            "!!int ",
            "!!float ",
            "!!binary ",
            "!!map ",
            "!!seq ",
            "!!null ",
            "0x",
            ".inf",
            "1e999",
            "-",
            "null",
            "~",
            "=",
        ),
        *("1_0", "0o8", "@", "`", "\\", "\r\n", "\0", "\ufeff", "\ud800", "\u2028", "\x85"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=60)))
@example("a: !!float x")
@example("<<: [1]")
@example("a: &a\n<<: *a")
@example("agents: [{name: a, env: {? [] : 1}}]")
def test_no_text_makes_it_raise(text: str) -> None:
    parsed = parse(text, FILE, {})
    assert parsed.config is not None or parsed.errors
    lines = text.count("\n") + text.count("\r") + text.count("\x85") + text.count("\u2028") + 2
    assert all(1 <= problem.line <= lines and problem.column >= 1 for problem in parsed.problems)
