"""Processes: environment, stderr, the stop ladder, and that nothing of the tree is left, whatever ended it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from sidekicks_bridge.agents import reaper
from sidekicks_bridge.agents.manager import AgentManager
from sidekicks_bridge.agents.process import build_argv
from sidekicks_bridge.clock import SystemClock
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.protocol.errors import SidekicksError
from tests.agents.world import Bounds, Sink, Spec, fake, world
from tests.fake_agent.log import records

if TYPE_CHECKING:
    from collections.abc import Iterable


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def all_gone(pids: Iterable[int]) -> None:
    """Wait for the end of processes that are not our children."""
    with anyio.fail_after(5):
        for pid in pids:
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            try:
                await anyio.wait_readable(handle)
            finally:
                os.close(handle)


@pytest.mark.anyio
@pytest.mark.parametrize("options", ["", "--ignore-eof --ignore-term"])
async def test_a_stopped_agent_leaves_nothing(tmp_path: Path, options: str) -> None:
    pids = tmp_path / "pids"
    async with world(tmp_path) as w:
        w.configure(fake(f"--spawn-child {pids} {options}"))
        await w.ask("hi")
        tree = json.loads(pids.read_text(encoding="utf-8"))
        assert all(alive(pid) for pid in tree.values())
        began = time.monotonic()
        await w.manager.stop("fake")
        assert time.monotonic() - began < 2
        assert not any(alive(pid) for pid in tree.values())


@pytest.mark.anyio
async def test_a_killed_wrapper_leaves_nothing_and_fails_its_turn_at_once(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    async with world(tmp_path) as w, anyio.create_task_group() as tasks:
        w.configure(fake(f"--spawn-child {pids}"))

        async def kill() -> None:
            await w.sink.until(lambda: w.sink.text() == "partial")
            os.kill(json.loads(pids.read_text(encoding="utf-8"))["agent"], signal.SIGKILL)

        tasks.start_soon(kill)
        problem = await w.fails("!say partial !hang")
        assert problem.code == "agentExited"
        assert "SIGKILL" in problem.message
        await all_gone(json.loads(pids.read_text(encoding="utf-8")).values())


BRIDGE = """
import sys
from pathlib import Path
import anyio
from tests.agents.world import fake, world

