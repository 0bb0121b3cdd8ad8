"""One ACP session of one agent in one channel: its turn, its permission questions, its modes and options.

Updates come in synchronously and go to the sink in the same order. Opening a session is `opening`'s business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from sidekicks_bridge.agents import translate
from sidekicks_bridge.agents.contract import (
    CommandsUpdate,
    PromptResult,
    SessionUpdate,
    SettingsUpdate,
    TextChunk,
    ThoughtChunk,
    ToolCallUpdate,
    UsageUpdate,
)
from sidekicks_bridge.agents.elicitation import FormAsk
from sidekicks_bridge.agents.permission import Ask
from sidekicks_bridge.agents.raw import record, text
from sidekicks_bridge.agents.refusal import Refused
from sidekicks_bridge.agents.terminal_text import TerminalText
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from sidekicks_bridge.agents.connection import AgentConnection
    from sidekicks_bridge.agents.transport import ChunkKind, RequestId
    from sidekicks_bridge.protocol.types import Attachment, Modes, SessionOption, SessionOrigin, Usage

SET_SECONDS = 30


class AcpSession:
    """A live session. ``replaying``: the agent is telling the past again, which we know."""

    def __init__(
        self, connection: AgentConnection, channel_id: str, session_id: str, root: str, origin: SessionOrigin
    ) -> None:
        self.id = session_id
        self.origin: SessionOrigin = origin
        self.channel_id = channel_id
        self.root = root
        self.replaying = False
        self.prompted = False
        self._connection = connection
        self._agent = connection.agent
        self._sink = connection.sink
        self._settings = SettingsUpdate()
        self._asks: dict[RequestId, Ask] = {}
        self._forms: dict[RequestId, FormAsk] = {}
        self._turn: anyio.CancelScope | None = None
        self._cancelled = False
        self._cancelled_early = False
        self._usage: Usage | None = None
        self._terminals = TerminalText()
        self._nameless = 0

    # What comes from the agent

    def on_chunk(self, kind: ChunkKind, words: str, message_id: str | None) -> None:
        """Text of a message or thought."""
        if not self.replaying:
            chunk = TextChunk if kind == "agent_message_chunk" else ThoughtChunk
            self._sink.session_update(self._agent, self.channel_id, chunk(words, message_id))

    def on_update(self, raw: dict[str, Any]) -> None:
        """Any other update, raw."""
        raw = self._named(raw)
        mode = text(raw.get("currentModeId")) if raw.get("sessionUpdate") == "current_mode_update" else None
        update: SessionUpdate | None = translate.session_update(raw) if mode is None else self._with_mode(mode)
        if isinstance(update, ToolCallUpdate):
            update = self._terminals.merge(update, raw.get("_meta"))
        elif isinstance(update, SettingsUpdate):
            self._keep_settings(update)
        elif isinstance(update, UsageUpdate):
            self._usage = update.usage
        if update is None or (self.replaying and not isinstance(update, CommandsUpdate | SettingsUpdate | UsageUpdate)):
            return
        self._sink.session_update(self._agent, self.channel_id, update)

    def _named(self, raw: dict[str, Any]) -> dict[str, Any]:
        """A tool call without an id is given one; an update without one is of the last such call."""
        if raw.get("sessionUpdate") not in ("tool_call", "tool_call_update") or raw.get("toolCallId") is not None:
            return raw
        if raw["sessionUpdate"] == "tool_call" or not self._nameless:
            self._nameless += 1
        return {**raw, "toolCallId": f"nameless-{self._nameless}"}

    def on_permission(self, request_id: RequestId, params: dict[str, Any]) -> None:
        """A permission question: answered `cancelled` at once when the turn is being cancelled."""
        call = translate.tool_call(record(params.get("toolCall"))) or ToolCallUpdate(f"permission-{request_id}")
        offered = translate.offered(params.get("options"))

        def respond(option: str | None) -> None:
            self._answer(request_id, None if option is None else offered[option]["optionId"])

        ask = Ask(self._agent, self.channel_id, call, translate.permission_options(offered), respond)
        self._asks[request_id] = ask
        if self._cancelled:
            ask.answer(None)
            return
        self._sink.permission_asked(ask)

    def on_elicitation(self, request_id: RequestId, params: dict[str, Any]) -> None:
        """The agent asks the user for something: `cancel` at once when the turn is being cancelled."""

        def respond(result: dict[str, Any]) -> None:
            if self._forms.pop(request_id, None) is not None:
                self._connection.respond(request_id, result)

        ask = self._forms[request_id] = FormAsk(self._agent, self.channel_id, params, respond)
        if self._cancelled:
            ask.answer("cancel")
            return
        self._sink.elicitation_asked(ask)

    def on_elicitation_complete(self, elicitation_id: str) -> None:
        """What the user was sent away for is done, whether or not they said so."""
        for ask in [ask for ask in self._forms.values() if ask.elicitation_id == elicitation_id]:
            ask.answer("accept")
            self._sink.elicitation_withdrawn(ask)

    def withdraw(self, request_id: RequestId) -> bool:
        """The agent takes a question back; whether it was open."""
        if (form := self._forms.pop(request_id, None)) is not None:
            form.void()
            self._sink.elicitation_withdrawn(form)
            return True
        ask = self._asks.pop(request_id, None)
        if ask is None:
            return False
        ask.void()
        self._sink.permission_withdrawn(ask)
        return True

    def withdraw_all(self) -> None:
        """No question will be answered any more: all end `cancelled`."""
        for request_id, ask in list(self._asks.items()):
            self._answer(request_id, None)
            ask.void()
            self._sink.permission_withdrawn(ask)
        for form in list(self._forms.values()):
            form.answer("cancel")
            self._sink.elicitation_withdrawn(form)

    def _answer(self, request_id: RequestId, option_id: Any) -> None:
        """``option_id`` as the agent gave it."""
        if self._asks.pop(request_id, None) is not None:
            chosen = {"outcome": "selected", "optionId": option_id}
            outcome = {"outcome": "cancelled"} if option_id is None else chosen
            self._connection.respond(request_id, {"outcome": outcome})

    # The turn

    @property
    def live(self) -> bool:
        """Whether it is still the channel's session, in a process that runs."""
        return not self._connection.ending and self._connection.sessions.by_channel.get(self.channel_id) is self

    @property
    def running(self) -> bool:
        """Whether a prompt is in flight."""
        return self._turn is not None

    def leased(self) -> None:
        """A new lease found this session: a cancel of before concerns no turn to come."""
        self._cancelled_early = False
        if self.prompted:
            self.origin = "resumed"

    def blocks(self, text: str, attachments: list[Attachment]) -> list[dict[str, Any]]:
        """The ACP content blocks for a prompt."""
        able = self._connection.capabilities
        return translate.prompt_blocks(text, attachments, embedded=able.embedded, images=able.image)

    async def prompt(self, blocks: list[dict[str, Any]]) -> PromptResult:
        """Run one turn; see the contract."""
        if self._cancelled_early:
            return PromptResult("cancelled", sent=False)
        if self._turn is not None:
            raise SidekicksError("turnFailed", f"Agent {self._agent} is still answering here. Wait, or cancel.")
        stop_reason, ended = "cancelled", None
        self._turn, self._cancelled, self._usage, self.prompted = anyio.CancelScope(), False, None, True
        self._connection.turn_changed()
        try:
            with self._turn as turn:
                stop_reason = ended = await self._ask_agent(blocks)
            if turn.cancelled_caught:  # only `cancel` gives it a deadline
                raise await self._connection.end_and_wait(self._cancel_ignored())
        except anyio.get_cancelled_exc_class():
            self._connection.end()  # nobody waits for the answer, and the agent takes no second prompt meanwhile
            raise
        finally:
            self.withdraw_all()
            self._turn = None
            self._connection.turn_changed()
            if ended is None or self._cancelled:
                self._reload()
        return PromptResult("cancelled" if self._cancelled else stop_reason, self._usage)

    def _reload(self) -> None:
        """Have the next prompt load the session anew, where the agent would mix it up with the turn before."""
        able = self._connection.capabilities
        if able.reload and able.load and self.live:
            self._connection.close_session(self)

    async def _ask_agent(self, blocks: list[dict[str, Any]]) -> str:
        params = {"sessionId": self.id, "prompt": blocks}
        try:
            return translate.stop_reason(await self._connection.request("session/prompt", params, None))
        except Refused as refused:
            if self._cancelled:
                return "cancelled"  # some agents answer a cancelled prompt with an error
            if refused.session_gone:
                self._connection.sessions.remove(self)  # the next one is loaded, resumed or new
            raise SidekicksError(
                "turnFailed",
                f"Agent {self._agent} could not answer: {refused}",
                {"agent": self._agent, "sessionGone": refused.session_gone},
            ) from refused

    def cancel(self) -> None:
        """Cancel the running turn, or the one that its lease is about to begin."""
        if self._turn is None:
            self._cancelled_early = True
            return
        if self._cancelled:
            return
        self._cancelled = True
        self._turn.deadline = anyio.current_time() + self._connection.limits.cancel_timeout
        self._connection.notify("session/cancel", {"sessionId": self.id})
        self.withdraw_all()

    def _cancel_ignored(self) -> SidekicksError:
        seconds = self._connection.limits.cancel_timeout
        return SidekicksError(
            "agentExited",
            f"Agent {self._agent} did not react to the cancel within {seconds:g} s, so its process was ended.",
            {"agent": self._agent},
        )

    # Modes, models, options

    def take_settings(self, result: dict[str, Any]) -> None:
        """Modes, models and options as the answer to opening the session gives them."""
        settings = translate.settings(result)
        if settings != SettingsUpdate():
            self._keep_settings(settings)
            self._sink.session_update(self._agent, self.channel_id, settings)

    async def set_mode(self, mode_id: str) -> None:
        """Set the mode."""
        modes = self._offered(self._settings.modes, mode_id, "mode")
        await self._set("session/set_mode", {"modeId": mode_id}, f"the mode {mode_id}")
        self._announce(SettingsUpdate(modes=msgspec.structs.replace(modes, current=mode_id)))

    async def set_model(self, model_id: str) -> None:
        """Set the legacy model."""
        models = self._offered(self._settings.models, model_id, "model")
        await self._set("session/set_model", {"modelId": model_id}, f"the model {model_id}")
        self._announce(SettingsUpdate(models=msgspec.structs.replace(models, current=model_id)))

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a configuration option; the agent answers with all of them."""
        option = self._option(option_id, value)
        params: dict[str, Any] = {"configId": option_id, "value": value}
        if option.kind == "boolean":
            params["type"] = "boolean"
        result = await self._set("session/set_config_option", params, f"the option {option_id}")
        options = translate.session_options(record(result).get("configOptions"))
        self._announce(SettingsUpdate(options=options or self._options_with(option_id, value)))

    async def _set(self, method: str, params: dict[str, Any], what: str) -> Any:
        try:
            return await self._connection.request(method, {"sessionId": self.id, **params}, SET_SECONDS)
        except Refused as refused:
            raise SidekicksError("turnFailed", f"Agent {self._agent} did not take {what}: {refused}") from refused

    def _announce(self, settings: SettingsUpdate) -> None:
        self._keep_settings(settings)
        self._sink.session_update(self._agent, self.channel_id, settings)

    def _offered(self, modes: Modes | None, wanted: str, noun: str) -> Modes:
        offered = [mode.id for mode in modes.available] if modes else []
        if modes is None or wanted not in offered:
            known = f"It offers: {', '.join(offered)}." if offered else "It offers none."
            raise SidekicksError("invalidParams", f"Agent {self._agent} has no {noun} {wanted!r}. {known}")
        return modes

    def _option(self, option_id: str, value: str | bool) -> SessionOption:
        options = self._settings.options or []
        option = next((known for known in options if known.id == option_id), None)
        if option is None:
            known = ", ".join(known.id for known in options) or "none"
            raise SidekicksError(
                "invalidParams", f"Agent {self._agent} has no option {option_id!r}. It offers: {known}."
            )
        values = [choice.value for choice in option.choices]
        if (option.kind == "boolean") != isinstance(value, bool) or (values and value not in values):
            wanted = "true or false" if option.kind == "boolean" else f"one of: {', '.join(values)}"
            raise SidekicksError("invalidParams", f"Option {option_id} of agent {self._agent} takes {wanted}.")
        return option

    def _options_with(self, option_id: str, value: str | bool) -> list[SessionOption]:
        return [
            msgspec.structs.replace(option, value=value) if option.id == option_id else option
            for option in self._settings.options or []
        ]

    def _with_mode(self, mode_id: str) -> SettingsUpdate:
        modes, options = self._settings.modes, self._settings.options or []
        if modes is not None:
            return SettingsUpdate(modes=msgspec.structs.replace(modes, current=mode_id))
        option = next((known for known in options if known.category == "mode"), None)
        if option is not None:
            return SettingsUpdate(options=self._options_with(option.id, mode_id))
        return SettingsUpdate()

    def _keep_settings(self, new: SettingsUpdate) -> None:
        old = self._settings
        self._settings = SettingsUpdate(
            modes=old.modes if new.modes is None else new.modes,
            models=old.models if new.models is None else new.models,
            options=old.options if new.options is None else new.options,
        )
