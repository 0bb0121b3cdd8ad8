"""Another user's process is refused: by the socket's permissions, and by who the kernel says it is."""

from __future__ import annotations

import os
import pwd
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from sidekicks_bridge import endpoint, lock, ownership, paths
from sidekicks_bridge.server.framing import frame
from sidekicks_bridge.server.listener import Listener, SocketClient
from tests.server.conftest import socket_of
from tests.support.sandbox import BridgeSandbox
from tests.support.wire import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio

INTRUDER = r"""
import os, socket, sys
if os.getuid() != int(sys.argv[2]):
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(sys.argv[1])
    client.sendall(b'Content-Length: 58\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}')
    print("heard", client.recv(1000))
except OSError as problem:
    print(type(problem).__name__)
"""
"""An attempt of another user, whom only root can play, or of the same one."""


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder that other users can find, unlike a test's own."""
    with tempfile.TemporaryDirectory(prefix="sk-", dir="/tmp") as folder:
        yield Path(folder)


async def test_the_socket_and_its_folder_are_private(tmp_path: Path) -> None:
    box = BridgeSandbox(tmp_path, {"alice": ""})
    before = os.umask(0)  # a careless user
    try:
        async with serving(box) as client:
            await client.shake_hands()
            await client.alive()
            place = Path(socket_of(box))
            files = (place, 0o600), (place.parent, 0o700), (box.data, 0o700), (box.data / "history.db", 0o600)
            for path, mode in files:
                assert stat.S_IMODE(path.stat().st_mode) == mode, path
    finally:
        os.umask(before)


@pytest.mark.parametrize("door", ["closed", "open"] if os.getuid() == 0 else ["own"])
async def test_another_user_gets_no_word(short: Path, door: str) -> None:
    """``open``: somebody loosened the permissions, and the user is checked all the same. ``own``: the same user."""
    box = BridgeSandbox(short / "box", {"alice": ""})
    async with serving(box, env={"XDG_RUNTIME_DIR": str(short / "run")}) as client:
        await client.shake_hands()
        place = Path(socket_of(box))
        assert place.is_relative_to(short / "run")
        if door == "open":
            for path in (short, short / "run", place.parent, place):
                path.chmod(0o777)
        user = os.getuid() if door == "own" else pwd.getpwnam("nobody").pw_uid
        told = await anyio.run_process([sys.executable, "-c", INTRUDER, str(place), str(user)])
        outcomes = {
            "closed": [b"PermissionError"],
            "open": [b"heard", b"ConnectionResetError", b"BrokenPipeError"],
            "own": [b"heard"],
        }
        assert told.stdout.split()[0] in outcomes[door]
        assert (b"jsonrpc" in told.stdout) == (door == "own")
        await client.alive()
    log = (box.folder / "serve.err").read_text(encoding="utf-8")
    assert (f"runs as user {user}" in log) == (door == "open")


async def test_a_listener_hears_nothing_of_another_user(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same at the seam, for whoever runs the tests."""
    monkeypatch.setattr(endpoint, "peer_user", lambda _socket: os.getuid() + 1)
    served: list[SocketClient] = []
    listener = await Listener.open(short / "s", served.append)
    async with await anyio.connect_unix(short / "s") as client:
        try:
            await client.send(frame(b"{}"))
            assert await client.receive() == b""
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            pass  # turned away, sooner or later
    assert served == []
    listener.close()


@pytest.mark.parametrize("user", [None, -1])
def test_what_the_kernel_does_not_tell_is_refused(
    short: Path, monkeypatch: pytest.MonkeyPatch, user: int | None
) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(short / "s"))
        server.listen()
        endpoint.connect(str(short / "s")).close()
        monkeypatch.setattr(endpoint, "peer_user", lambda _socket: user)
        with pytest.raises(PermissionError):
            endpoint.connect(str(short / "s"))


def test_an_owner_of_another_user_is_named(tmp_path: Path, short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bridge started with sudo, say: a sentence, not a number."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = paths.data_dir(tmp_path / "x.yaml")
    folder.mkdir(parents=True)
    held = lock.take(paths.lock_path(folder), lock.Holder(pid=4242, socket=str(short / "s")))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(short / "s"))
        server.listen()
        monkeypatch.setattr(endpoint, "peer_user", lambda _socket: os.getuid() + 1)
        with pytest.raises(PermissionError, match=r"process 4242\) belongs to another user"):
            ownership.claim(tmp_path / "x.yaml")
    held.release()


def test_a_folder_that_others_may_enter_is_no_place_for_a_socket(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = short / "run"
    (runtime / "sidekicks").mkdir(parents=True)
    (runtime / "sidekicks").chmod(0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    data = short / "d"
    assert endpoint.socket_path(data) == data / "bridge.sock"
    data.rmdir()
    data.symlink_to(runtime)
    monkeypatch.setenv("TMPDIR", str(short))
    elsewhere = endpoint.socket_path(data)
    assert elsewhere is not None
    assert (elsewhere.parent, elsewhere.suffix) == (short / f"sidekicks-{os.getuid()}", ".sock")


def test_the_module_needs_only_the_standard_library() -> None:
    code = "import sys, sidekicks_bridge.endpoint; print(*{n.split('.')[0] for n in sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=_root())
    assert not {"anyio", "msgspec", "pygls", "acp"} & set(found.stdout.split())


def _root() -> Path:
    return Path(__file__).parents[2]
