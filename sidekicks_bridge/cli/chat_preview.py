"""Where the text being typed would go: asked of the bridge after each pause in typing, and the draft kept with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from sidekicks_bridge.cli import status
from sidekicks_bridge.cli.client import BridgeError, BridgeGone
from sidekicks_bridge.protocol.requests import ChannelRef, ChannelText, PreparedCommands
from sidekicks_bridge.protocol.routes import Route

if TYPE_CHECKING:
    from sidekicks_bridge.cli.chat_app import ChatApp

_PAUSE_IN_TYPING = 0.08


class Preview:
    """The line below the composer. One question at a time."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._route: Route | None = None
        self._retype = anyio.Event()
        self._prepared: set[str] = set()

    def ask(self) -> None:
        """The text changed, or what it depends on."""
        self._retype.set()

    def clear(self) -> None:
        """Show nothing: the text was sent, or there is no bridge to ask."""
        self._route, self._app.screen.route = None, []

    def accept(self) -> bool:
        """Put the route's suggestion in place; False if there is none."""
        return self._app.composer.accept(self._route.problem if self._route is not None else None)

    async def run(self) -> None:
        """Ask and show, until cancelled."""
        app = self._app
        while True:
            await self._retype.wait()
            await anyio.sleep(_PAUSE_IN_TYPING)
            self._retype = anyio.Event()
            await app.keep_draft()
            channel_id, text = app.channel_id(), app.composer.text
            self._route = await self._ask(channel_id, text) if channel_id is not None and text.strip() else None
            names, channels = app.model.names, app.model.channels
            line = status.route_line(self._route, names, channels, app.model.columns) if self._route else []
            app.screen.route = line
            app.screen.app.invalidate()

    async def _ask(self, channel_id: str, text: str) -> Route | None:
        app = self._app
        if text.lstrip().startswith("/") and channel_id not in self._prepared:
            self._prepared.add(channel_id)  # the first `/` lets the members announce their commands (design rule 8)
            asked = ChannelRef(channel_id=channel_id)
            app.do(app.client.request, "sidekicks/channel/prepare", asked, PreparedCommands)
        try:
            preview = ChannelText(channel_id=channel_id, text=text)
            return await app.client.request("sidekicks/message/preview", preview, Route)
        except (BridgeError, BridgeGone):
            return None
