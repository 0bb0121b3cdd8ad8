"""The directives of the fake agent that ask the client, run through raw frames."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.fake_agent import log
from tests.fake_agent.gates import Gates
from tests.fake_agent.peer import PERMISSION, Peer, fields, selects

if TYPE_CHECKING:
    from pathlib import Path

    JSON = dict[str, Any]

END = {"stopReason": "end_turn"}
CANCELLED = {"stopReason": "cancelled"}


@pytest.mark.parametrize(
    ("text", "answer", "status"),
    [
        ("!permit rm", "allow", "completed"),
        ("!permit rm", "reject", "failed"),
        ("!permit rm ids=always,never,x:allow_once", "always", "completed"),
        ("!permit-before-tool rm", "allow", "completed"),
        ("!permit-bare rm", "allow", "completed"),
        ("!permit-busy rm", "allow", "completed"),
    ],
)
def test_permission(tmp_path: Path, text: str, answer: str, status: str) -> None:
    with Peer(tmp_path) as peer:
        peer.answers[PERMISSION] = selects(answer)
        assert peer.open().turn(text)["result"] == END
    assert peer.said() == f"permit rm: {answer}\n"
    tool = [u for u in peer.updates() if u["sessionUpdate"].startswith("tool_call")]
    assert tool[-1]["status"] == status
    assert log.replies(peer.log)[-1]["result"]["outcome"]["optionId"] == answer


def test_permission_options(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.answers[PERMISSION] = selects("x")
        peer.open().turn("!permit rm ids=allow,never,x:reject_always !permit-diff a.py|old|new")
    first, second = [f["params"] for f in peer.seen if f.get("method") == PERMISSION]
    assert fields(first["options"], "optionId", "kind") == [
        ["allow", "allow_once"],
        ["never", "reject_always"],
        ["x", "reject_always"],
    ]
    assert second["toolCall"]["content"][0]["newText"] == "new"


def test_a_cancelled_permission_ends_the_turn(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:

        def cancelled(_params: JSON) -> JSON:
            peer.cancel()
            return {"outcome": {"outcome": "cancelled"}}

        peer.answers[PERMISSION] = cancelled
        assert peer.open().turn("!permit rm !say not this")["result"] == CANCELLED
    assert peer.said() == "permit rm: cancelled\n"


def test_several_permissions_are_asked_at_once(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.answers[PERMISSION] = selects("allow")
        peer.open().turn("!permit-all one; two")
    order = [f["method"] for f in peer.seen if f.get("method") == PERMISSION or "chunk" in json.dumps(f)]
    assert order == [PERMISSION, PERMISSION, "session/update", "session/update"]
    assert peer.said() == "permit one: allow\npermit two: allow\n"


def test_a_withdrawn_permission(tmp_path: Path) -> None:
    Gates(tmp_path).open("g")
    with Peer(tmp_path) as peer:
        peer.open().turn("!permit-withdraw g rm")
    (asked,) = [f["id"] for f in peer.seen if f.get("method") == PERMISSION]
    (withdrawn,) = [f["params"] for f in peer.seen if f.get("method") == "$/cancel_request"]
    assert withdrawn == {"requestId": asked}
    assert peer.said() == "permit rm: refused: -32601 Method not found\n"


def test_files(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().turn("!read a.py !write a.py|x")
        refused = "refused: -32601 Method not found\n"
        assert peer.said() == f"read a.py {refused}write a.py {refused}"
        peer.answers["fs/read_text_file"] = lambda p: {"content": f"{p['path']} {p.get('line')} {p.get('limit')}"}
        peer.answers["fs/write_text_file"] = lambda _p: {}
        peer.seen.clear()
        peer.turn("!read a.py !read /b|2|3 !write a.py|x\\ny")
    assert peer.said() == f"read a.py: {tmp_path}/a.py None None\nread /b: /b 2 3\nwrite a.py: ok\n"
    written = [f["params"]["content"] for f in peer.seen if f.get("method") == "fs/write_text_file"]
    assert written == ["x\ny"]


def test_terminal(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().turn("!terminal ls -l")
        assert peer.said() == "terminal refused: -32601 Method not found\n"
        peer.seen.clear()
        peer.answers["terminal/create"] = lambda _p: {"terminalId": "T"}
        peer.answers["terminal/wait_for_exit"] = lambda _p: {"exitCode": 0}
        peer.answers["terminal/output"] = lambda _p: {"output": "files", "truncated": False}
        peer.answers["terminal/release"] = lambda _p: {}
        peer.turn("!terminal ls -l")
    assert peer.said() == 'terminal exit {"exitCode": 0}: files\n'
    assert peer.updates("tool_call")[0]["content"] == [{"type": "terminal", "terminalId": "T"}]


def test_elicitation(tmp_path: Path) -> None:
    from acp import schema

    with Peer(tmp_path) as peer:
        peer.answers["elicitation/create"] = lambda _p: {"action": "decline"}
        peer.open().turn("!elicit form Who? !elicit url !elicit choices Which?")
    form, url, choices = [f["params"] for f in peer.seen if f.get("method") == "elicitation/create"]
    for asked, message in ((form, "Who?"), (choices, "Which?")):
        assert schema.CreateFormSessionElicitationRequest.model_validate(asked).message == message
    assert schema.CreateUrlSessionElicitationRequest.model_validate(url).elicitation_id == url["elicitationId"]
    assert peer.said() == "".join(f'elicit {mode}: {{"action": "decline"}}\n' for mode in ("form", "url", "choices"))


def test_any_request_and_notification(tmp_path: Path) -> None:
    with Peer(tmp_path, "--string-ids") as peer:
        peer.answers["_x/y"] = lambda p: p
        peer.open().turn('!request _x/y {"a": 1} !request foo/bar !notify _x/z')
    assert peer.said() == '_x/y: {"a": 1}\nfoo/bar: error -32601 Method not found\n'
    asked = [f for f in peer.seen if "method" in f and "id" in f]
    assert [f["id"] for f in asked] == ["ask-1", "ask-2"]
    assert peer.seen[-2]["method"] == "_x/z"


def test_run(tmp_path: Path) -> None:
    with Peer(tmp_path) as peer:
        peer.open().turn("!run pwd; exit 3")
    assert peer.said() == f"run exit 3: {os.path.realpath(tmp_path)}\n\n"
