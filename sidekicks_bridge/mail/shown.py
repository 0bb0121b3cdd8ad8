"""Messages as mail shows them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidekicks_bridge.channels.context import text_of
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.mail import Letter, Letters
from sidekicks_bridge.protocol.parts import NoticePart

if TYPE_CHECKING:
    from sidekicks_bridge.channels.letters import Mail
    from sidekicks_bridge.protocol.types import Message


def body_of(message: Message) -> str:
    """What a message says: its text, and what went wrong in brackets; without a text, what became of it."""
    text = text_of(message.parts)
    error = message.turn.error if message.turn is not None else None
    if text.strip():
        return text if error is None else f"{text}\n[{error.message}]"
    notices = [part.text for part in message.parts if isinstance(part, NoticePart)]
    return f"[{error.message if error is not None else ' '.join(notices) or 'no text'}]"


def letter(message: Message) -> Letter:
    """A message as mail shows it."""
    author = message.author.name or message.author.kind
    failed = message.turn is not None and message.turn.stop_reason == "failed"
    return Letter(seq=message.seq or 0, author=author, at=message.created_at, body=body_of(message), failed=failed)


def letters(mail: Mail) -> Letters:
    """Unread messages as mail shows them."""
    return Letters(messages=[letter(one) for one in mail.messages], dropped=mail.dropped)


def timed_out(what: str, details: dict[str, Any]) -> SidekicksError:
    """The end of a wait without a message."""
    return SidekicksError("timeout", f"{what} within the time. Read again later: nothing is lost.", details)
