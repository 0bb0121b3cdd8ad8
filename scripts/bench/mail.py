"""Mail: a whole `sidekicks tell`, durable tells on many connections, and what the transcript costs.

python -m scripts.bench.mail [tell] [tells] [git]      all of them unless told
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.bench.harness import ROOT, compare, figure, percentile
from sidekicks_bridge import paths
from sidekicks_bridge.cli.mail_socket import request, signed
from sidekicks_bridge.cli.reach import connect
from sidekicks_bridge.mail.signing import PrivateKey, make_key
from sidekicks_bridge.server.framing import FrameReader, frame

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scripts.bench.harness import Figure

    Make = Callable[[], tuple[str, dict[str, Any]]]

CLIENTS, SECONDS = 64, 5.0
STARTS = 25
PRELOAD, LATER, RATE = 9500, 500, 20.0
PROBE_SECONDS = 0.005
BODY = "A message of the usual length, as agents write them to each other: two sentences, no more. " * 2
SIDEKICKS = [sys.executable, "-P", str(ROOT / "sidekicks_bridge" / "__main__.py")]
ECHO = """
import asyncio, sys
async def serve(reader, writer):
    while data := await reader.read(65536):
        answer = b'Content-Length: 36\\r\\n\\r\\n{"jsonrpc":"2.0","id":1,"result":{}}'
        writer.write(answer * data.count(b'Content-Length'))
async def main():
    async with await asyncio.start_unix_server(serve, sys.argv[1]) as server:
        print(flush=True)
        await server.serve_forever()
