"""Measure mail: a whole `sidekicks tell`, durable tells on many connections, and what the transcript costs.

python scripts/bench/mail.py [tell] [tells] [git]      all of them unless told; prints one `name value` a line
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sidekicks_bridge import paths  # noqa: E402
from sidekicks_bridge.cli.mail_socket import request, signed  # noqa: E402
from sidekicks_bridge.cli.reach import connect  # noqa: E402
from sidekicks_bridge.mail.signing import PrivateKey  # noqa: E402
from sidekicks_bridge.server.framing import FrameReader, frame  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

CLIENTS = 64
SECONDS = 5.0
PRELOAD, LATER, RATE = 9500, 500, 20.0
BODY = "A message of the usual length, as agents write them to each other: two sentences, no more. " * 2


class Bench:
    """A hub of its own, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "config.yaml"
        self.config.write_text("agents: []\n", encoding="utf-8")
        os.environ["XDG_CONFIG_HOME"] = str(folder / "home")
        os.environ["SIDEKICKS_CONFIG"] = str(self.config)
        os.environ["PYTHONPATH"] = str(ROOT)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled, too
        self.keys: dict[str, PrivateKey] = {}
        self.socket, connection = connect(self.config, start=True)
        connection.close()

    def register(self, name: str) -> None:
        """Register a peer; its key is where the command line looks."""
        subprocess.run([*SIDEKICKS, "register", name], check=True, capture_output=True)
        from sidekicks_bridge.mail.signing import load_key

        key = load_key(paths.data_dir(self.config), name)
        assert key is not None
        self.keys[name] = key

    def call(self, name: str, verb: str, **params: Any) -> dict[str, Any]:
        """One request."""
        connection = connect(self.config, start=True)[1]
        with connection:
            return request(connection, f"sidekicks/mail/{verb}", self.sign(name, verb, params))

    def sign(self, name: str, verb: str, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters, signed."""
        return signed(f"sidekicks/mail/{verb}", params, name, self.keys[name].sign)

    def stop(self) -> None:
        """End the hub."""
        subprocess.run([*SIDEKICKS, "stop"], check=False, capture_output=True)


SIDEKICKS = [sys.executable, "-P", str(ROOT / "sidekicks_bridge" / "__main__.py")]


def tell(bench: Bench) -> None:
    """The whole process of a tell, beside a bare interpreter."""
    bench.register("ann")
    bench.register("ben")
    bare = _milliseconds([sys.executable, "-c", "pass"])
    whole = _milliseconds([*SIDEKICKS, "tell", "--as", "ann", "ben", "hello"])
    print(f"tell.bare_ms {bare:.1f}\ntell.whole_ms {whole:.1f}\ntell.ratio {whole / bare:.2f}  (at most 3)")


def _milliseconds(command: list[str], runs: int = 25) -> float:
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append((time.perf_counter() - began) * 1000)
    return median(times)


def tells(bench: Bench) -> None:
    """Durable tells a second over persistent connections, beside an echo server's requests."""
    for number in range(CLIENTS):
        name = f"peer{number}"
        bench.keys[name] = PrivateKey(os.urandom(32))
        bench.call(name, "register", key=bench.keys[name].public)

    def told(number: int) -> tuple[str, dict[str, Any]]:
        other = f"peer{number ^ 1}"
        return "sidekicks/mail/tell", bench.sign(f"peer{number}", "tell", {"peer": other, "body": BODY})

    rate = asyncio.run(_drive(bench.socket, told))
    print(f"tells.per_second {rate:.0f}  (at least 1000)")
    print(f"tells.echo_per_second {asyncio.run(_echo(told)):.0f}")


async def _drive(socket: str, make: Callable[[int], tuple[str, dict[str, Any]]]) -> float:
    """Requests a second of `CLIENTS` clients that each wait for the answer before they ask again."""
    end = time.perf_counter() + SECONDS

    async def client(number: int) -> int:
        reader, writer = await asyncio.open_unix_connection(socket)
        frames, count = FrameReader(), 0
        while time.perf_counter() < end:
            method, params = make(number)
            body = json.dumps({"jsonrpc": "2.0", "id": count, "method": method, "params": params}).encode()
            writer.write(frame(body))
            while not (bodies := frames.feed(await reader.read(65536))):
                pass
            assert b'"error"' not in bodies[0], bodies[0]
            count += 1
        writer.close()
        return count

    counts = await asyncio.gather(*map(client, range(CLIENTS)))
    return sum(counts) / SECONDS


async def _echo(make: Callable[[int], tuple[str, dict[str, Any]]]) -> float:
    """The same clients and signatures against a server that only answers."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = FrameReader()
        while data := await reader.read(65536):
            for _ in frames.feed(data):
                writer.write(frame(b'{"jsonrpc":"2.0","id":1,"result":{}}'))
        writer.close()

    place = Path(tempfile.mkdtemp()) / "echo.sock"
    server = await asyncio.start_unix_server(serve, place)
    async with server:
        return await _drive(str(place), make)


def git(bench: Bench) -> None:
    """A room with much in it, then messages at a steady rate: lag of commits, lateness of the loop, size."""
    bench.register("ann")
    bench.call("ann", "createRoom", room="much")
    folder = paths.data_dir(bench.config) / "transcript"
    _post(bench, PRELOAD, None)
    while _committed(folder) < PRELOAD:
        time.sleep(0.2)
    sent, lateness = _post(bench, LATER, RATE)
    lags = _lags(folder, sent)
    print(f"git.lag_p95_s {sorted(lags)[int(len(lags) * 0.95)]:.2f}  (at most 2)")
    print(f"git.stall_ms {max(lateness) * 1000:.0f}  (a request without work; at most 30 beside its own time)")
    _git(folder, "gc", "--quiet", "--prune=now")
    text = sum(path.stat().st_size for path in folder.glob("rooms/*/*.md"))
    size = sum(path.stat().st_size for path in (folder / ".git").rglob("*") if path.is_file())
    print(f"git.size_ratio {size / text:.2f}  (at most 3; {size:,} of {text:,} bytes)")


def _post(bench: Bench, count: int, rate: float | None) -> tuple[list[float], list[float]]:
    """When each post was answered, and how long a request without work took in between."""
    connection = connect(bench.config, start=True)[1]
    sent: list[float] = []
    waits: list[float] = [0.0]
    began = time.perf_counter()
    with connection:
        for number in range(count):
            if rate is not None:
                time.sleep(max(0.0, began + number / rate - time.perf_counter()))
                before = time.perf_counter()
                request(connection, "sidekicks/mail/agents", {})
                waits.append(time.perf_counter() - before)
            params = bench.sign("ann", "post", {"room": "much", "body": f"{number} {BODY}"})
            request(connection, "sidekicks/mail/post", params)
            sent.append(time.time())
    return sent, waits


def _committed(folder: Path) -> int:
    return _git(folder, "ls-files", "rooms/much").count("-ann.md")


def _git(folder: Path, *words: str) -> str:
    run = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S607
    return run.stdout


def _lags(folder: Path, sent: list[float]) -> list[float]:
    """For each message how long after its answer its commit was made (git counts whole seconds)."""
    while _committed(folder) < PRELOAD + LATER:
        time.sleep(0.2)
    log = _git(folder, "log", "--format=@%ct", "--name-only", "--diff-filter=A", "--", "rooms/much")
    at: dict[int, float] = {}
    when = 0.0
    for line in log.splitlines():
        if line.startswith("@"):
            when = float(line[1:])
        elif line.endswith("-ann.md"):
            at[int(line.rpartition("/")[2].partition("-")[0])] = when
    last = sorted(at)[-LATER:]
    return [max(0.0, at[seq] - told) for seq, told in zip(last, sent, strict=True)]


def main() -> None:
    """Run what is asked for."""
    parts = {"tell": tell, "tells": tells, "git": git}
    for name in sys.argv[1:] or parts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            bench = Bench(Path(folder))
            try:
                parts[name](bench)
            finally:
                bench.stop()


if __name__ == "__main__":
    main()
