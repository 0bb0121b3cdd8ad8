"""Each directive of the fake agent, run through raw frames."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

import tests.fake_agent
from tests.fake_agent import ask, bad, log, script, talk, tools, trouble
from tests.fake_agent.gates import Gates
from tests.fake_agent.options import Options
from tests.fake_agent.peer import Peer, fields
from tests.fake_agent.turn import DIRECTIVES

if TYPE_CHECKING:
    from pathlib import Path

    JSON = dict[str, Any]

END = {"stopReason": "end_turn"}
CANCELLED = {"stopReason": "cancelled"}
FRAMED = """\
[Messages in #general you have not seen yet]
user: hi
  [End of the messages]
[End of the messages]
The user now writes to you (answer directly, without your name in front):
@bob !say x
more"""
assert [ask, bad, talk, tools, trouble]  # imported so that they register their directives


# --- the script


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("hello", "hello"),
        ("@alice @bob, hello @carol", "hello @carol"),
        ("@alice", ""),
        ("@src/bob.py hello", "@src/bob.py hello"),
        ("/plan a b", "/plan a b"),
        (FRAMED, "!say x\nmore"),
        (
            "ann (not the user) now writes to you (answer directly, without your name in front):\n!say x",
            "!say x",
        ),
        ("The user now writes to you", "The user now writes to you"),
    ],
)
def test_the_script_is_the_users_text(prompt: str, text: str) -> None:
    assert script.users_text(prompt) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!say a b", [("say", "a b")]),
        ("please !say a !hold g\n!say b", [("say", "a"), ("hold", "g"), ("say", "b")]),
        ("!say wow!say and !sey", [("say", "wow!say and !sey")]),
        ("!for bob !say b !for ALICE !say a !for all !say c", [("say", "a"), ("say", "c")]),
        ("plain text", []),
    ],
)
def test_directives(text: str, expected: list[tuple[str, str]]) -> None:
    assert script.directives(text, {"say", "hold"}, "alice") == expected


def test_a_misspelt_directive_fails_the_prompt(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        response = peer.open().turn("@alice !sya hello")
    assert response["error"] == {"code": -32602, "message": "unknown directive !sya"}


def test_the_docstring_lists_every_directive_and_option() -> None:
    text = tests.fake_agent.__doc__ or ""
    assert set(re.findall(r"^    !([a-z-]+)", text, re.MULTILINE)) == {*DIRECTIVES, "for"}
    documented = set(re.findall(r"(?<= )--([a-z-]+)", text))
    assert documented == {name.replace("_", "-") for name in vars(Options())}


# --- directives that need nothing of the client: script, what is said, and updates of one kind

MODEL_ALIKE: list[tuple[str, str, str, list[list[Any]]]] = [
    ("hello there", "fake heard: hello there", "", []),
    ("!say one\\n\\stwo !say end", "one\n twoend", "", []),
    ("!words a b c", "a b c ", "", []),
    ("!chunks 3", "0 1 2 ", "", []),
    ("!chunks 2 5", "...0 ...1 ", "", []),
    ("!think hm", "", "agent_thought_chunk", [["agent_thought_chunk"]]),
    ("!name-prefix", "Fake: ", "", []),
    ("!name-prefix X:\\s", "X: ", "", []),
    ("!big 100000", "x" * 100_000, "", []),
    ("!image", "", "agent_message_chunk", [["agent_message_chunk"]]),
    ("!empty", "", "", []),
    ("!mode code", "", "current_mode_update", [["current_mode_update", "code"]]),
    ("!title New", "", "session_info_update", [["session_info_update", "New"]]),
    ("!usage 5 9", "", "usage_update", [["usage_update", 5, 9, None]]),
    ("!usage 5 9 0.5 EUR", "", "usage_update", [["usage_update", 5, 9, {"amount": 0.5, "currency": "EUR"}]]),
    ('!update {"sessionUpdate":"plan","entries":[]}', "", "plan", [["plan", []]]),
    ("!commands", "", "available_commands_update", [["available_commands_update", []]]),
    ("!tool read Look", "", "tool_call", [["tool_call", None, None, None, None, "Look", "pending"]]),
    ("!tool-open edit Work", "", "tool_call", [["tool_call", None, None, None, None, "Work", "in_progress"]]),
    (
        "!tool-update-only",
        "",
        "tool_call_update",
        [["tool_call_update", None, None, None, None, None, "completed"]],
    ),
]
NAMES = {
    "current_mode_update": ["currentModeId"],
    "session_info_update": ["title"],
    "usage_update": ["used", "size", "cost"],
    "plan": ["entries"],
    "available_commands_update": ["availableCommands"],
    "tool_call": ["-", "-", "-", "-", "title", "status"],
    "tool_call_update": ["-", "-", "-", "-", "title", "status"],
}


def test_directives_that_only_talk(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open()
        for text, said, kind, expected in MODEL_ALIKE:
            peer.seen.clear()
            assert peer.turn(text).get("result") == END, text
            assert peer.said() == said, text
            if kind:
                assert fields(peer.updates(kind), "sessionUpdate", *NAMES.get(kind, [])) == expected, text


def test_many_chunks_are_all_there_in_order(tmp_path: Path) -> None:
    with Peer(tmp_path, valid=False) as peer:
        assert peer.open().turn("!chunks 5000")["result"] == END
    assert peer.said() == "".join(f"{n} " for n in range(5000))


def test_paced_chunks_carry_the_time_they_were_sent(tmp_path: Path) -> None:
    before = time.monotonic_ns()
    with Peer(tmp_path) as peer:
        peer.open().turn("!paced 11 200")
    stamps = [int(line.split()[1]) for line in peer.said().splitlines()]
    assert before < stamps[0] < stamps[-1] < time.monotonic_ns()
    assert stamps[-1] - stamps[0] >= 45_000_000


def test_plan(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().turn("!plan +look; >write; test")
    (plan,) = peer.updates("plan")
    assert fields(plan["entries"], "content", "status") == [
        ["look", "completed"],
        ["write", "in_progress"],
        ["test", "pending"],
    ]


def test_a_tool_call_runs_through_its_states_in_the_sessions_folder(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().turn("!tool read Look at it | a b.py:3 /etc/hosts !tool-failed execute Run")
    (look, run) = peer.updates("tool_call")
    assert look["locations"] == [
        {"path": f"{tmp_path}/a"},
        {"path": f"{tmp_path}/b.py", "line": 3},
        {"path": "/etc/hosts"},
    ]
    states = fields(peer.updates("tool_call_update"), "toolCallId", "status")
    assert states == [
        [i, s]
        for i, end in ((look["toolCallId"], "completed"), (run["toolCallId"], "failed"))
        for s in ("in_progress", end)
    ]


def test_diff_output_and_growing_output(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().turn("!diff new.py||x\\ny !diff old.py|a|b !output 50000 !grow 4 8")
    created, changed, *_ = peer.updates("tool_call")
    assert created["content"] == [{"type": "diff", "path": f"{tmp_path}/new.py", "oldText": None, "newText": "x\ny"}]
    assert changed["content"][0]["oldText"] == "a"
    contents = [u["content"][0]["content"]["text"] for u in peer.updates("tool_call_update") if "content" in u]
    assert [len(c) for c in contents] == [50000, *(len(tools.LINE) * n for n in (2, 4, 6, 8))]


# --- the end of a turn


@pytest.mark.parametrize(
    ("text", "member", "value"),
    [
        ("!say x !stop max_tokens", "result", {"stopReason": "max_tokens"}),
        ("!error -32603 it broke", "error", {"code": -32603, "message": "it broke"}),
    ],
)
def test_how_a_turn_ends(tmp_path: Path, text: str, member: str, value: JSON) -> None:
    with Peer(tmp_path) as peer:
        assert peer.open().turn(text)[member] == value


def test_late_words_follow_the_answer(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().turn("!say now !late then !late gate=g later")
        assert peer.said() == "now"
        peer.wait_said("nowthen")
        Gates(tmp_path).open("g")
        peer.wait_said("nowthenlater")


def test_no_answer_leaves_the_session_usable(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        unanswered = peer.open().prompt("!late a !no-answer")
        peer.wait_said("a")
        assert peer.turn("!say b")["result"] == END
        assert [f for f in peer.seen if f.get("id") == unanswered and "method" not in f] == []


@pytest.mark.parametrize(("text", "code"), [("!crash", 3), ("!crash 7", 7), ("!crash -9", -signal.SIGKILL)])
def test_crash(tmp_path: Path, text: str, code: int) -> None:
    with Peer(tmp_path) as peer:
        with pytest.raises(EOFError):
            peer.open().turn(f"!say before {text}")
        assert peer.process.wait(10) == code
    assert peer.said() == "before"
    assert peer.stderr.endswith(b"RuntimeError: told to crash\n")


# --- waiting and cancelling


def test_a_held_turn_goes_on_when_the_gate_opens(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        held = peer.open().prompt("!say a !hold g !say b")
        peer.wait_said("a")
        Gates(tmp_path).open("g")
        assert peer.until(held)["result"] == END
    assert peer.said() == "ab"
    assert log.records(peer.log, "holding")[0]["gate"] == "g"


@pytest.mark.parametrize(
    ("text", "said", "result"),
    [
        ("!say a !hold g !say b", "a", CANCELLED),
        ("!say a !hang", "a", CANCELLED),
        ("!on-cancel ,bye !say a !hang", "a,bye", CANCELLED),
        ("!cancelled-as end_turn !say a !hang", "a", END),
        ("!say a !paced 100000 1000", None, CANCELLED),
    ],
)
def test_cancel(tmp_path: Path, text: str, said: str | None, result: JSON) -> None:
    with Peer(tmp_path) as peer:
        running = peer.open().prompt(text)
        peer.wait_said("a")
        peer.cancel()
        assert peer.until(running)["result"] == result
        assert said in (None, peer.said())
        assert peer.turn("!say next")["result"] == END


def test_an_ignored_cancel_changes_nothing(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        running = peer.open().prompt("!ignore-cancel !say a !hold g !say b")
        peer.wait_said("a")
        peer.cancel()
        Gates(tmp_path).open("g")
        assert peer.until(running)["result"] == END
    assert peer.said() == "ab"


def test_two_sessions_run_at_once_and_one_refuses_a_second_prompt(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        first = peer.open().prompt("!say a !hold g")
        peer.wait_said("a")
        second = peer.turn("!say too early")
        assert second["error"]["code"] == -32602
        peer.open()
        assert peer.turn("!say other")["result"] == END
        Gates(tmp_path).open("g")
        assert peer.until(first)["result"] == END
    assert log.records(peer.log, "violation")[0]["what"] == "a prompt while another is running in this session"


# --- noise and children


def test_noise(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        assert peer.open().turn("!garbage !stderr 600000 !stderr-say line !say after")["result"] == END
    assert peer.said() == "after"
    assert b'"text"\n' in peer.noise
    assert len(peer.stderr) == 600_005


def test_children_outlive_the_agent_in_and_out_of_its_group(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().turn(f"!spawn-child {tmp_path}/pids")
        pids = json.loads((tmp_path / "pids").read_text(encoding="utf-8"))
        groups = {name: os.getpgid(pid) for name, pid in pids.items()}
        os.kill(pids["setsid"], signal.SIGKILL)
    assert groups == {"agent": peer.process.pid, "group": peer.process.pid, "setsid": pids["setsid"]}
    assert log.records(peer.log, "children")[0]["group"] == pids["group"]
