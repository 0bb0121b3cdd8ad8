"""One agent process and the ACP connection to it, from its start to the end of its last descendant.

Owns the process, the SDK's connection over our transport, and the table of its sessions. `run` is its life; others only
ask it to end. Knows no leases and no limits on how many run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVarTuple

import anyio

from sidekicks_bridge import __version__
from sidekicks_bridge.agents import process
from sidekicks_bridge.agents.acp_client import CLIENT_CAPABILITIES, AcpClient
from sidekicks_bridge.agents.capabilities import PROTOCOL_VERSION, Capabilities, read_capabilities, read_version
from sidekicks_bridge.agents.raw import record
from sidekicks_bridge.agents.recording import ReceivingTap, SendingTap
from sidekicks_bridge.agents.refusal import AUTH_REQUIRED, Refused
from sidekicks_bridge.agents.sdk import connection_class
from sidekicks_bridge.agents.sessions import Sessions
from sidekicks_bridge.agents.sign_in import describe
from sidekicks_bridge.agents.supervise import supervised
from sidekicks_bridge.agents.transport import TolerantTransport
from sidekicks_bridge.protocol.base import to_builtins
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp.connection import Connection
    from anyio.abc import TaskGroup

    from sidekicks_bridge.agents.contract import AgentSink, ReadBuffer
    from sidekicks_bridge.agents.reaper import Reaper
    from sidekicks_bridge.agents.recording import Recorder
    from sidekicks_bridge.agents.session import AcpSession
    from sidekicks_bridge.agents.spec import AgentSpec, Limits
    from sidekicks_bridge.agents.transport import RequestId
    from sidekicks_bridge.protocol.types import AgentState

    Report = Callable[[AgentState, str | None], None]

Args = TypeVarTuple("Args")
_SETTLE_SECONDS = 0.5
_CLOSE_SECONDS = 30
_NOT_CANCELLED = frozenset({"initialize", "session/prompt"})
"""The first may not be cancelled, the second has a notification of its own."""
_SIGN_IN_SECONDS = 600
"""Somebody has to find the browser's window, a telephone, and a code."""


