"""A message as a file of the transcript: where it lies, what stands in it, who signed it. Pure but for the signing key.

A peer's file carries the signature of its request; what agents and the user said is signed by the bridge with their
keys, which gives the same signature each time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.mail.checking import verify
from sidekicks_bridge.mail.shown import body_of
from sidekicks_bridge.mail.signing import payload

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.mail.signing import PrivateKey
    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import StoredChannel

WRITE = "write"
"""The method under which the bridge signs what agents and the user said: it is no request."""
_RULE = "---\n"


@dataclass(frozen=True)
class Page:
    """A file: the fields of its front matter, in order, and the body."""

    fields: dict[str, str] = field(default_factory=dict)
    body: str = ""

    def encode(self) -> bytes:
        """The file's content."""
        front = "".join(f"{name}: {value}\n" for name, value in self.fields.items())
        return f"{_RULE}{front}{_RULE}{self.body}\n".encode()


def parse(data: bytes) -> Page | None:
    """The page in a file; None if it is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    front, rule, body = text.removeprefix(_RULE).partition(f"\n{_RULE}")
    if not text.startswith(_RULE) or not rule or not body.endswith("\n"):
        return None
    rows = [line.partition(": ") for line in front.split("\n")]
    return Page({name: value for name, _, value in rows}, body[:-1])


def folder_of(channel: StoredChannel) -> str:
    """Where the files of a channel lie."""
    return f"peers/{'--'.join(channel.peers)}" if channel.kind == "pair" else f"rooms/{channel.name}"


def author_of(message: Message) -> str:
    """Who wrote a message, as file names and keys call them."""
    return message.author.name or message.author.kind


def file_name(message: Message) -> str:
    """The name of a message's file in its channel's folder."""
    return f"{message.seq:06d}-{author_of(message)}.md"


def page_of(message: Message, channel: StoredChannel, key_of: Callable[[str], PrivateKey]) -> Page:
    """The file of a message."""
    fields = expected_fields(message, channel)
    if "sig" not in fields:
        key = key_of(author_of(message))
        fields["key"] = key.public
        fields["sig"] = key.sign(signed_bytes(fields, body_of(message)))
    return Page(fields, body_of(message))


def expected_fields(message: Message, channel: StoredChannel) -> dict[str, str]:
    """What the front matter of a message says; key and signature only where the log holds them."""
    origin = message.mail
    fields = {"seq": str(message.seq), "from": author_of(message)}
    if channel.kind == "named":
        fields["room"] = channel.name or ""
    if origin is None or origin.signature is None:
        written = {"ts": message.created_at, "nonce": message.id, "method": WRITE, "to": message.channel_id}
        return fields | written
    given = {
        "ts": origin.time,
        "nonce": origin.nonce,
        "method": origin.method,
        "to": origin.target,
        "as": origin.signer,
        "timeout": None if origin.timeout is None else str(origin.timeout),
        "key": origin.key,
        "sig": origin.signature,
    }
    return fields | {name: value for name, value in given.items() if value is not None}


def signed_bytes(fields: dict[str, str], body: str) -> bytes:
    """What a page's signature is over: the request of which it is the trace."""
    method, to = fields.get("method", ""), fields.get("to", "")
    place = {"post": "room", WRITE: "channel"}.get(method, "peer")
    params: dict[str, Any] = {place: to, "body": body}
    if "timeout" in fields:
        params["timeout"] = int(fields["timeout"])
    name = fields.get("as", fields.get("from", ""))
    return payload(f"sidekicks/mail/{method}", params, name, fields.get("ts", ""), fields.get("nonce", ""))


def is_signed(page: Page) -> bool:
    """Whether the page's signature is that of its key over what it says."""
    try:
        data = signed_bytes(page.fields, page.body)
    except ValueError:
        return False
    return verify(page.fields.get("key", ""), data, page.fields.get("sig", ""))


def room_page(channel: StoredChannel) -> bytes:
    """ROOM.md."""
    about = f"\n{channel.description}\n" if channel.description else ""
    return f"# room {channel.name}\n\ncreated: {channel.created_at}\n{about}".encode()


def members_page(names: list[str]) -> bytes:
    """MEMBERS.md."""
    return f"count: {len(names)}\n\n{''.join(f'- {name}{chr(10)}' for name in names)}".encode()
