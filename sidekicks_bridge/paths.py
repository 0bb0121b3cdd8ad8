"""Where things lie: the user's configuration folder, a configuration's data folder. Knows places, makes nothing."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path


class NoHomeError(Exception):
    """Nobody says where the user's folder is: no HOME, and the user is not in the system's list."""

    def __init__(self) -> None:
        super().__init__("Your home folder is not known: set HOME, or XDG_CONFIG_HOME to an absolute path.")


def same_folder(one: str | None, other: str | None) -> bool:
    """Whether two paths lead to the same folder, by whatever links: shells say where one is, editors how one came."""
    if one is None or other is None or one == other:
        return one == other
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):  # gone, or no path at all
        return os.path.normpath(one) == os.path.normpath(other)


def user_config_dir() -> Path:
    """The folder ``sidekicks`` in the user's configuration folder (``$XDG_CONFIG_HOME``, else the platform's).

    A relative one is ignored, as its specification wants: it would be another place for each folder one works in.
    """
    base = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if base.is_absolute():
        return base / "sidekicks"
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "sidekicks"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", _home() / "AppData" / "Roaming")) / "sidekicks"
    return _home() / ".config" / "sidekicks"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise NoHomeError from None


def default_config_path() -> Path:
    """The user's configuration file: the only one that is created when it is missing."""
    return user_config_dir() / "config.yaml"


def data_dir(config_path: Path) -> Path:
    """The folder that holds the history of the configuration at the absolute ``config_path`` (design: Storage).

    One file has one history, whatever links lead to it: else two bridges would own what is one.
    """
    digest = hashlib.sha256(os.fsencode(os.path.realpath(config_path))).hexdigest()[:16]
    return user_config_dir() / "data" / digest


def lock_path(folder: Path) -> Path:
    """The lock file of a data folder."""
    return folder / "bridge.lock"


def trusted_folders_path() -> Path:
    """The folders whose own configuration the command line may read."""
    return user_config_dir() / "trusted-folders.json"


def preferences_path() -> Path:
    """The preferences shared by all configurations."""
    return user_config_dir() / "preferences.json"
