"""Whether the transcript says what the log says, and is signed by who wrote it. Reads only; needs no bridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread
import msgspec

from sidekicks_bridge.mail.shown import body_of
from sidekicks_bridge.mail.signing import BadKey, load_key
from sidekicks_bridge.mail.transcript.page import author_of, expected_fields, file_name, is_signed, parse
from sidekicks_bridge.mail.transcript.projector import FOLDER, PREFIX, Projected, is_projected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import Store, StoredChannel

_PAGE = 500
_ABOUT = ("ROOM.md", "MEMBERS.md")


class Finding(msgspec.Struct, omit_defaults=True):
    """Something wrong with a file. ``what``: changed, unsigned, missing, moved or unknown."""

    path: str
    what: str
    text: str


class Verified(msgspec.Struct):
    """How many messages were compared, what is wrong, and how many have no file yet."""

    messages: int
    findings: list[Finding]
    waiting: int = 0


async def verify(store: Store, data_folder: Path, wanted: str | None) -> Verified | None:
    """Compare the transcript with the log: all of it, or only a folder (`a--b`, a peer's name, a room).

    None: there is nothing of that name in the transcript.
    """
    states = {key.removeprefix(PREFIX): value for key, value in (await store.values(PREFIX)).items()}
    result = Verified(0, [])
    root = data_folder / FOLDER
    found = False
    known: set[str] = set()
    for channel in await store.channels():
        state = msgspec.convert(states[channel.id], Projected) if channel.id in states else None
        if state is None:
            if is_projected(channel) and wanted is None:
                result.waiting += len([message async for message in _mail(store, channel)])
            continue
        known.add(state.folder)
        if _is_wanted(state.folder, wanted):
            found = True
            await _check(store, channel, state, _Folder(root, state.folder, data_folder), result)
    if wanted is None:
        result.findings += await anyio.to_thread.run_sync(_strangers, root, known)
    return result if found or wanted is None else None


def _is_wanted(folder: str, wanted: str | None) -> bool:
    if wanted is None:
        return True
    name = wanted.removeprefix("#").removeprefix("@").casefold()
    kind, _, last = folder.casefold().partition("/")
    return name == last or (kind == "peers" and name in last.split("--"))


class _Folder:
    """The files of a channel as they lie there."""

    def __init__(self, root: Path, folder: str, data_folder: Path) -> None:
        self.folder = folder
        self._place = root / folder
        self._data_folder = data_folder
        self._keys: dict[str, str | None] = {}

    def names(self) -> set[str]:
        """The names of the files of messages."""
        found = self._place.iterdir() if self._place.is_dir() else ()
        return {path.name for path in found if path.name not in _ABOUT}

    def read(self, name: str) -> bytes | None:
        """A file's content; None: it cannot be read."""
        try:
            return (self._place / name).read_bytes()
        except OSError:
            return None

    def key_of(self, name: str) -> str | None:
        """The key with which the bridge signs for ``name``, if it is there still."""
        if name not in self._keys:
            try:
                key = load_key(self._data_folder, name)
            except BadKey:
                key = None
            self._keys[name] = key.public if key is not None else None
        return self._keys[name]


async def _check(store: Store, channel: StoredChannel, state: Projected, folder: _Folder, result: Verified) -> None:
    names = await anyio.to_thread.run_sync(folder.names)
    missing: list[Message] = []
    async for message in _mail(store, channel):
        name = file_name(message)
        if (message.seq or 0) > state.upto and name not in names:
            result.waiting += 1
            continue
        result.messages += 1
        if name in names:
            names.discard(name)
            result.findings += await anyio.to_thread.run_sync(_compare, folder, name, message, channel)
        else:
            missing.append(message)
    result.findings += await anyio.to_thread.run_sync(_leftovers, folder, names, missing)


async def _mail(store: Store, channel: StoredChannel) -> AsyncIterator[Message]:
    """Every message of a channel that belongs into the transcript, a page in memory at a time."""
    after, more = 0, True
    while more:
        page = await store.page(channel.id, after=after, limit=_PAGE)
        for message in page.messages:
            if message.author.kind != "system":
                yield message
        more = page.has_more
        after = page.messages[-1].seq or after if page.messages else after


def _compare(folder: _Folder, name: str, message: Message, channel: StoredChannel) -> list[Finding]:
    path = f"{folder.folder}/{name}"
    page = parse(folder.read(name) or b"")
    if page is None:
        return [Finding(path, "changed", "The file is no page of a transcript any more.")]
    findings: list[Finding] = []
    expected = expected_fields(message, channel)
    if channel.kind == "named":
        expected.pop("room")  # a room may have been renamed since
    differing = [field for field, value in expected.items() if page.fields.get(field) != value]
    if differing or page.body != body_of(message):
        what = ", ".join([*differing, *(["the body"] if page.body != body_of(message) else [])])
        findings.append(Finding(path, "changed", f"It differs from the log: {what}."))
    key = expected.get("key") or folder.key_of(author_of(message))
    if not is_signed(page) or (key is not None and page.fields.get("key") != key):
        findings.append(Finding(path, "unsigned", f"The signature is not that of {author_of(message)} over this page."))
    return findings


def _leftovers(folder: _Folder, names: set[str], missing: list[Message]) -> list[Finding]:
    """Files the log does not know, and messages without a file: of the same signature, the file was moved."""
    there = {name: parse(folder.read(name) or b"") for name in sorted(names)}
    findings: list[Finding] = []
    for message in missing:
        name = file_name(message)
        same = [other for other, page in there.items() if page is not None and _is_of(page.fields, message)]
        for other in same:
            del there[other]
        what, text = ("moved", f"It lies in {same[0]} instead.") if same else ("missing", "The file is not there.")
        findings.append(Finding(f"{folder.folder}/{name}", what, text))
    return findings + [
        Finding(f"{folder.folder}/{name}", "unknown", "The log has no message for this file.") for name in there
    ]


def _is_of(fields: dict[str, str], message: Message) -> bool:
    nonce = message.mail.nonce if message.mail is not None and message.mail.nonce else message.id
    return fields.get("nonce") == nonce and fields.get("from") == author_of(message)


def _strangers(root: Path, known: set[str]) -> list[Finding]:
    """Folders that belong to no channel."""
    places = [place for kind in ("peers", "rooms") if (root / kind).is_dir() for place in (root / kind).iterdir()]
    folders = [f"{place.parent.name}/{place.name}" for place in sorted(places)]
    return [Finding(one, "unknown", "The log has no channel for this.") for one in folders if one not in known]
