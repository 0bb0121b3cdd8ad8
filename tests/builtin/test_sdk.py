"""The built-in agents through the ACP SDK's own client connection: what any ACP client would see."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from acp import spawn_agent_process, text_block
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    ReadTextFileResponse,
    RequestPermissionResponse,
    ToolCallProgress,
    WriteTextFileResponse,
)

from sidekicks_bridge.builtin import BUILTIN_AGENTS
from tests.builtin.harness import framed

if TYPE_CHECKING:
    from pathlib import Path


class Recorder:
    """An ACP client that allows everything, keeps files in memory and remembers the updates."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.files: dict[str, str] = {}

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **_: Any) -> Any:
        chosen = next(option for option in options if option.kind == "allow_once")
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id))

    async def read_text_file(self, path: str, session_id: str, **_: Any) -> Any:
        return ReadTextFileResponse(content=self.files.setdefault(path, ""))

    async def write_text_file(self, content: str, path: str, session_id: str, **_: Any) -> Any:
        self.files[path] = content
        return WriteTextFileResponse()

    def said(self) -> str:
        return "".join(update.content.text for update in self.updates if isinstance(update, AgentMessageChunk))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_scout_and_scribe_in_one_conversation(root: Path) -> None:
    from acp.schema import ClientCapabilities, FileSystemCapabilities

    files = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True))
    answers: dict[str, Recorder] = {}
    prompts = {"scout": "@scout where are routes decided? @scribe keep that"}
    for name in ("scout", "scribe"):
        client: Any = Recorder()
        answers[name] = client
        async with spawn_agent_process(client, sys.executable, *BUILTIN_AGENTS[name].argv()) as (connection, _):
            greeting = await connection.initialize(protocol_version=1, client_capabilities=files)
            assert greeting.agent_info is not None
            assert greeting.agent_info.title == BUILTIN_AGENTS[name].title
            session = await connection.new_session(cwd=str(root), mcp_servers=[])
            result = await connection.prompt(session_id=session.session_id, prompt=[text_block(prompts[name])])
            assert result.stop_reason == "end_turn"
            await connection.close_session(session_id=session.session_id)
        prompts["scribe"] = framed(f"scout: {client.said()}", text=prompts["scout"])
    assert "decide_route" in answers["scout"].said()
    assert any(isinstance(update, ToolCallProgress) for update in answers["scout"].updates)
    assert answers["scribe"].said() == "I noted your message and what scout said in `NOTES.md`."
    assert "> The best answer I found is `decide_route`" in answers["scribe"].files[str(root / "NOTES.md")]
