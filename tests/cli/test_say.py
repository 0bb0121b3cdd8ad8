"""`sidekicks say`, and `sidekicks chat` without a terminal: what a script reads and which exit code it gets."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.terminal import with_peer

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

ALLOWED = "sidekicks: permission allowed once: Scout: Write NOTES.md\n"
REJECTED = "sidekicks: permission rejected: Scout: Write NOTES.md\n"


def run(desk: Desk, verb: str, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        with_peer(verb, *arguments),
        input=typed,
        cwd=desk.folder,
        env=desk.env,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (["#general", "hello"], 0, "I heard: hello\n", ""),
        (["general", "hello"], 0, "I heard: hello\n", ""),
        (["@bob", "hello"], 0, "I heard: hello\n", ""),
        (["#general", "@bob @scout hi"], 0, "Bob:\nI heard: @bob @scout hi\n\nScout:\nI heard: @bob @scout hi\n", ""),
        (["#general", "where", "is", "it"], 0, "I heard: where is it\n", ""),
        (["#general", "long 3"], 0, "token 0 token 1 token 2 \n", ""),
        (["#general", "lost"], 0, "first half, second half\n", ""),
        (["#general", "edit"], 0, "You said no.\n", REJECTED),
        (["#general", "edit", "--allow", "never"], 0, "You said no.\n", REJECTED),
        (["#general", "edit", "--allow", "once"], 0, "You said yes.\n", ALLOWED),
        (["#general", "fail"], 1, "I was about to\n", "sidekicks: Scout failed: Exit code 3.\nboom on stderr\n"),
        (["#general", "nobody"], 4, "", "sidekicks: No agent is named @bbo. Did you mean @bob?\n"),
        (["#genral", "x"], 5, "", "sidekicks say: There is no channel '#genral'. Did you mean '#general'?\n"),
        (["@zoe", "x"], 5, "", "sidekicks say: There is no agent '@zoe'. There are: #general #review @scout @bob\n"),
        (
            ["#general", "  "],
            64,
            "",
            "sidekicks say: there is nothing to say; give a text, or `-` to read it from stdin.\n",
        ),
    ],
)
def test_say(desk: Desk, arguments: list[str], code: int, out: str, err: str) -> None:
    done = run(desk, "say", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


def test_say_without_arguments_explains_itself(desk: Desk) -> None:
    done = run(desk, "say")
    assert done.returncode == 64
    assert "usage: sidekicks say" in done.stderr
    assert "Quote '#general'" in done.stderr
    assert "no such channel" in run(desk, "say", "--help").stdout


def test_say_reads_stdin(desk: Desk) -> None:
    assert run(desk, "say", "#general", "-", typed="hello\nyou").stdout == "I heard: hello\nyou\n"


def test_say_makes_controls_visible(desk: Desk) -> None:
    assert run(desk, "say", "#general", "raw " + json.dumps("a\x1b[2Jb")).stdout == "a␛[2Jb\n"


def test_say_prints_the_events_as_json_lines(desk: Desk) -> None:
    done = run(desk, "say", "#general", "long 2", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(set(event) == {"method", "params"} for event in events)
    deltas = [event["params"].get("text") for event in events if event["method"] == "sidekicks/message/delta"]
    assert deltas == [None, "token 0 ", "token 1 "]
    assert events[-1]["method"] == "sidekicks/turn/changed"
    assert events[-1]["params"]["turns"] == []


def test_say_when_the_bridge_dies(desk: Desk) -> None:
    done = run(desk, "say", "#general", "die")
    assert done.returncode == 3
    assert "The bridge ended with exit code 7" in done.stderr
    assert "Fatal: the peer was told to die" in done.stderr


def test_control_c_cancels_what_was_said(desk: Desk) -> None:
    terminal = desk.open(with_peer("say", "#general", "slow"))
    terminal.wait_for("Let me think about it")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.wait_for_end() == 130
    assert "Scout stopped: cancelled" in terminal.text()


def test_a_bridge_that_cannot_be_started_is_named(desk: Desk) -> None:
    program = (
        "import sys; from sidekicks_bridge.cli.say import main; sys.exit(main(['x', 'y'], command=['/no/bridge']))"
    )
    argv = [with_peer("say")[0], "-c", program]
    done = subprocess.run(argv, cwd=desk.folder, env=desk.env, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 3
    assert done.stderr == "sidekicks say: The bridge could not be started: /no/bridge: No such file or directory\n"


def test_saying_loads_no_screen_and_no_editor_protocol(desk: Desk) -> None:
    heavy = ("prompt_toolkit", "rich", "pygments", "acp", "pygls", "lsprotocol")
    program = (
        "import sys; import sidekicks_bridge.cli.say, sidekicks_bridge.cli.plain, sidekicks_bridge.cli.chat;"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    argv = [with_peer("say")[0], "-c", program]
    done = subprocess.run(argv, cwd=desk.folder, env=desk.env, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"


def test_chat_without_a_terminal_takes_lines_and_waits_for_the_answers(desk: Desk) -> None:
    done = run(desk, "chat", "general", typed="hello\n\nedit\nlong 2")
    assert done.stdout == "I heard: hello\nYou said no.\ntoken 0 token 1 \n"
    assert done.stderr == REJECTED
    assert done.returncode == 0


def test_chat_without_a_terminal_tells_what_went_wrong(desk: Desk) -> None:
    done = run(desk, "chat", "general", "--allow", "once", typed="fail\nedit\n")
    assert done.returncode == 1
    assert done.stdout == "I was about to\nYou said yes.\n"
    assert run(desk, "chat", "#nowhere").returncode == 5


def test_a_dumb_terminal_gets_plain_lines(desk: Desk) -> None:
    desk.env["TERM"] = "dumb"
    terminal = desk.open(with_peer("chat", "general"))
    terminal.type("hello\n")
    terminal.wait_for("I heard: hello")
    terminal.key("ctrl-d")
    assert terminal.wait_for_end() == 0
    assert b"\x1b" not in terminal.raw


def test_a_reader_that_stops_reading_ends_it_quietly(desk: Desk) -> None:
    saying = subprocess.Popen(
        with_peer("say", "#general", "long 50000"),
        cwd=desk.folder,
        env=desk.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert saying.stdout is not None
    assert saying.stderr is not None
    with saying.stdout, saying.stderr:
        assert saying.stdout.read(6) == b"token "
        saying.stdout.close()
        assert saying.stderr.read() == b""
        assert saying.wait(20) == 1


def test_the_locale_does_not_matter(desk: Desk) -> None:
    desk.env |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert run(desk, "say", "#general", "-", typed="grüße 处理 🦊").stdout == "I heard: grüße 处理 🦊\n"
    assert run(desk, "chat", "general", typed="grüße 处理\n").stdout == "I heard: grüße 处理\n"
