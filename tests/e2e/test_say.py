"""`sidekicks say` among others on one bridge: what it waits for, and that it leaves nothing behind."""

from __future__ import annotations

import shlex
import signal
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.support.conditions import permission, streaming, turn_state
from tests.support.room import text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from tests.support.bed import Bed

pytestmark = pytest.mark.anyio


class Saying:
    """A process that runs: `sidekicks say`, or a shell with one in it."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self._read = {"stdout": "", "stderr": ""}

    async def until(self, stream: str, text: str) -> None:
        """Wait until it has written ``text``."""
        pipe = self.process.stdout if stream == "stdout" else self.process.stderr
        assert pipe is not None
        with anyio.fail_after(20):
            while text not in self._read[stream]:
                self._read[stream] += (await pipe.receive()).decode()

    async def ended(self) -> tuple[int, str, str]:
        """Its exit code and everything it wrote."""
        with anyio.fail_after(20):
            for stream, pipe in (("stdout", self.process.stdout), ("stderr", self.process.stderr)):
                assert pipe is not None
                async for chunk in pipe:
                    self._read[stream] += chunk.decode()
            return await self.process.wait(), self._read["stdout"], self._read["stderr"]


@asynccontextmanager
async def running(bed: Bed, command: list[str]) -> AsyncIterator[Saying]:
    async with await anyio.open_process(
        command, cwd=bed.box.workspace, env=bed.box.environment(), stdin=subprocess.DEVNULL
    ) as process:
        try:
            yield Saying(process)
        finally:
            if process.returncode is None:
                process.kill()


def say(bed: Bed, *words: str) -> AbstractAsyncContextManager[Saying]:
    return running(bed, bed.box.command("say", *words))


async def test_it_says_which_question_it_waits_for(bed: Bed) -> None:
    room = await bed.room("alice")
    name = f"#{room.channel['name']}"
    await room.send("!permit do it")
    asked = await bed.client.until(permission(by="alice"))
    async with say(bed, name, "!say hello") as saying:
        line = f"sidekicks: waiting: @alice asks in {name}: do it; answer it in `sidekicks chat '{name}'`\n"
        await saying.until("stderr", line)
        await bed.client.request("permission/answer", requestId=asked["requestId"], optionId="allow")
        assert await saying.ended() == (0, "hello\n", line)
    await room.quiet()


async def test_it_says_whom_it_waits_for(bed: Bed) -> None:
    busy, room = await bed.room("alice"), await bed.room("alice", "bob")
    await busy.send("!hold elsewhere")
    await busy.turn("alice", "thinking")
    await room.send("@bob !hold here")
    await room.turn("bob", "thinking")
    name = f"#{room.channel['name']}"
    async with say(bed, name, "@alice !say hello") as saying:
        first = f"sidekicks: waiting: @bob is answering in {name}\n"
        await saying.until("stderr", first)
        bed.box.gates.open("here")
        second = f"sidekicks: waiting: @alice is answering in #{busy.channel['name']}\n"
        await saying.until("stderr", second)
        bed.box.gates.open("elsewhere")
        assert await saying.ended() == (0, "hello\n", first + second)
    await busy.quiet()
    await room.quiet()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_ended_while_it_waits_it_takes_its_message_back(bed: Bed, how: signal.Signals) -> None:
    room = await bed.room("alice")
    sent = await room.send("!say half !hold gate !say , whole")
    await bed.client.until(streaming("alice", "half"))
    async with say(bed, f"#{room.channel['name']}", "never to be read") as saying:
        await bed.client.until(turn_state("alice", "queued", waits="channel", channel=room.id))
        saying.process.send_signal(how)
        code, out, _ = await saying.ended()
    assert (code, out) == (130, "")
    bed.box.gates.open("gate")
    assert text_of(await room.answer(sent, by="alice")) == "half, whole"
    await room.quiet()
    assert [line for line in room.said() if "never" in line] == []
    bed.box.gates.close("gate")


async def test_when_its_reader_goes_its_turn_is_cancelled(bed: Bed) -> None:
    room = await bed.room("alice")
    command = bed.box.command("say", f"#{room.channel['name']}", "!say half\\n !hold gate !say more !hang")
    pipeline = f"{{ {shlex.join(command)}; echo $? >&2; }} | head -n 1"  # head leaves after the first line
    async with running(bed, ["sh", "-c", pipeline]) as saying:
        await saying.until("stdout", "half\n")
        bed.box.gates.open("gate")
        assert await saying.ended() == (0, "half\n", "1\n")
    await room.quiet()
    assert room.messages[-1]["turn"]["stopReason"] == "cancelled"
    assert text_of(room.messages[-1]) == "half\nmore"


@pytest.mark.parametrize("mode", ["form", "url"])
async def test_what_only_a_person_can_answer_is_declined(bed: Bed, mode: str) -> None:
    room = await bed.room("alice")
    async with say(bed, f"#{room.channel['name']}", f"!elicit {mode} your name") as saying:
        code, out, err = await saying.ended()
    assert (code, out) == (0, f'elicit {mode}: {{"action": "decline"}}\n')
    assert "declined, as only `sidekicks chat` or an editor can answer: " in err
    assert "your name" in err
    assert ("https://example.com/sign-in?code=1" in err) == (mode == "url")
