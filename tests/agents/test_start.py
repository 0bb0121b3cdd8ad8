"""Starting: what cannot be started, starts wrongly, or never gets ready; each with words a person can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agents.test_bad import still_answers
from tests.agents.world import Spec, fake, world

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.anyio
@pytest.mark.parametrize(
    "command",
    ["no-such-agent", "/no/such/agent", r"C:\Program Files\x\agent.cmd", "./agent with blanks.sh", "", "a\0b"],
)
async def test_a_command_that_does_not_exist_is_named(tmp_path: Path, command: str) -> None:
    async with world(tmp_path) as w:
        w.configure(Spec(name="bob", command=command), fake())
        problem = await w.fails("hi", "bob")
        assert problem.code == "agentSpawnFailed"
        assert f"`{command}`" in problem.message
        assert "bob" in problem.message
        assert w.manager.state("bob") == ("error", problem.message)
        await still_answers(w)


@pytest.mark.anyio
async def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    plain = tmp_path / "plain file"
    plain.write_text("#!/bin/sh\n", encoding="utf-8")
    bare = tmp_path / "bare"
    bare.write_text("no program", encoding="utf-8")
    bare.chmod(0o755)
    async with world(tmp_path) as w:
        w.configure(*(Spec(name=name, command=str(tmp_path / name)) for name in ("plain file", "bare")))
        w.configure(
            Spec(name="plain", command=str(plain)), Spec(name="bare", command=str(bare)), Spec(name="dir", command="/")
        )
        assert "chmod +x" in (await w.fails("hi", "plain")).message
        assert "#!" in (await w.fails("hi", "bare")).message
        assert "folder" in (await w.fails("hi", "dir")).message


@pytest.mark.anyio
@pytest.mark.parametrize("end", ["\n", " -u\n", "\r\n"])
async def test_a_script_whose_interpreter_is_gone(tmp_path: Path, end: str) -> None:
    script = tmp_path / "script"
    script.write_bytes(f"#! /gone/node{end}".encode())
    script.chmod(0o755)
    async with world(tmp_path) as w:
        w.configure(Spec(name="bob", command=str(script)))
        assert "first line names `/gone/node`" in (await w.fails("hi", "bob")).message


@pytest.mark.anyio
async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    async with world(tmp_path / "gone") as w:
        problem = await w.fails("hi")
        assert problem.code == "agentSpawnFailed"
        assert str(tmp_path / "gone") in problem.message


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("SyntaxError: no export named 'createZstdDecompress'", True),
        ("Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite", True),
        ("Error: Cannot find module 'x'", False),
    ],
)
async def test_an_agent_that_wants_a_newer_node(tmp_path: Path, words: str, hint: bool) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(f'--exit 1 --stderr "{words}\n    at ModuleLoader\n\nNode.js v20.20.2"'))
        message = (await w.fails("hi")).message
        assert words in message
        assert ("newer Node.js than the v20.20.2" in message) is hint


@pytest.mark.anyio
async def test_an_agent_that_exits_at_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--exit 3 --stderr 'no key found'"))
        problem = await w.fails("hi")
        assert problem.code == "agentExited"
        assert "exited with code 3" in problem.message
        assert "no key found" in problem.message
        assert w.manager.state("fake") == ("error", problem.message)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--hang initialize", "`initialize` within 1 s"),
        ("--noise", "`initialize` within 1 s; instead it wrote:"),
        ("--protocol 2", "speaks ACP version 2, this bridge speaks version 1"),
        ("--null initialize", "named no protocol version, this bridge speaks version 1"),
        ("--error initialize=-32603:broken", "broken"),
        ("--hang new", "`session/new` within 1 s"),
        ("--null new", "without an id"),
        ("--error new=-32603:disk", "disk"),
    ],
)
async def test_an_agent_that_is_not_acp(tmp_path: Path, options: str, words: str) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(options), start_timeout=1)
        problem = await w.fails("hi")
        assert problem.code == "agentProtocol"
        assert words in problem.message


@pytest.mark.anyio
async def test_banner_and_escapes_before_the_first_frame(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--banner --osc-prefix"))
        await still_answers(w)
        assert w.manager.logs("fake"), "the banner is in the log"


@pytest.mark.anyio
async def test_signing_in_is_asked_for_with_the_ways_to(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--auth agent,terminal,env_var,bogus --auth-required new"))
        problem = await w.fails("hi")
        assert problem.code == "agentAuthRequired"
        assert len(problem.details["methods"]) == 3
        assert [method["kind"] for method in problem.details["methods"]] == ["agent", "terminal", "envVar"]
        assert "Sign in with the browser (Opens a page), Sign in in a terminal, API key" in problem.message


@pytest.mark.anyio
async def test_starting_by_hand_and_stopping(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.manager.start("fake")
        assert w.manager.state("fake") == ("ready", None)
        await w.manager.start("fake")
        await w.manager.stop("fake")
        assert w.manager.state("fake") == ("stopped", None)
        await w.manager.stop("fake")
        await still_answers(w)
