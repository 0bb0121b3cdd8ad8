"""A client of the protocol for tests: talks in raw frames, records every event in order, waits without sleeping.

It keeps a snapshot of each channel it opened by the reducer, so that every test tests the law too. Waiting ends at once
when what is waited for has become impossible, and shows what happened so far.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import anyio
import msgspec

from sidekicks_bridge.protocol.methods import METHOD_BY_NAME
from sidekicks_bridge.protocol.reducer import reduce
from sidekicks_bridge.server.framing import FrameReader, frame
from tests.support import law
from tests.support.room import Room

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from anyio.abc import Process

    JSON = dict[str, Any]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
PATIENCE = 30.0
"""Seconds after which what has not become impossible is given up all the same."""
SHOWN_EVENTS = 50


class ImpossibleError(Exception):
    """What is waited for cannot happen any more; the message says why."""


class RefusedError(Exception):
    """The bridge answered with an error. ``code``: JSON-RPC's, ``kind``: ours (`channelNotFound`), if any."""

    def __init__(self, error: JSON) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        data = error.get("data") or {}
        self.kind: str = data.get("code", "")
        self.details: JSON = data.get("details", {})
        self.message: str = error["message"]


class Condition(Protocol[T_co]):
    """Looks at a client: the thing waited for, or None: not yet. Raises `ImpossibleError`."""

    def __call__(self, client: Client) -> T_co | None: ...


class Reply:
    """A request's answer, once it is there. ``seen``: how many events came before it."""

    def __init__(self, on_result: Callable[[JSON], None]) -> None:
        self.done = anyio.Event()
        self.message: JSON = {}
        self.seen = 0
        self.shown: dict[str, JSON] = {}
        self.on_result = on_result


