"""The MCP server that agents get with a session: what starts it, where it finds the bridge, and its token."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import sidekicks_bridge

if TYPE_CHECKING:
    from sidekicks_bridge.bridge.bridge import Bridge

NAME = "sidekicks"


class MailTools:
    """Makes the servers. ``socket``: where the bridge listens; None: nowhere, so agents get no mail tools."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self.socket: str | None = None

    def servers(self, agent: str, channel_id: str) -> list[dict[str, Any]]:
        """The server for a session of ``agent``, in ACP's shape. Its token is good until the next one is made."""
        if self.socket is None or not channel_id:
            return []
        token = self._bridge.mail.callers.tokens.issue(agent, channel_id)
        env = {"SIDEKICKS_MAIL_SOCKET": self.socket, "SIDEKICKS_MAIL_TOKEN": token}
        program = sidekicks_bridge.__file__.replace("__init__", "__main__")
        return [
            {
                "name": NAME,
                "command": sys.executable,
                "args": ["-P", program, "mcp"],
                "env": [{"name": name, "value": value} for name, value in env.items()],
            }
        ]