async def main():
    async with world(Path(sys.argv[1])) as w:
        w.configure(fake(f"--ignore-eof --ignore-term --spawn-child {sys.argv[2]}"))
        await w.ask("hi")
        print("ready", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.mark.anyio
async def test_a_killed_bridge_leaves_nothing(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    process = await anyio.open_process(
        [sys.executable, "-c", BRIDGE, str(tmp_path), str(pids)], cwd=Path(__file__).parents[2], stderr=None
    )
    async with process:
        assert process.stdout is not None
        assert (await process.stdout.receive()).startswith(b"ready")
        tree = json.loads(pids.read_text(encoding="utf-8"))
        assert all(alive(pid) for pid in tree.values())
        process.kill()
        await all_gone(tree.values())


@pytest.mark.anyio
async def test_a_cancelled_task_group_leaves_nothing(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def read_buffer(_path: str) -> str | None:
        return None

    async with anyio.create_task_group() as tasks:
        manager = AgentManager(tasks, Sink(), SystemClock(), Ulids(), read_buffer)
        manager.configure([fake(f"--ignore-eof --ignore-term --spawn-child {pids}")], Bounds())
        await manager.start("fake")
        tree = json.loads(pids.read_text(encoding="utf-8"))
        assert all(alive(pid) for pid in tree.values())
        tasks.cancel_scope.cancel()
    assert not any(alive(pid) for pid in tree.values())
    await manager.aclose()


def test_a_killed_reaper_is_replaced_and_knows_what_it_knew() -> None:
    watch = reaper.Reaper()
    with (
        subprocess.Popen(["sleep", "60"], start_new_session=True) as first,
        subprocess.Popen(["sleep", "60"], start_new_session=True) as second,
        subprocess.Popen(["sleep", "60"], start_new_session=True) as ended,
    ):
        watch.add("one", first.pid)
        watch.add("three", ended.pid)
        assert watch._process is not None
        watch._process.kill()
        watch._process.wait()
        watch.remove("three")
        watch.add("two", second.pid)
        watch.close()
        assert (first.wait(5), second.wait(5), ended.poll()) == (-signal.SIGKILL, -signal.SIGKILL, None)
        ended.kill()


def test_a_process_is_killed_though_the_bridge_went_before_it_could_say_so() -> None:
    """Between starting an agent and telling the reaper its pid lies time enough for a kill -9."""
    watch = reaper.Reaper()
    watch.expect("unborn")
    watch.expect("failed")
    watch.remove("failed")
    command = ["sleep", "60"]
    with (
        subprocess.Popen(command, start_new_session=True, env={**os.environ, reaper.MARK: "unborn"}) as started,
        subprocess.Popen(command, start_new_session=True, env={**os.environ, reaper.MARK: "failed"}) as other,
    ):
        watch.close()
        assert (started.wait(5), other.poll()) == (-signal.SIGKILL, None)
        other.kill()


@pytest.mark.anyio
async def test_the_log_is_kept_in_a_file_too(tmp_path: Path) -> None:
    async def read_buffer(_path: str) -> str | None:
        return None

    async with anyio.create_task_group() as tasks:
        manager = AgentManager(tasks, Sink(), SystemClock(), Ulids(), read_buffer, tmp_path)
        manager.configure([fake("--banner --stderr 'no 100% key' --exit 1")], Bounds())
        with pytest.raises(SidekicksError, match="no 100% key"):
            await manager.start("fake")
        await manager.aclose()
    assert "no 100% key\n" in (tmp_path / "fake.log").read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_closing_stops_all_at_the_same_time(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    async with world(tmp_path) as w:
        w.configure(*(fake("--ignore-eof --ignore-term", name=name) for name in names), max_running_agents=3)
        for name in names:
            await w.ask("hi", name)
        began = time.monotonic()
        await w.manager.aclose()
        assert time.monotonic() - began < 1.8
        assert {w.manager.state(name)[0] for name in names} == {"stopped"}


@pytest.mark.anyio
async def test_much_on_stderr_blocks_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.ask("!stderr 2400000 !stderr-say \\nlast words !say done")
        assert w.sink.text() == "done"
        await w.sink.until(lambda: w.sink.lines[-1:] == ["last words"])
        assert [len(line) for line in w.manager.logs("fake")] == [64 * 1024, 10]


@pytest.mark.anyio
async def test_ten_megabytes_in_one_line(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.ask("!bad big 10000000")
        assert w.sink.text() == "x" * 10_000_000


@pytest.mark.anyio
async def test_what_an_agent_finds_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_prefix", "/x")
    monkeypatch.setenv("SOME_KEY", "inherited")
    async with world(tmp_path) as w:
        w.configure(
            fake(
                env={
                    "FAKE_AGENT_LOG": str(tmp_path / "log"),
                    "OWN_KEY": "own",
                    "FAKE_AGENT_LOG_ENV": "SOME_KEY,OWN_KEY",
                }
            )
        )
        await w.ask("hi")
    start = records(tmp_path / "log", "start")[0]
    assert (start["env"]["SOME_KEY"], start["env"]["OWN_KEY"]) == ("inherited", "own")
    assert len(start["env"]["SIDEKICKS_AGENT"]) == 26
    assert not [name for name in start["env_names"] if name.startswith("npm_")]
    assert start["cwd"] == str(tmp_path)
    assert start["pgid"] == start["pid"]


def test_arguments_are_never_split_again(tmp_path: Path) -> None:
    program = tmp_path / "an agent; rm -rf"
    program.write_text("", encoding="utf-8")
    program.chmod(0o755)
    spec = Spec(name="a", command=str(program), args=["a b", "", "$HOME", "*"])
    assert build_argv(spec, {"PATH": ""}, "/") == [str(program), "a b", "", "$HOME", "*"]
    relative = Spec(name="a", command="./an agent; rm -rf")
    assert build_argv(relative, {"PATH": ""}, str(tmp_path))[0] == str(program)
    on_path = Spec(name="a", command="an agent; rm -rf")
    assert build_argv(on_path, {"PATH": str(tmp_path)}, "/")[0] == str(program)


def test_a_built_in_agent_is_this_very_python(tmp_path: Path) -> None:
    program, *args = build_argv(Spec(name="scout", builtin="scout"), {}, str(tmp_path))
    assert program == sys.executable
    assert args


def test_the_reaper_spares_a_pid_that_was_given_away() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        reaper.kill_group(process.pid, "12345")
        assert process.poll() is None
        reaper.kill_group(process.pid, reaper.start_time(process.pid))
        assert process.wait(5) == -signal.SIGKILL


def test_the_reaper_starts_with_the_standard_library_alone() -> None:
    code = "import runpy, sys; runpy.run_path(sys.argv[1]); print('sidekicks_bridge' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, reaper.__file__], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