asyncio.run(main())
"""


class Bench:
    """A hub of its own, in a folder of its own. Python's variables are left out, as in `harness.Home`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config.yaml"
        self.config.write_text("agents: []\n", encoding="utf-8")
        for name in [name for name in os.environ if name.startswith("PYTHON")]:
            del os.environ[name]
        os.environ["XDG_CONFIG_HOME"] = str(folder / "home")
        os.environ["SIDEKICKS_CONFIG"] = str(self.config)
        self.keys: dict[str, PrivateKey] = {}
        self.socket, connection = connect(self.config, start=True)
        connection.close()

    def register(self, name: str) -> None:
        """Register a peer, with its key where the command line looks."""
        self.keys[name] = make_key(paths.data_dir(self.config), name)
        self.call(name, "register", key=self.keys[name].public)

    def call(self, name: str, verb: str, **params: Any) -> dict[str, Any]:
        """One request on a connection of its own."""
        with closing(connect(self.config, start=True)[1]) as connection:
            return request(connection, *self.sign(name, verb, params))

    def sign(self, name: str, verb: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """A signed request: its method and parameters."""
        method = f"sidekicks/mail/{verb}"
        return method, signed(method, params, name, self.keys[name].sign)

    def stop(self) -> None:
        """End the hub."""
        subprocess.run([*SIDEKICKS, "stop"], check=False, capture_output=True)


class Client:
    """A connection that asks one thing after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self._frames = FrameReader()

    async def ask(self, method: str, params: dict[str, Any]) -> None:
        """Ask, and wait for the answer, which must be a result."""
        self.writer.write(frame(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()))
        while not (bodies := self._frames.feed(await self._reader.read(65536))):
            pass
        assert b'"error"' not in bodies[0], bodies[0]


@asynccontextmanager
async def clients(socket: str, count: int) -> AsyncIterator[list[Client]]:
    """Persistent connections."""
    made = [Client(*await asyncio.open_unix_connection(socket)) for _ in range(count)]
    yield made
    for client in made:
        client.writer.close()


@asynccontextmanager
async def echo(folder: Path) -> AsyncIterator[str]:
    """A bare server that only answers, in a process of its own; yields its socket."""
    place = str(folder / "echo.sock")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ECHO, place, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    await process.stdout.readline()
    yield place
    process.terminate()
    await process.wait()


def tell(bench: Bench) -> Iterator[Figure]:
    """The whole process of a tell, in turns with a bare interpreter."""
    bench.register("ann")
    bench.register("ben")
    bare: list[float] = []
    whole: list[float] = []
    for _ in range(STARTS):
        for command, times in (
            ([sys.executable, "-c", "pass"], bare),
            ([*SIDEKICKS, "tell", "--as", "ann", "ben", BODY], whole),
        ):
            began = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times.append((time.perf_counter() - began) * 1000)
    yield compare("tell", "ms", whole, bare)


def tells(bench: Bench) -> Iterator[Figure]:
    """Durable tells a second over persistent connections; beside it the same requests to a server that only answers."""
    for number in range(CLIENTS):
        bench.register(f"peer{number}")

    def told(number: int) -> Make:
        return lambda: bench.sign(f"peer{number}", "tell", {"peer": f"peer{number ^ 1}", "body": BODY})

    async def bare() -> float:
        async with echo(bench.folder) as place:
            return await _requests_a_second(place, [told(number) for number in range(CLIENTS)])

    rate = asyncio.run(_requests_a_second(bench.socket, [told(number) for number in range(CLIENTS)]))
    yield figure("tells", rate, "1/s", asyncio.run(bare()))


async def _requests_a_second(socket: str, makes: list[Make]) -> float:
    count = 0

    async def ask(client: Client, make: Make) -> None:
        nonlocal count
        while time.perf_counter() < end:
            await client.ask(*make())
            count += 1

    async with clients(socket, len(makes)) as connected:
        end = time.perf_counter() + SECONDS
        await asyncio.gather(*map(ask, connected, makes))
    return count / SECONDS


def git(bench: Bench) -> Iterator[Figure]:
    """A room with much in it, then messages at a steady rate: lag of commits, lateness of the loop, size."""
    bench.register("ann")
    bench.call("ann", "createRoom", room="much")
    repository = paths.data_dir(bench.config) / "transcript"
    asyncio.run(_preload(bench))
    _until_committed(repository, PRELOAD)
    sent, late, bare = asyncio.run(_trickle(bench))
    _until_committed(repository, PRELOAD + LATER)
    yield figure("git.lag", percentile(_lags(repository, sent), 95), "s")
    yield figure("git.stall", max(late) * 1000, "ms", max(bare) * 1000)
    _git(repository, "gc", "--quiet", "--prune=now")
    text = sum(path.stat().st_size for path in repository.glob("rooms/*/*.md"))
    size = sum(path.stat().st_size for path in (repository / ".git").rglob("*") if path.is_file())
    yield figure("git.size", size / 1e6, "MB", text / 1e6)


def _post(bench: Bench, number: int) -> tuple[str, dict[str, Any]]:
    return bench.sign("ann", "post", {"room": "much", "body": f"{number} {BODY}"})


async def _preload(bench: Bench) -> None:
    numbers = iter(range(PRELOAD))

    async def post(client: Client) -> None:
        for number in numbers:
            await client.ask(*_post(bench, number))

    async with clients(bench.socket, 16) as connected:
        await asyncio.gather(*map(post, connected))


async def _trickle(bench: Bench) -> tuple[list[float], list[float], list[float]]:
    """When each post was answered; how long a request without work took meanwhile, of the bridge and a bare server."""
    sent: list[float] = []
    late: list[float] = []
    bare: list[float] = []

    async def probe(client: Client, times: list[float]) -> None:
        while len(sent) < LATER:
            began = time.perf_counter()
            await client.ask("sidekicks/mail/agents", {})
            times.append(time.perf_counter() - began)
            await asyncio.sleep(PROBE_SECONDS)

    async def post(client: Client) -> None:
        began = time.perf_counter()
        for number in range(LATER):
            await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
            await client.ask(*_post(bench, number))
            sent.append(time.time())

    async with echo(bench.folder) as place, clients(bench.socket, 2) as (writer, reader), clients(place, 1) as (other,):
        await asyncio.gather(post(writer), probe(reader, late), probe(other, bare))
    return sent, late, bare


def _until_committed(repository: Path, count: int) -> None:
    while _git(repository, "ls-tree", "--name-only", "HEAD", "rooms/much/").count("-ann.md") < count:
        time.sleep(0.2)


def _lags(repository: Path, sent: list[float]) -> list[float]:
    """For each later message how long after its answer its commit was written (git itself counts whole seconds)."""
    log = _git(repository, "log", "--format=@%H", "--name-only", "--diff-filter=A", "--", "rooms/much")
    at: dict[int, float] = {}
    when = 0.0
    for line in log.splitlines():
        if line.startswith("@"):
            written = repository / ".git" / "objects" / line[1:3] / line[3:]
            when = written.stat().st_mtime if written.exists() else 0.0
        elif line.endswith("-ann.md"):
            at[int(line.rpartition("/")[2].partition("-")[0])] = when
    last = sorted(at)[-LATER:]
    assert all(at[seq] for seq in last), "git has packed what was to be measured"
    return [max(0.0, at[seq] - told) for seq, told in zip(last, sent, strict=True)]


def _git(folder: Path, *words: str) -> str:
    run = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S607
    return run.stdout


PARTS = {"tell": tell, "tells": tells, "git": git}


def main(chosen: list[str]) -> int:
    """Run ``chosen``, or all."""
    if unknown := set(chosen) - set(PARTS):
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 64
    for name in chosen or PARTS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            bench = Bench(Path(folder))
            try:
                for line in PARTS[name](bench):
                    print(json.dumps(line), flush=True)
            finally:
                bench.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
