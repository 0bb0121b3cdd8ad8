"""Sessions: new, loaded, resumed, closed; their modes, models, options; updates for ids nobody knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anyio
import pytest

from sidekicks_bridge.agents.contract import CommandsUpdate, SettingsUpdate, TextChunk, ToolCallUpdate, UsageUpdate
from sidekicks_bridge.protocol.errors import SidekicksError
from tests.agents.world import World, fake, world
from tests.fake_agent.log import received as messages
from tests.fake_agent.log import records

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def logged(spec_options: str, tmp_path: Path, **fields: Any) -> Any:
    """A fake agent that keeps a log in ``tmp_path``."""
    return fake(spec_options, env={"FAKE_AGENT_LOG": str(tmp_path / "log")}, **fields)


def received(tmp_path: Path, method: str) -> list[Any]:
    """The parameters of what the agent received of one method."""
    return [message["params"] for message in messages(tmp_path / "log", method)]


@pytest.mark.anyio
async def test_what_an_agent_is_told(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        servers = [
            {"name": "s", "command": "x", "args": [], "env": []},
            {"type": "http", "name": "h", "url": "https://x", "headers": []},
        ]
        w.configure(logged("", tmp_path, mcp_servers=servers))
        await w.ask("hi")
    hello = received(tmp_path, "initialize")[0]
    assert hello["protocolVersion"] == 1
    assert hello["clientInfo"]["name"] == "sidekicks-bridge"
    assert hello["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert hello["clientCapabilities"]["terminal"] is False
    assert received(tmp_path, "session/new") == [{"cwd": str(tmp_path), "mcpServers": servers[:1]}]
    assert not records(tmp_path / "log", "violation")


@pytest.mark.anyio
async def test_each_channel_has_its_session_and_keeps_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(logged("", tmp_path))
        async with w.session(channel="c1") as session:
            assert session.origin == "fresh"
            first = session.id
        assert w.manager.session_origin("fake", "c1", None) == "fresh", "opened, but nothing said yet"
        await w.ask("hi", channel="c1")
        await w.ask("hi", channel="c2")
        async with w.session(channel="c1") as session:
            assert (session.id, session.origin) == (first, "resumed")
        assert w.manager.session_origin("fake", "c1", None) == "resumed"
        assert w.manager.session_origin("fake", "c3", "gone") == "fresh"
        assert w.sink.text("c1") == w.sink.text("c2") == "fake heard: hi"
    assert len(received(tmp_path, "session/new")) == 2


@pytest.mark.anyio
async def test_an_own_workspace_is_used_instead(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    async with world(tmp_path) as w:
        w.configure(logged("", tmp_path, workspace=str(own)))
        await w.ask("hi")
    assert received(tmp_path, "session/new")[0]["cwd"] == str(own)


@pytest.mark.anyio
async def test_another_root_means_another_session(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with world(tmp_path) as w:
        w.configure(logged("--caps close", tmp_path))
        await w.ask("hi")
        w.root = other
        await w.ask("hi")
    assert [params["cwd"] for params in received(tmp_path, "session/new")] == [str(tmp_path), str(other)]


@pytest.mark.anyio
async def test_a_stored_session_is_loaded_without_its_replay(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(logged("--caps load --sessions old --replay 5 --commands a,b --modes x,y", tmp_path))
        assert w.manager.session_origin("fake", "c1", "old") == "loaded"
        async with w.session(stored="old") as session:
            assert (session.id, session.origin) == ("old", "loaded")
            assert not w.sink.of(TextChunk), "the replay is not told again"
            await session.prompt(session.blocks("hi", []))
        assert w.sink.text() == "fake heard: hi"
        assert w.sink.of(CommandsUpdate)[-1].commands[0].name == "a"
        assert w.sink.of(SettingsUpdate)[0].modes.current == "x"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("options", "origin"),
    [
        ("--caps resume --sessions old", "resumed"),
        ("--caps load,resume --sessions old --error load=-32603:gone", "resumed"),
        ("--caps load,resume --sessions old --unserved load", "resumed"),
        ("--caps load,resume --unserved load,resume", "fresh"),
        ("--caps load --sessions old --hang load", "fresh"),
        ("--caps load --sessions old --null load", "loaded"),
        ("", "fresh"),
        ("""--raw-capabilities '{"loadSession": "yes", "sessionCapabilities": {"resume": null}}'""", "fresh"),
        ("""--raw-capabilities '{"loadSession": null, "sessionCapabilities": []}'""", "fresh"),
    ],
)
async def test_a_stored_session_that_cannot_be_taken_up(tmp_path: Path, options: str, origin: str) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(options), start_timeout=1)
        async with w.session(stored="old") as session:
            assert session.origin == origin
            assert (session.id == "old") == (origin != "fresh")
            await session.prompt(session.blocks("hi", []))
        assert w.sink.text() == "fake heard: hi"


@pytest.mark.anyio
async def test_an_agent_that_dies_while_loading(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--caps load --sessions old --exit-in load=4"))
        with pytest.raises(SidekicksError, match="exited with code 4"):
            async with w.session(stored="old"):
                pass


@pytest.mark.anyio
@pytest.mark.parametrize("when", ["before", "after"])
async def test_commands_around_the_answer_to_session_new(tmp_path: Path, when: str) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(f"--commands 'web:Search:query,plan' --commands-at {when}"))
        async with w.session():
            await w.sink.until(lambda: w.sink.of(CommandsUpdate))
        web, plan = w.sink.of(CommandsUpdate)[0].commands
        assert (web.name, web.description, web.hint, plan.name) == ("web", "Search", "query", "plan")
        assert w.sink.updates[0][1] == "c1"


@pytest.mark.anyio
async def test_closing_tells_an_agent_that_wants_to_know(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(logged("--caps close", tmp_path))
        async with w.session() as session:
            first = session.id
        w.manager.close_session("fake", "c1")
        w.manager.close_session("fake", "c1")
        async with w.session() as session:
            assert session.origin == "fresh"
            await session.prompt(session.blocks("hi", []))
    assert received(tmp_path, "session/close") == [{"sessionId": first}]


@pytest.mark.anyio
async def test_modes_and_models(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--modes ask,code --models small,big"))
        async with w.session() as session:
            settings = w.sink.of(SettingsUpdate)[-1]
            assert (settings.modes.current, [mode.id for mode in settings.modes.available]) == ("ask", ["ask", "code"])
            assert settings.models.current == "small"
            await session.set_mode("code")
            await session.set_model("big")
            assert [s.modes.current for s in w.sink.of(SettingsUpdate) if s.modes][-1] == "code"
            assert w.sink.of(SettingsUpdate)[-1].models.current == "big"
            for change in (session.set_mode, session.set_model):
                with pytest.raises(SidekicksError, match="It offers: ") as caught:
                    await change("nonsense")
                assert caught.value.code == "invalidParams"
            await session.prompt(session.blocks("!mode ask", []))
            assert w.sink.of(SettingsUpdate)[-1].modes.current == "ask"


@pytest.mark.anyio
async def test_a_refused_mode_is_an_error(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--modes ask,code --error 'set_mode=-32603:not today'"))
        async with w.session() as session:
            with pytest.raises(SidekicksError, match="not today") as caught:
                await session.set_mode("code")
            assert caught.value.code == "turnFailed"


@pytest.mark.anyio
async def test_options_of_every_shape(tmp_path: Path) -> None:
    shapes = "mode,grouped,thought,plain,boolean,unknown-category,unknown-type"
    async with world(tmp_path) as w:
        w.configure(fake(f"--modes ask,code --config-options {shapes}"))
        async with w.session() as session:
            settings = w.sink.of(SettingsUpdate)[-1]
            assert settings.modes is None, "options replace modes"
            options = {option.id: option for option in settings.options}
            assert len(options) == len(shapes.split(","))
            assert {option.kind for option in options.values()} == {"select", "boolean", "other"}
            assert any(choice.group for option in options.values() for choice in option.choices)
            for option in options.values():
                if option.kind == "boolean":
                    await session.set_option(option.id, not option.value)
                    with pytest.raises(SidekicksError, match="true or false"):
                        await session.set_option(option.id, "yes")
                elif option.kind == "select":
                    await session.set_option(option.id, option.choices[-1].value)
                    with pytest.raises(SidekicksError, match="one of"):
                        await session.set_option(option.id, "nonsense")
            now = {option.id: option for option in w.sink.of(SettingsUpdate)[-1].options}
            for option in options.values():
                if option.kind == "boolean":
                    assert now[option.id].value is not option.value
                elif option.kind == "select":
                    assert now[option.id].value == option.choices[-1].value
            with pytest.raises(SidekicksError, match="It offers") as caught:
                await session.set_option("no-such", "x")
            assert caught.value.code == "invalidParams"


@pytest.mark.anyio
async def test_usage_as_reported(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        result = await w.ask("!usage 300 200 0.5 EUR")
        assert result.usage is not None
        assert (result.usage.used, result.usage.size) == (300, 200)
        assert result.usage.cost is not None
        assert result.usage.cost.currency == "EUR"
        assert w.sink.of(UsageUpdate)[-1].usage == result.usage
        assert (await w.ask("hi")).usage is None


@pytest.mark.anyio
async def test_one_prompt_at_a_time(tmp_path: Path) -> None:
    async with world(tmp_path) as w, w.session() as session, anyio.create_task_group() as tasks:
        tasks.start_soon(second_prompt, w, session)
        await session.prompt(session.blocks("!say x !hang", []))
    assert w.sink.text() == "x"


async def second_prompt(w: World, session: Any) -> None:
    await w.sink.until(lambda: w.sink.text() == "x")
    with pytest.raises(SidekicksError, match="still answering"):
        await session.prompt(session.blocks("again", []))
    session.cancel()


@pytest.mark.anyio
async def test_what_comes_after_the_answer_is_passed_on(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.ask("!bad late")
        await w.sink.until(lambda: "LATE" in w.sink.text())


@pytest.mark.anyio
async def test_what_is_said_in_a_closed_session_reaches_nobody(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        async with w.session(channel="c1") as session:
            first = session.id
        w.manager.close_session("fake", "c1")
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "ghost"}}
        frame = json.dumps({"sessionId": first, "update": update})
        await w.ask(f"!notify session/update {frame} !say mine", channel="c2")
        assert w.sink.text("c2") == "mine"
        assert not w.sink.text("c1")


@pytest.mark.anyio
async def test_titles_are_one_line_that_hides_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.ask("!bad newline-title !title New")
        assert len(w.sink.updates) == 2, "the title an agent gives its session is no part of the talk"
        assert w.sink.of(ToolCallUpdate)[0].title == "rm -rf / evil"
