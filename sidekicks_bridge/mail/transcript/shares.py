"""One commit's work, in a worker thread: files written, folders moved and removed, everything committed at once."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sidekicks_bridge.mail.signing import make_key
from sidekicks_bridge.mail.transcript.page import file_name, members_page, page_of, room_page

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.mail.signing import PrivateKey
    from sidekicks_bridge.mail.transcript.git import Repository
    from sidekicks_bridge.protocol.types import Message
    from sidekicks_bridge.store.contract import StoredChannel


@dataclass(frozen=True)
class Share:
    """What of one channel goes into a commit. Without ``channel`` it was deleted: its folder goes.

    ``folder``: where it is now; ``former``: where it was. ``members``: of a room.
    """

    folder: str
    channel: StoredChannel | None = None
    former: str | None = None
    messages: list[Message] = field(default_factory=list)
    members: list[str] = field(default_factory=list)

    @property
    def said(self) -> list[Message]:
        """The messages that get a file: the system's do not."""
        return [message for message in self.messages if message.author.kind != "system"]


class Keys:
    """The keys the bridge signs with, from the data folder; made when missing. Raises BadKey, OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._keys: dict[str, PrivateKey] = {}

    def of(self, name: str) -> PrivateKey:
        """The key of a participant."""
        if name not in self._keys:
            self._keys[name] = make_key(self._folder, name)
        return self._keys[name]


def commit(repository: Repository, shares: list[Share], keys: Keys) -> None:
    """Bring the files up to date and commit them. Raises GitFailed, BadKey, OSError."""
    paths: list[str] = []
    for share in sorted(shares, key=lambda one: one.channel is not None):  # what goes makes room for what comes
        paths += _remove(repository, share) if share.channel is None else _write(repository, share, share.channel, keys)
    if paths:
        repository.commit(paths, _summary(shares))


def _remove(repository: Repository, share: Share) -> list[str]:
    shutil.rmtree(repository.folder / share.folder, ignore_errors=True)
    return [share.folder] if repository.known(share.folder) else []


def _write(repository: Repository, share: Share, channel: StoredChannel, keys: Keys) -> list[str]:
    folder = repository.folder / share.folder
    paths: list[str] = []
    if share.former is not None and (repository.folder / share.former).is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        (repository.folder / share.former).rename(folder)
        paths += [share.folder, *([share.former] if repository.known(share.former) else [])]
    files = {file_name(message): page_of(message, channel, keys.of).encode() for message in share.said}
    if channel.kind == "named":
        files |= {"ROOM.md": room_page(channel), "MEMBERS.md": members_page(share.members)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return paths + [f"{share.folder}/{name}" for name in files]


def _summary(shares: list[Share]) -> str:
    """A commit's message: how much of what."""
    count = sum(len(share.said) for share in shares)
    folders = sorted(share.folder for share in shares if share.channel is not None)
    gone = sorted(share.folder for share in shares if share.channel is None)
    told = f"{count} message{'' if count == 1 else 's'} in {', '.join(folders[:3])}{' …' if folders[3:] else ''}"
    return " · ".join([*([told] if folders else []), *(f"{folder} was deleted" for folder in gone)])
