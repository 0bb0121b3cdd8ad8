"""Each bad behaviour of the fake agent: that it really puts on the wire what it promises."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

import tests.fake_agent.__main__  # noqa: F401 - registers all kinds
from tests.fake_agent import log
from tests.fake_agent.bad import KINDS, NOISE
from tests.fake_agent.peer import PERMISSION, Peer, selects

if TYPE_CHECKING:
    from pathlib import Path

    JSON = dict[str, Any]

END = {"stopReason": "end_turn"}

SAID = {
    "ansi-prefix": "",
    "badutf8": "after",
    "surrogate": "half \ud83d pairafter",
    "crlf": "crlf ok",
    "split": "split ü ok",
    "glued": "after",
    "banner-glued": "after",
    "big 100000": "x" * 100_000,
    "stderr": "after",
    "unknown-update": "after",
    "no-title": "after",
    "no-id": "after",
    "same-tool": "after",
    "newline-title": "after",
    "bad-usage": "after",
    "bad-lists": "after",
    "bad-kind": "",
    "order": "".join(f"{n} " for n in range(50)),
    "ext": "after",
    "perm-empty": "after",
    "perm-malformed": "after",
    "perm-texts": "none",
    "perm-unknown-session": "after",
    "meta-perm": "",
    "perm-badkind": "",
    "perm-twins": "",
    "tool-number": "after",
    "bare-lists": "after",
    "update-asks": "one after",
    "perm-number": "null after",
    **dict.fromkeys((k for k in NOISE if k not in ("no-params", "list-params")), "after"),
}
UNREADABLE = ("text-shapes", "batch", "odd-updates", "bad-content", "unknown-session", "no-params", "list-params")
ANSWERS: dict[str, JSON] = {
    "nullresult": {"result": None},
    "noresult": {},
    "emptyresult": {"result": {}},
    "error-noobj": {"error": "just a string"},
    "error-empty": {"error": {}},
    "error": {"error": {"code": -32000, "message": "Auth required", "data": {"x": 1}}},
    "both": {"result": END, "error": None},
    "badstop": {"result": {"stopReason": "paused"}},
}
OTHERS = {"no-newline", "log-with-ids", "exit", "close-stdout", "hang", "stringid", "no-jsonrpc", "late", "twice"}


def test_every_kind_is_tested() -> None:
    assert {kind.split()[0] for kind in SAID} | {*UNREADABLE, *ANSWERS} | OTHERS == set(KINDS)


def test_an_unknown_kind_fails_the_prompt(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        assert peer.open().turn("!bad luck")["error"]["message"] == "unknown kind of bad: luck"


def test_kinds_that_end_in_a_good_answer(tmp_path: Path) -> None:
    with Peer(tmp_path, valid=False) as peer:
        peer.open()
        for kind, said in SAID.items():
            peer.seen.clear()
            assert peer.turn(f"!bad {kind}").get("result") == END, kind
            if kind == "badutf8":
                assert any(b"\xff\xfe" in line for line in peer.noise)
            assert peer.said() == said, kind
        assert peer.turn("fine")["result"] == END
        noise = b"".join(peer.noise)
    for line in itertools.chain.from_iterable(NOISE[kind] for kind in SAID if kind in NOISE):
        assert line + b"\n" in peer.lines
    assert b'\x1b]0;title\x07{"jsonrpc"' in noise
    assert len(peer.stderr) == 2_400_000


def test_updates_that_no_one_can_read(tmp_path: Path) -> None:
    with Peer(tmp_path, valid=False) as peer:
        peer.open()
        for kind in UNREADABLE:
            assert peer.turn(f"!bad {kind}")["result"] == END, kind
        frames = [f for f in peer.seen if f.get("method") == "session/update"]
    params = [f.get("params") for f in frames]
    assert None in params
    assert [1, 2] in params
    inner = [p["update"] for p in params if isinstance(p, dict)]
    assert [u for u in inner if not isinstance(u, dict)] == [None, "text", [], 7]
    assert "plain string" in [u["content"] for u in inner if isinstance(u, dict) and "content" in u]
    assert "no-such-session" in [p["sessionId"] for p in params if isinstance(p, dict)]


@pytest.mark.parametrize(("kind", "members"), ANSWERS.items())
def test_bad_answers(tmp_path: Path, kind: str, members: JSON) -> None:
    with Peer(tmp_path, valid=False) as peer:
        response = peer.open().turn(f"!bad {kind}")
        assert {k: v for k, v in response.items() if k not in ("jsonrpc", "id")} == members
        assert peer.turn("!say fine")["result"] == END


def test_answers_that_do_not_count(tmp_path: Path) -> None:
    with Peer(tmp_path, valid=False) as peer:
        number = peer.open().prompt("!bad stringid")
        while peer.next().get("id") != str(number):
            pass
        assert "jsonrpc" not in peer.turn("!bad no-jsonrpc")
        peer.prompt("!bad hang")
        twice = peer.prompt("!bad twice")
        assert [peer.until(twice)["result"], peer.until(twice)["result"]] == [END, END]
        peer.turn("!bad late")
        peer.wait_said("LATE")


@pytest.mark.parametrize(("kind", "code"), [("exit", 3), ("close-stdout", None)])
def test_ends_of_the_output(tmp_path: Path, kind: str, code: int | None) -> None:
    with Peer(tmp_path, valid=False) as peer:
        with pytest.raises(EOFError):
            peer.open().turn(f"!bad {kind}")
        assert peer.said() == "partial"
        if code is None:
            assert peer.process.poll() is None
        else:
            assert peer.process.wait(10) == code


def test_bad_permissions_reach_the_client_as_they_are(tmp_path: Path) -> None:
    with Peer(tmp_path, valid=False) as peer:
        peer.answers[PERMISSION] = selects("x")
        peer.open().turn("!bad meta-perm !bad perm-badkind !bad perm-twins !bad perm-unknown-session")
    hijack, odd, twins, stranger = [f["params"] for f in peer.seen if f.get("method") == PERMISSION]
    assert hijack["_meta"] == {"session_id": "HIJACK", "options": "HIJACK"}
    assert odd["options"][0]["kind"] == "allow_session"
    assert [o["kind"] for o in twins["options"]] == ["allow_always", "allow_always"]
    assert stranger["sessionId"] == "no-such-session"
    assert len(log.replies(peer.log)) == 4
