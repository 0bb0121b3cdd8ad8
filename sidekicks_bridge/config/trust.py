"""Which folders the user trusts on the command line: only of those is the own configuration read, as it can start
any program. Editors have a trust of their own and say it in the handshake (design: Handshake).

Standard library only: it is asked on the way of every command.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from sidekicks_bridge.paths import trusted_folders_path
from sidekicks_bridge.private_files import make_folder, write_whole

if TYPE_CHECKING:
    from pathlib import Path


def trusted_folders() -> list[str]:
    """The folders, absolute, links followed. A file that cannot be read trusts nothing."""
    try:
        folders = json.loads(trusted_folders_path().read_bytes())
    except (OSError, ValueError):
        return []
    return [folder for folder in folders if isinstance(folder, str)] if isinstance(folders, list) else []


def is_trusted(folder: Path) -> bool:
    """Whether this very folder was trusted; its parents' trust does not reach it."""
    return os.path.realpath(folder) in trusted_folders()


def set_trust(folder: Path, *, trusted: bool) -> None:
    """Trust a folder, or trust it no longer. Raises OSError when that cannot be kept."""
    real = os.path.realpath(folder)
    folders = [known for known in trusted_folders() if known != real] + ([real] if trusted else [])
    path = trusted_folders_path()
    make_folder(path.parent)
    write_whole(path, json.dumps(folders, indent=2).encode("utf-8", "surrogatepass"))
