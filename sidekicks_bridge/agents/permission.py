"""A permission question on its way from an agent to whoever answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.agents.contract import ToolCallUpdate
    from sidekicks_bridge.protocol.parts import PermissionOption


class Ask:
    """One question; the first answer counts, later ones do nothing."""

    def __init__(
        self,
        agent: str,
        channel_id: str,
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        respond: Callable[[str | None], None],
    ) -> None:
        self.agent = agent
        self.channel_id = channel_id
        self.tool_call = tool_call
        self.options = options
        self._respond: Callable[[str | None], None] | None = respond

    def answer(self, option_id: str | None) -> None:
        """Answer with an offered option or None for `cancelled`; raises invalidParams for one not offered."""
        if self._respond is None:
            return
        offered = [option.option_id for option in self.options]
        if option_id is not None and option_id not in offered:
            raise SidekicksError(
                "invalidParams", f"{option_id!r} is none of the answers offered: {', '.join(offered) or 'none'}."
            )
        respond, self._respond = self._respond, None
        respond(option_id)

    def void(self) -> None:
        """The question is over; an answer does nothing from now on."""
        self._respond = None
