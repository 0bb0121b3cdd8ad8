"""What is served of ACP: the page that says so, held against the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sidekicks_bridge.agents.translate import session_update
from tests.agents.world import fake, world
from tests.fake_agent.log import records

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "acp-support.md").read_text(encoding="utf-8")


def table(section: str) -> list[str]:
    """The names in the first column of a section's table."""
    part = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE)


def test_the_page_names_every_method_that_is_asked() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sidekicks_bridge" / "agents").glob("*.py"))
    literals = set(re.findall(r'"((?:session/[a-z_]+|initialize|authenticate|logout|\$/cancel_request))"', sources))
    ours = literals - {"session/update", "session/request_permission"}
    assert ours == set(table("What the bridge asks of an agent"))


def test_the_page_names_every_method_that_is_served() -> None:
    source = (ROOT / "sidekicks_bridge" / "agents" / "acp_client.py").read_text(encoding="utf-8")
    served = set(re.findall(r'"((?:session|fs|terminal|elicitation)/[a-z_]+)"', source))
    notified = {"elicitation/complete", "session/update"}
    assert served - notified == set(table("What an agent may ask of the bridge"))


@pytest.mark.anyio
async def test_the_page_and_the_agent_are_told_the_same(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("", env={"FAKE_AGENT_LOG": str(tmp_path / "log")}))
        await w.ask("hi")
    (hello,) = [
        m["params"] for r in records(tmp_path / "log", "received") if (m := r["message"])["method"] == "initialize"
    ]
    assert hello["protocolVersion"] == 1
    assert hello["clientCapabilities"] == {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": False,
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}},
        "auth": {"terminal": True},
        "_meta": {"terminal_output": True, "terminal-auth": True},
    }
    assert "version 1 of the Agent Client Protocol" in PAGE
    assert "`terminal/*` is announced as not served" in PAGE


def test_the_page_names_every_update() -> None:
    source = (ROOT / "sidekicks_bridge" / "agents" / "translate.py").read_text(encoding="utf-8")
    cases = source.partition("match kind:")[2].partition("return other_update(kind, update)\n\n")[0]
    known = set(re.findall(r'"(\w+_(?:chunk|update)|tool_call|plan)"', cases))
    assert known == set(table("Session updates"))
    assert type(session_update({"sessionUpdate": "compaction_update"})).__name__ == "OtherUpdate"


def test_the_page_names_what_is_not_used() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sidekicks_bridge" / "agents").glob("*.py"))
    unused = PAGE.partition("\nNot used: ")[2].partition("\n\n")[0]
    names = re.findall(r"`([\w/*]+)`", unused)
    assert names == ["session/fork", "providers/*", "nes/*", "document/*", "additionalDirectories"]
    assert [name for name in names if name.rstrip("*") in sources] == []


@pytest.mark.anyio
async def test_what_is_not_served_is_refused_in_words(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.ask('!request terminal/create {"command":"ls"} !request _own/thing !request nes/start')
        assert w.sink.text().count("error -32601 Method not found: ") == 3