class Client:
    """One client on a bridge's stdio. ``events`` holds every notification, oldest first."""

    def __init__(self, process: Process, errors: Path, agents: Callable[[], str]) -> None:
        self.process = process
        self.events: list[JSON] = []
        self.rooms: dict[str, Room] = {}
        self.gone = False
        self.capabilities: JSON = {}
        self.answer_request: Callable[[str, JSON], Any] = lambda _method, _params: None
        self.asked: list[JSON] = []
        self.expects_bugs = False
        self.killed = False
        self.problems: list[str] = []
        self._errors = errors
        self._agents = agents
        self._replies: dict[int, Reply] = {}
        self._given: set[str] = set()
        self._count = 0
        self._news = anyio.Event()

    # ── frames ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def read(self) -> None:
        """Take what the bridge says until it ends."""
        frames = FrameReader()
        assert self.process.stdout is not None
        try:
            async for data in self.process.stdout:
                for body in frames.feed(data):
                    await self._take(msgspec.json.decode(body))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the bridge was killed
        self.gone = True
        self._wake()

    async def _take(self, message: JSON) -> None:
        if "method" not in message:
            if reply := self._replies.pop(message["id"] or 0, None):
                reply.message, reply.seen = message, len(self.events)
                reply.shown = {room.id: room.snapshot for room in self.rooms.values()}
                if "result" in message:
                    reply.on_result(message["result"])
                reply.done.set()
            return
        params = message.get("params") or {}
        if "id" in message:
            self.asked.append({"method": message["method"], "params": params})
            result = self.answer_request(message["method"], params)
            await self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        else:
            self._event({"method": message["method"], "params": params})
        self._wake()

    def _event(self, event: JSON) -> None:
        self.events.append(event)
        if problem := law.event_problem(event):
            self.problems.append(problem)
        for room in self.rooms.values():
            room.snapshot = reduce(room.snapshot, event)

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def send(self, message: JSON) -> None:
        """Write one message."""
        await self.send_raw(frame(msgspec.json.encode(message)))

    async def send_raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        await self.process.stdin.send(data)

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def request(self, method: str, params: JSON | None = None, /, **fields: Any) -> Any:
        """Ask (``sidekicks/`` may be left out) and return the result; raises `RefusedError`."""
        waiting = await self.ask(method, params, **fields)
        return await self.result(waiting, method)

    async def ask(
        self,
        method: str,
        params: JSON | None = None,
        /,
        on_result: Callable[[JSON], None] = lambda _: None,
        **fields: Any,
    ) -> Reply:
        """Send a request without waiting; `result` waits. ``on_result`` is called before any later event is taken."""
        name = f"sidekicks/{method}"
        self._count += 1
        reply = self._replies[self._count] = Reply(on_result)
        await self.send(
            {
                "jsonrpc": "2.0",
                "id": self._count,
                "method": name if name in METHOD_BY_NAME else method,
                "params": {**(params or {}), **fields},
            }
        )
        return reply

    async def result(self, reply: Reply, what: str = "a request") -> Any:
        """The result of an `ask`."""
        with anyio.move_on_after(PATIENCE):
            while not reply.done.is_set():
                if self.gone:
                    raise self.failure(f"{what} was not answered: the bridge has ended.")
                news = self._news
                async with anyio.create_task_group() as tasks:

                    async def first(event: anyio.Event) -> None:
                        await event.wait()
                        tasks.cancel_scope.cancel()

                    tasks.start_soon(first, news)
                    tasks.start_soon(first, reply.done)
        if not reply.done.is_set():
            raise self.failure(f"{what} was not answered within {PATIENCE:g} s.")
        if "error" in reply.message:
            raise RefusedError(reply.message["error"])
        return reply.message.get("result")

    async def refused(self, method: str, params: JSON | None = None, /, **fields: Any) -> RefusedError:
        """The error of a request that must be refused."""
        try:
            result = await self.request(method, params, **fields)
        except RefusedError as refusal:
            return refusal
        raise self.failure(f"{method} {params or ''} {fields} was not refused but answered {result!r}.")

    async def shake_hands(self, folder: Path | None, options: JSON) -> None:
        """`initialize` and `initialized`."""
        uri = folder.as_uri() if folder is not None else None
        result = await self.request(
            "initialize",
            processId=None,
            rootUri=uri,
            workspaceFolders=[{"uri": uri, "name": "workspace"}] if uri else None,
            capabilities={},
            initializationOptions={"sidekicks": {"protocolVersion": 1, **options}},
        )
        self.capabilities = result["capabilities"]
        await self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    # ── channels ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def state(self) -> JSON:
        """`state/get`."""
        result: JSON = await self.request("state/get")
        return result

    async def channel(self, name: str) -> JSON:
        """The record of the channel of that name (or of the direct conversation with ``@name``)."""
        channels = (await self.state())["channels"]
        field, wanted = ("agent", name[1:]) if name.startswith("@") else ("name", name)
        found = next((channel for channel in channels if channel.get(field) == wanted), None)
        if found is None:
            raise self.failure(f"There is no channel {name}: {channels}")
        return dict(found)

    async def open(self, name: str, **params: Any) -> Room:
        """Open a channel by name (``@agent``: the direct conversation, made if need be)."""
        if name.startswith("@"):
            channel = await self.request("channel/direct", agent=name[1:])
        else:
            channel = await self.channel(name)
        return await self.open_id(channel["id"], **params)

    async def open_id(self, channel_id: str, **params: Any) -> Room:
        """Open a channel by id."""
        room = Room(self, channel_id)

        def opened(snapshot: JSON) -> None:
            room.snapshot = snapshot
            self.rooms[channel_id] = room

        reply = await self.ask("channel/open", {"channelId": channel_id, **params}, on_result=opened)
        law.check_snapshot(await self.result(reply, "channel/open"))
        return room

    # ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def until(self, condition: Condition[T], *, seconds: float = PATIENCE) -> T:
        """Wait until the condition is met; fails at once when it has become impossible."""
        with anyio.move_on_after(seconds):
            while True:
                try:
                    found = condition(self)
                except ImpossibleError as why:
                    raise self.failure(f"Impossible: {condition}. {why}") from None
                if found is not None and found is not False:
                    return found
                if self.gone:
                    raise self.failure(f"The bridge has ended while waiting for {condition}.")
                await self._news.wait()
        raise self.failure(f"Not within {seconds:g} s: {condition}.")

    def give(self, key: str) -> None:
        """Note that a test was given the thing ``key``: the next wait of its kind is for another one."""
        self._given.add(key)

    def was_given(self, key: str) -> bool:
        """Whether a test was given it."""
        return key in self._given

    def of(self, method: str) -> list[JSON]:
        """The parameters of all events ``sidekicks/method`` so far."""
        return [event["params"] for event in self.events if event["method"] == f"sidekicks/{method}"]

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def kill(self) -> None:
        """Kill the bridge as `kill -9` does, and wait for its end."""
        self.killed = True
        self.process.kill()
        await self.process.wait()

    async def leave(self) -> None:
        """`shutdown` and `exit`, if there is somebody to hear it."""
        if self.process.returncode is not None or self.killed:
            return
        try:
            with anyio.move_on_after(5):
                reply = await self.ask("shutdown")
                await reply.done.wait()
            await self.send({"jsonrpc": "2.0", "method": "exit"})
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it has just ended; `check_end` looks at how

    async def check_law(self) -> None:
        """Snapshot + events = later snapshot, for every channel opened here."""
        assert not self.problems, self.report("\n".join(self.problems))
        for room in list(self.rooms.values()):
            await law.check(self, room)

    def check_end(self) -> None:
        """The bridge ended in order and its log has no bug."""
        if self.killed:
            return
        assert self.process.returncode == 0, self.report(f"The bridge ended with {self.process.returncode}.")
        told = self.stderr()
        assert self.expects_bugs or "Traceback" not in told, self.report("There is a bug in the bridge's log.")

    def stderr(self) -> str:
        """What the bridge wrote to standard error."""
        return self._errors.read_text(encoding="utf-8", errors="replace")

    def failure(self, what: str) -> AssertionError:
        """An error that shows what happened so far."""
        return AssertionError(self.report(what))

    def report(self, what: str) -> str:
        """The log so far: events, the bridge's standard error, what agents received."""
        lines = [f"  {event['method'][10:]} {_short(event['params'])}" for event in self.events[-SHOWN_EVENTS:]]
        return "\n".join(
            [what, "Events:", *lines, "Standard error of the bridge:", self.stderr()[-6000:], "Agents:", self._agents()]
        )


def _short(params: JSON) -> str:
    """The parameters without what is long and the same everywhere."""
    text = json.dumps({key: value for key, value in params.items() if key != "channels"}, ensure_ascii=False)
    return re.sub(r'"(channelId|createdAt|startedAt|endedAt|inReplyTo)": "[^"]*",? ?', "", text)[:240]