class AgentConnection:
    """A process of ``spec``. Events: `settled` (ready or failed), `ended` (why is known), `gone` (nothing is left)."""

    def __init__(
        self,
        spec: AgentSpec,
        limits: Limits,
        sink: AgentSink,
        read_buffer: ReadBuffer,
        log: process.LogRing,
        report: Report,
        recorder: Recorder | None = None,
    ) -> None:
        self._recorder = recorder
        self.noise = 0
        """How many lines on stdout were no ACP."""
        self.introduction: dict[str, Any] = {}
        """What it answered to `initialize`, raw."""
        self.authenticated = False
        """Whether it said that it had signed the user in."""
        self.spec = spec
        self.agent = spec.name
        self.limits = limits
        self.sink = sink
        self._log = log
        self.capabilities = Capabilities()
        self.sessions = Sessions(lambda line: self.note(line.encode()))
        self.settled, self.ended, self.gone = anyio.Event(), anyio.Event(), anyio.Event()
        self._client = AcpClient(self, read_buffer)
        self._report = report
        self._failure: SidekicksError | None = None
        self._wanted: SidekicksError | None = None
        self._ending, self._end_of_output = anyio.Event(), anyio.Event()
        self._tasks: TaskGroup | None = None
        self._child: process.AgentProcess | None = None
        self._transport: TolerantTransport | None = None
        self._rpc: Connection | None = None

    # Life

    async def run(self, cwd: str, mark: str, watch: Reaper) -> None:
        """Start the process in ``cwd``, serve it until it ends or `end` is called, and leave nothing behind."""
        self._report("starting", None)
        try:
            child = self._child = await process.spawn(self.spec, cwd, mark, self._log, watch)
            try:
                await self._live(child)
            finally:
                self._tasks = None  # it takes no more
                await child.kill()
                await child.close()
        except SidekicksError as problem:
            self._fail(problem)
        finally:
            self._fail(self._wanted or self._stopped())
            self.gone.set()

    async def _live(self, child: process.AgentProcess) -> None:
        stdin, stdout = child.stdin, child.stdout
        if self._recorder is not None:
            stdin, stdout = SendingTap(stdin, self._recorder), ReceivingTap(stdout, self._recorder)
        self._transport = TolerantTransport(stdin, stdout, self._client)
        async with anyio.create_task_group() as self._tasks:
            supervised(self._tasks, child.drain_stderr)
            supervised(self._tasks, self._transport.write_loop)
            supervised(self._tasks, self._watch_exit, child)
            supervised(self._tasks, self._read)
            await self._ending.wait()
            self._fail(await self._wind_up(child))
            if self._rpc is not None:
                await self._rpc.close()
            self._tasks.cancel_scope.cancel()

    async def _watch_exit(self, child: process.AgentProcess) -> None:
        await child.wait_exit()
        self._ending.set()

    async def _read(self) -> None:
        try:
            rpc = await anyio.to_thread.run_sync(connection_class)
            assert self._transport is not None
            assert self._tasks is not None
            # No frame but a response gets past our transport, so the SDK's own handler has nothing to do.
            self._rpc = rpc(_no_handler, self._transport, listening=False)
            supervised(self._tasks, self._handshake)
            await self._rpc.main_loop()
        finally:
            self._end_of_output.set()
            self._ending.set()

    async def _wind_up(self, child: process.AgentProcess) -> SidekicksError:
        if self._wanted is None:  # it ended by itself, or closed its output, which comes to the same
            with anyio.move_on_after(_SETTLE_SECONDS):
                await child.wait_exit()
        still_running = child.running
        if still_running:
            await child.stop()
        child.kill_group()  # what a dead wrapper left holds the pipes open
        with anyio.move_on_after(_SETTLE_SECONDS):
            await self._end_of_output.wait()
            await child.stderr_read()
        if self._wanted is not None:
            return self._wanted
        ending = child.epitaph(closed_output=still_running)
        details = {"agent": self.agent, "exitCode": None if still_running else child.exit_code}
        return SidekicksError("agentExited", f"Agent {self.agent} {ending}", details)

    async def _handshake(self) -> None:
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientInfo": {"name": "sidekicks-bridge", "title": "Sidekicks Bridge", "version": __version__},
            "clientCapabilities": CLIENT_CAPABILITIES,
        }
        try:
            result = await self.request("initialize", params, self.limits.start_timeout)
            self._check_version(read_version(result))
        except Refused as refused:
            self.end(self._protocol_error(f"refused `initialize`: {refused}"))
        except SidekicksError as problem:
            self.end(problem)
        else:
            self.introduction = record(result)
            self.capabilities = read_capabilities(result, self.spec.command or "", *self.spec.args)
            self.settled.set()
            self._report("ready", None)

    def _check_version(self, version: int | None) -> None:
        if version != PROTOCOL_VERSION:
            answered = "named no protocol version" if version is None else f"speaks ACP version {version}"
            raise self._protocol_error(
                f"{answered}, this bridge speaks version {PROTOCOL_VERSION}. Install a version of the agent that does"
            )

    def _protocol_error(self, what: str) -> SidekicksError:
        return SidekicksError("agentProtocol", f"Agent {self.agent} {what}.", {"agent": self.agent})

    # The end

    def end(self, why: SidekicksError | None = None) -> None:
        """Have the process stopped by the ladder; requests in flight fail with ``why`` (default: it was stopped)."""
        if self._wanted is None and not self.ended.is_set():
            self._wanted = why or self._stopped()
            self._ending.set()

    async def end_and_wait(self, why: SidekicksError) -> SidekicksError:
        """`end`, then the error to raise once it has."""
        self.end(why)
        await self.ended.wait()
        return self.error()

    def error(self) -> SidekicksError:
        """Why it ended, as a fresh exception."""
        why = self._failure or self._wanted or self._stopped()
        return SidekicksError(why.code, why.message, why.details)

    def _fail(self, why: SidekicksError) -> None:
        if self._failure is not None:
            return
        self._failure = why
        for session in self.sessions:
            session.withdraw_all()
        self._ending.set()
        self.ended.set()
        self.settled.set()
        self._report(*self._final_state())

    def _stopped(self) -> SidekicksError:
        return SidekicksError("agentExited", f"Agent {self.agent} was stopped.", {"agent": self.agent})

    def _final_state(self) -> tuple[AgentState, str | None]:
        failure = self.error()
        stopped = failure.message == self._stopped().message
        return ("stopped", None) if stopped else ("error", failure.message)

    def close_session(self, session: AcpSession) -> None:
        """Forget a session; the agent is told if it offers ``session/close``, whatever it answers."""
        session.cancel()
        session.withdraw_all()  # those outside a turn, too: nobody will hear the answers
        self.sessions.remove(session)
        if self.capabilities.close and not self.ending:
            self.spawn(self._tell_closed, session.id)

    async def _tell_closed(self, session_id: str) -> None:
        try:
            await self.request("session/close", {"sessionId": session_id}, _CLOSE_SECONDS)
        except (Refused, SidekicksError):
            self.capabilities.close = False

    # Talking

    @property
    def pid(self) -> int | None:
        """The process, which leads a group of its own; None before it has started."""
        return None if self._child is None else self._child.pid

    @property
    def ending(self) -> bool:
        """Whether it has ended or is about to; it takes no new work."""
        return self._ending.is_set()

    async def ready(self) -> None:
        """Wait until it is ready; raises why it is not."""
        await self.settled.wait()
        if self._failure is not None:
            raise self.error()

    async def request(self, method: str, params: dict[str, Any], timeout: float | None) -> Any:  # noqa: ASYNC109
        """Ask the agent and return its raw result.

        Raises Refused (its error), agentAuthRequired, agentProtocol (no answer within ``timeout`` seconds) or
        agentExited.
        """
        from acp.exceptions import RequestError

        if self._rpc is None or self._transport is None or self.ended.is_set():
            raise self.error()
        abandoned = True
        try:
            with anyio.fail_after(timeout):
                result = await self._rpc.send_request(method, params)
            abandoned = False
            return result
        except TimeoutError as problem:
            raise self._protocol_error(
                f"did not answer `{method}` within {timeout or math.inf:g} s{self._noise()}"
            ) from problem
        except RequestError as problem:
            abandoned = False
            refused = Refused(problem.code, str(problem), problem.data)
            if problem.code == AUTH_REQUIRED:
                raise self._sign_in(refused) from problem
            raise refused from problem
        except ConnectionError as problem:
            await self.ended.wait()
            raise self.error() from problem
        finally:
            number = self._transport.number_of(params)
            if abandoned and number is not None and method not in _NOT_CANCELLED:
                self.notify("$/cancel_request", {"requestId": number})  # nobody waits for it any more

    def _noise(self) -> str:
        words = self._child.last_words() if self._child is not None else ""
        return f"; instead it wrote:\n{words}" if words else ""

    def note(self, line: bytes) -> None:
        """Put a line that is no ACP into the log."""
        if self._child is not None:
            self._child.keep(line)

    def _sign_in(self, refused: Refused) -> SidekicksError:
        offered = self.capabilities.sign_in
        ways = f"It offers: {describe(offered)}." if offered else "Sign in with its own program, then try again."
        return SidekicksError(
            "agentAuthRequired",
            f"Agent {self.agent} wants you to sign in first: {refused}. {ways}",
            {"agent": self.agent, "methods": to_builtins(offered)},
        )

    async def authenticate(self, method_id: str) -> None:
        """Have the agent sign the user in. Raises turnFailed with what it says, agentExited, agentProtocol."""
        try:
            await self.request("authenticate", {"methodId": method_id}, _SIGN_IN_SECONDS)
        except Refused as refused:
            raise SidekicksError(
                "agentAuthRequired", f"Agent {self.agent} could not sign you in: {refused}", {"agent": self.agent}
            ) from refused
        self.authenticated = True

    async def log_out(self) -> None:
        """Sign the user out; raises notSupported where the agent does not offer it."""
        if not self.capabilities.logout:
            raise SidekicksError(
                "notSupported", f"Agent {self.agent} does not offer to sign out; its own program may.", {}
            )
        try:
            await self.request("logout", {}, _CLOSE_SECONDS)
        except Refused as refused:
            raise SidekicksError(
                "turnFailed", f"Agent {self.agent} could not sign you out: {refused}", {"agent": self.agent}
            ) from refused
        self.authenticated = False

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification, without waiting."""
        self._post({"jsonrpc": "2.0", "method": method, "params": params})

    def respond(self, request_id: RequestId, result: dict[str, Any]) -> None:
        """Answer a request of the agent."""
        self._post({"jsonrpc": "2.0", "id": request_id, "result": result})

    def refuse(self, request_id: RequestId, code: int, message: str, data: Any = None) -> None:
        """Answer a request of the agent with an error."""
        error: dict[str, Any] = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self._post({"jsonrpc": "2.0", "id": request_id, "error": error})

    def _post(self, message: dict[str, Any]) -> None:
        if self._transport is not None:
            self._transport.post(message)

    def spawn(self, work: Callable[[*Args], Awaitable[object]], *args: *Args) -> None:
        """Run ``work`` as long as the process lives, its failure contained."""
        if self._tasks is not None:
            supervised(self._tasks, work, *args)

    def turn_changed(self) -> None:
        """A session began or ended a turn."""
        if not self.ending:
            self._report("busy" if any(session.running for session in self.sessions) else "ready", None)


async def _no_handler(method: str, _params: Any, _is_notification: bool) -> Any:
    raise AssertionError(f"{method} got past the transport")
