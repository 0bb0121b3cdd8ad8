"""Sending in `sidekicks chat`: a message is sent once, and what could not be sent is not lost.

Owns the tokens. A message that was on its way when the bridge died may have been taken or not: it goes back to the
composer and keeps its token, so that a bridge that has it takes it for the same one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.cli.client import BridgeError, BridgeGone
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.requests import SendMessage, SentMessage

if TYPE_CHECKING:
    from sidekicks_bridge.cli.chat_files import ChatFiles
    from sidekicks_bridge.cli.client import BridgeClient
    from sidekicks_bridge.cli.composer import Composer
    from sidekicks_bridge.protocol.requests import OpenedChannel
    from sidekicks_bridge.protocol.types import Attachment


class Sender:
    """Sends what was written, and puts it back if that failed."""

    def __init__(self, composer: Composer, files: ChatFiles) -> None:
        self._composer = composer
        self._files = files
        self._tokens = Ulids()
        self._arrived: set[str] = set()
        self._doubtful = ("", "", "")
        """Channel, text and token of what may have been sent or not."""

    async def send(self, client: BridgeClient, channel_id: str, text: str, files: list[Attachment]) -> None:
        """Send ``text`` with ``files``. Raises what the request raises, all being in the composer again."""
        *known, token = self._doubtful
        if known != [channel_id, text]:
            token = self._tokens.new()
        message = SendMessage(channel_id=channel_id, text=text, attachments=files, client_token=token)
        try:
            await client.request("sidekicks/message/send", message, SentMessage)
        except (BridgeError, BridgeGone):
            if token not in self._arrived and not self._composer.text:
                self._composer.put(text)
                self._files.put_back(files)
                self._doubtful = channel_id, text, token
            raise
        finally:
            self._arrived.discard(token)
        self._doubtful = ("", "", "")

    def arrived(self, token: str) -> None:
        """The message with this token is in the channel, whatever becomes of the request."""
        self._arrived.add(token)


def typed_texts(snapshot: OpenedChannel) -> list[str]:
    """What the user sent here, oldest first."""
    return [
        "".join(part.text for part in message.parts if isinstance(part, TextPart))
        for message in snapshot.messages
        if message.author.kind == "user"
    ]
