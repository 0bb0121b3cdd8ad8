"""What an agent is told of what it has not seen: the frame before its prompt (design rule 4). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sidekicks_bridge.channels.code_spans import closing_line
from sidekicks_bridge.protocol.parts import Part, TextPart

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sidekicks_bridge.protocol.types import Attachment, Message

CUT_MARK = " […]"
THE_USER = "The user"
_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")


@dataclass(frozen=True)
class Utterance:
    """A finished message as context carries it: who, what (text parts only), attached paths."""

    seq: int
    kind: str
    name: str | None
    text: str
    attached: tuple[str, ...] = ()
    whole: bool = True
    """Whether ``text`` is all that was said."""

    @property
    def speaker(self) -> str:
        """What stands before the colon."""
        return self.name if self.kind in ("agent", "peer") and self.name else "user"


@dataclass(frozen=True)
class Limits:
    """How much context an agent gets: the last ``messages``, each cut at ``characters`` code points."""

    messages: int = 20
    characters: int = 1500


@dataclass(frozen=True)
class Context:
    """A prompt's text, and how many messages were unseen, of them shortened or dropped."""

    text: str
    unseen: int
    cut: int


def utterance(message: Message) -> Utterance | None:
    """The context form of a finished message; None for what is never carried (system messages, no text at all)."""
    if message.seq is None or message.author.kind == "system":
        return None
    text = text_of(message.parts)
    attached = tuple(path_of(attachment) for attachment in message.attachments)
    if not text.strip() and not attached:
        return None
    return Utterance(message.seq, message.author.kind, message.author.name, text, attached)


def beginning(said: Utterance, characters: int) -> Utterance:
    """The utterance with no more than that of its text: what context can carry at most need not stay in memory."""
    return said if len(said.text) <= characters else replace(said, text=said.text[:characters], whole=False)


def text_of(parts: Iterable[Part]) -> str:
    """The text parts of a message, one after the other on lines of their own."""
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def path_of(attachment: Attachment) -> str:
    """How an attachment is named in context: the path of a file URI, else the URI."""
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(attachment.uri)
    except ValueError:  # no URI, whatever it is
        return attachment.uri
    if parts.scheme != "file":
        return attachment.uri
    path = unquote(parts.path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def unseen_by(
    utterances: Iterable[Utterance], cursor: int, heard: Collection[int], prompting: int | None
) -> list[Utterance]:
    """What a session has not seen: after its cursor, less what it answered, was prompted with, or is now."""
    return [said for said in utterances if said.seq > cursor and said.seq not in heard and said.seq != prompting]


def build(
    unseen: list[Utterance], text: str, *, where: str | None, limits: Limits, earlier: int = 0, writer: str = THE_USER
) -> Context:
    """The prompt for ``text``: framed by the last unseen messages, or the user's text alone when there are none.

    ``where``: a channel's name, None for a direct conversation. ``earlier``: unseen messages older than those given.
    ``writer``: who writes, as it stands in the frame's last line; another than the user is always named, and cannot
    forge a line either.
    """
    shown = unseen[-limits.messages :] if limits.messages > 0 else []
    lines: list[str] = []
    shortened = 0
    if shown:
        lines.append(f"[Messages in {f'#{where}' if where else 'this conversation'} you have not seen yet]")
        for said in shown:
            line, was_cut = _line(said, limits.characters)
            lines.append(line)
            shortened += was_cut
        lines.append("[End of the messages]")
    if shown or writer != THE_USER:
        lines.append(f"{writer} now writes to you (answer directly, without your name in front):")
    lines.append(text if writer == THE_USER else indent(text))
    return Context("\n".join(lines), len(unseen) + earlier, len(unseen) - len(shown) + shortened + earlier)


def _line(said: Utterance, characters: int) -> tuple[str, bool]:
    body, was_cut = cut(said.text, characters, whole=said.whole)
    for path in said.attached:
        body += f"\n[attached: {path}]" if body else f"[attached: {path}]"
    return f"{said.speaker}: {indent(body)}", was_cut


def cut(text: str, characters: int, *, whole: bool = True) -> tuple[str, bool]:
    """``text`` cut at ``characters`` code points; an open fence is closed, so that what follows is not code.

    ``whole``: whether ``text`` is all of it; else it is cut wherever it ends.
    """
    if whole and len(text) <= characters:
        return text, False
    kept = text[:characters] + CUT_MARK  # the mark may stand behind marks that would have closed a fence
    closing = closing_line(kept)
    return kept + (f"\n{closing}" if closing else ""), True


def indent(text: str) -> str:
    """Two spaces after every line end of any kind, so that no line of ``text`` can pass for one of the frame."""
    return _LINE_END.sub(lambda end: end[0] + "  ", text)
