"""Cancelling a turn, permission questions, and processes that end in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from sidekicks_bridge.agents.contract import PermissionAsk, PromptResult
from sidekicks_bridge.protocol.errors import SidekicksError
from tests.agents.test_bad import still_answers
from tests.agents.world import World, fake, world
from tests.fake_agent.gates import Gates
from tests.fake_agent.log import prompts, received

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sidekicks_bridge.agents.contract import Session


async def run_and_cancel(w: World, text: str, when: Callable[[], object]) -> PromptResult | SidekicksError:
    """How a turn ends that is cancelled as soon as ``when()``."""
    async with w.session() as session, anyio.create_task_group() as tasks:

        async def cancel(session: Session) -> None:
            await w.sink.until(when)
            session.cancel()
            session.cancel()

        tasks.start_soon(cancel, session)
        try:
            return await session.prompt(session.blocks(text, []))
        except SidekicksError as problem:
            return problem
    raise AssertionError


@pytest.mark.anyio
@pytest.mark.parametrize("answer", ["", "!cancelled-as end_turn ", "!on-cancel bye "])
async def test_cancel_keeps_what_was_said_and_waits_for_the_answer(tmp_path: Path, answer: str) -> None:
    async with world(tmp_path) as w:
        result = await run_and_cancel(w, f"{answer}!say partial !hang", lambda: "partial" in w.sink.text())
        assert isinstance(result, PromptResult)
        assert result.stop_reason == "cancelled"
        assert w.sink.text() == ("partialbye" if "bye" in answer else "partial")
        await still_answers(w)


@pytest.mark.anyio
async def test_a_cancel_before_the_prompt_is_handed_over(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(env={"FAKE_AGENT_LOG": str(tmp_path / "log")}))
        async with w.session() as session:
            session.cancel()
            assert (await session.prompt(session.blocks("never sent", []))).stop_reason == "cancelled"
        async with w.session() as session:
            await session.prompt(session.blocks("sent", []))
            session.cancel()
        await still_answers(w)
    assert prompts(tmp_path / "log") == ["sent", "still there?"]
    assert not received(tmp_path / "log", "session/cancel")


@pytest.mark.anyio
async def test_who_stops_waiting_for_an_answer_ends_the_agent(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        with anyio.CancelScope() as scope:
            w.sink.on_ask = lambda _ask: scope.cancel()
            await w.ask("!permit rm")
        assert w.sink.withdrawn == w.sink.asks
        await w.sink.until(lambda: w.manager.state("fake") == ("stopped", None))
        await still_answers(w)


@pytest.mark.anyio
async def test_an_ignored_cancel_ends_the_process(tmp_path: Path) -> None:
    async with world(tmp_path, cancel_timeout=0.3) as w:
        w.configure(fake("--ignore-eof --ignore-term"), cancel_timeout=0.3)
        problem = await run_and_cancel(w, "!ignore-cancel !say x !no-answer", lambda: w.sink.text() == "x")
        assert isinstance(problem, SidekicksError)
        assert problem.code == "agentExited"
        assert "within 0.3 s" in problem.message
        before = len(w.sink.text())
        await w.ask("again")
        assert w.sink.text()[before:] == "fake heard: again"


@pytest.mark.anyio
async def test_cancel_answers_open_permissions(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await run_and_cancel(w, "!permit-all rm; mv; cp", lambda: len(w.sink.asks) == 3)
        assert len(w.sink.withdrawn) == 3
        w.sink.asks[0].answer("allow")  # too late: nothing happens
        await still_answers(w)


@pytest.mark.anyio
@pytest.mark.parametrize("directive", ["permit", "permit-before-tool", "permit-bare", "permit-busy"])
@pytest.mark.parametrize("option", ["allow", "reject", None])
async def test_a_permission_is_answered(tmp_path: Path, directive: str, option: str | None) -> None:
    async with world(tmp_path) as w:
        w.sink.on_ask = lambda ask: ask.answer(option)
        await w.ask(f"!{directive} rm")
        assert w.sink.text() == f"permit rm: {option or 'cancelled'}\n"
        ask = w.sink.asks[0]
        assert (ask.agent, ask.channel_id) == ("fake", "c1")
        assert [o.option_id for o in ask.options] == ["allow", "reject"]
        assert ask.tool_call.title == (None if directive == "permit-bare" else "rm")
        assert not w.sink.withdrawn


@pytest.mark.anyio
async def test_an_option_not_offered_is_refused_and_the_question_stays(tmp_path: Path) -> None:
    def answer(ask: PermissionAsk) -> None:
        with pytest.raises(SidekicksError, match="allow, reject"):
            ask.answer("always")
        ask.answer("reject")

    async with world(tmp_path) as w:
        w.sink.on_ask = answer
        await w.ask("!permit rm")
        assert w.sink.text() == "permit rm: reject\n"


@pytest.mark.anyio
async def test_odd_permissions_reach_the_user(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sink.on_ask = lambda ask: ask.answer(ask.options[0].option_id if ask.options else None)
        for kind in ("meta-perm", "perm-badkind", "perm-twins", "perm-empty", "perm-malformed", "perm-unknown-session"):
            await w.ask(f"!bad {kind}")
        first, bad_kind, twins = w.sink.asks[:3]
        assert [o.option_id for o in first.options] == ["no"], "_meta hijacks nothing"
        assert bad_kind.options[0].kind == "allow_session"
        assert [o.option_id for o in twins.options] == ["here", "everywhere"]
        assert w.sink.asks[-1].tool_call.title == "sub-agent's call"
        assert {ask.channel_id for ask in w.sink.asks} == {"c1"}


@pytest.mark.anyio
async def test_the_agent_withdraws_a_question(tmp_path: Path) -> None:
    gates = Gates(tmp_path)
    async with world(tmp_path) as w:
        w.configure(fake(env={"FAKE_AGENT_GATES": str(tmp_path)}))
        w.sink.on_ask = lambda _ask: gates.open("g")
        await w.ask("!permit-withdraw g rm")
        assert w.sink.withdrawn == w.sink.asks
        assert "refused: -32800" in w.sink.text()
        await still_answers(w)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("!say partial !crash 7", "exited with code 7"),
        ("!say partial !crash -9", "was ended by SIGKILL"),
        ("!bad exit", "exited with code 3"),
        ("!bad close-stdout", "closed its output"),
    ],
)
async def test_a_process_that_ends_in_a_turn(tmp_path: Path, text: str, words: str) -> None:
    async with world(tmp_path) as w:
        problem = await w.fails(text)
        assert problem.code == "agentExited"
        assert words in problem.message
        assert w.sink.text() == "partial"
        if "crash" in text:
            assert "told to crash" in problem.message
        assert w.manager.state("fake")[0] == "error"
        before = len(w.sink.text())
        await w.ask("again")
        assert w.sink.text()[before:] == "fake heard: again"


@pytest.mark.anyio
async def test_an_end_withdraws_permissions(tmp_path: Path) -> None:
    async with world(tmp_path) as w, anyio.create_task_group() as tasks:

        async def stop() -> None:
            await w.sink.until(lambda: w.sink.asks)
            await w.manager.stop("fake")

        tasks.start_soon(stop)
        problem = await w.fails("!permit rm")
        assert (problem.code, problem.message) == ("agentExited", "Agent fake was stopped.")
        assert w.sink.withdrawn == w.sink.asks
        await w.sink.until(lambda: w.manager.state("fake") == ("stopped", None))


@pytest.mark.anyio
async def test_errors_of_the_agent(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        for text, code, words in (
            ("!error -32603 out of tokens", "turnFailed", "out of tokens"),
            ("!bad error-noobj", "turnFailed", "just a string"),
            ("!bad error-empty", "turnFailed", "-32603"),
            ("!bad error", "agentAuthRequired", "Auth required"),
        ):
            problem = await w.fails(text)
            assert problem.code == code
            assert words in problem.message
        await still_answers(w)
