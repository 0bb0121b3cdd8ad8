"""The scripted model that real agents are pointed at: the script is done step by step, in every dialect."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

from scripts.real_agents.dialects import DIALECTS, Chat, Messages
from scripts.real_agents.model import scripted_model
from scripts.real_agents.script import Call, Fail, Tool, Turn, Words, acts

SHELL = Tool(
    "bash", {"properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}}, "required": ["timeout"]}
)
FRAME = "[Messages in #general you have not seen yet]\nuser: @bob @@error: 500\nbob: hi\n[End of the messages]\n"


def test_a_call_is_made_and_then_its_result_told() -> None:
    asked = [Turn("user", "@@think: well\n@@shell: ls")]
    assert acts(asked, [SHELL], "ann") == [Words("well", thought=True), Call(SHELL, {"command": "ls", "timeout": 1})]
    asked += [Turn("calls"), Turn("result", "a.txt")]
    assert acts(asked, [SHELL], "ann") == [Words("Done. The last result was: a.txt")]


def test_only_the_users_own_words_are_the_script() -> None:
    prompt = f"{FRAME}The user now writes to you (answer directly, without your name in front):\nhello"
    assert acts([Turn("user", prompt)], [], "ann") == [Words("ann has answered. It was shown: bob.")]
    assert acts([Turn("user", "@@error: 429")], [], "ann") == [Fail(429)]


@pytest.mark.parametrize("path", DIALECTS)
def test_every_dialect_tells_words_and_calls(path: str) -> None:
    dialect = DIALECTS[path]
    told = json.dumps(dialect.whole(dialect.events([Words("one two"), Call(SHELL, {"command": "ls"})], "m")))
    assert "ls" in told
    assert "bash" in told
    assert "one two" in told.replace('"}, {"text": "', "")
    for event in dialect.events([Words("one two")], "m"):
        assert event.encode().endswith(b"\n\n")


def test_what_agents_add_is_not_the_users() -> None:
    blocks = [
        {"type": "text", "text": text} for text in ("@@error: 400", "<system-reminder>x</system-reminder>", "hello")
    ]
    assert Messages.read({"messages": [{"role": "user", "content": blocks}]}).turns == [Turn("user", "hello")]
    content = [{"type": "text", "text": "@@error: 400"}, {"type": "text", "text": "hello"}]
    assert Chat.read({"messages": [{"role": "user", "content": content}]}).turns == [Turn("user", "hello")]


def ask(url: str, body: dict[str, Any]) -> str:
    request = urllib.request.Request(url, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        return str(answer.read().decode())


def test_over_http() -> None:
    with scripted_model() as model:
        body = {"messages": [{"role": "user", "content": "hi"}], "model": "m"}
        whole = json.loads(ask(f"{model.url}/ann/v1/chat/completions", body))
        assert whole["choices"][0]["message"]["content"] == "ann has answered. It was shown: nobody."
        streamed = ask(f"{model.url}/ann/v1/chat/completions", {**body, "stream": True})
        assert streamed.rstrip().endswith("data: [DONE]")
        assert [request.agent for request in model.requests] == ["ann", "ann"]
