"""The lock of a data folder: taken at once or not at all, free when its process ends, readable by others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge import __version__, lock
from sidekicks_bridge.protocol import PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from sidekicks_bridge import lock
held = lock.take(Path(sys.argv[1]), lock.Holder(socket="/run/x.sock"))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bridge.lock"


@pytest.fixture
def other(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_taken_and_released(path: Path) -> None:
    first = lock.take(path)
    with pytest.raises(lock.LockTakenError) as caught:
        lock.take(path)
    assert caught.value.holder == lock.Holder(
        pid=os.getpid(), socket=None, protocol_version=PROTOCOL_VERSION, bridge_version=__version__
    )
    first.release()
    first.release()
    lock.take(path).release()


def test_held_by_another_process_until_it_is_killed(path: Path, other: subprocess.Popen[str]) -> None:
    with pytest.raises(lock.LockTakenError, match=str(other.pid)) as caught:
        lock.take(path)
    assert caught.value.holder is not None
    assert (caught.value.holder.pid, caught.value.holder.socket) == (other.pid, "/run/x.sock")
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert lock.read_holder(path) is not None, "the stale content stays and harms nobody"
    lock.take(path).release()


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"\xff\xfe", b'{"pid": "seven"}\n', b'{"pid": 7}' + b"x" * 5_000, b"[]\n"]
)
def test_what_stands_in_the_file_does_not_matter(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert lock.read_holder(path) is None
    held = lock.take(path)
    assert lock.read_holder(path) == lock.Holder()
    held.release()


def test_a_shorter_announcement_replaces_a_longer_one(path: Path) -> None:
    held = lock.take(path, lock.Holder(socket="/a/very/long/path" * 10))
    held.announce(lock.Holder(socket="/short"))
    assert lock.read_holder(path) == lock.Holder(socket="/short")
    assert path.read_bytes().count(b"\n") == 1
    held.release()


def test_fields_of_a_newer_version_are_ignored(path: Path) -> None:
    path.write_bytes(b'{"pid": 7, "socket": "/s", "protocolVersion": 9, "bridgeVersion": "9.0", "mood": 1}\n')
    assert lock.read_holder(path) == lock.Holder(pid=7, socket="/s", protocol_version=9, bridge_version="9.0")


def test_a_child_process_does_not_inherit_it(path: Path) -> None:
    held = lock.take(path)
    code = "print('runs', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"runs\n"
        held.release()
        lock.take(path).release()
        child.kill()


def test_waiting_ends_with_the_lock_or_in_time(path: Path, other: subprocess.Popen[str]) -> None:
    with pytest.raises(lock.LockTakenError), lock.Held(path, seconds=0.03):
        pytest.fail("it is held by another process")
    assert other.stdin is not None
    other.stdin.close()
    with lock.Held(path, seconds=10):
        pass
    lock.take(path).release()


def test_nothing_for_posix_only_is_imported_by_importing_it() -> None:
    code = "import sys, sidekicks_bridge.lock; print(*{'fcntl', 'resource', 'pwd'} & set(sys.modules))"
    bare = "import sys, subprocess, asyncio; print(*{'fcntl', 'resource', 'pwd'} & set(sys.modules))"
    loaded, already = (
        subprocess.run([sys.executable, "-c", each], check=True, capture_output=True, text=True).stdout.split()
        for each in (code, bare)
    )
    assert set(loaded) <= set(already)
