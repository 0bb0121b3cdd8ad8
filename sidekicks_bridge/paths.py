"""Where things lie: the user's configuration folder, a configuration's data folder. Knows places, makes nothing.

What a mail verb asks for is a string: to import `pathlib`, or OpenSSL for one digest, takes as long as starting Python.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

LOCK_NAME = "bridge.lock"


class NoHomeError(Exception):
    """Nobody says where the user's folder is: no HOME, and the user is not in the system's list."""

    def __init__(self) -> None:
        super().__init__("Your home folder is not known: set HOME, or XDG_CONFIG_HOME to an absolute path.")


def same_folder(one: str | None, other: str | None) -> bool:
    """Whether two paths lead to the same folder, by whatever links: shells say where one is, editors how one came."""
    if one is None or other is None or one == other:
        return one == other
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):  # gone, or no path at all
        return os.path.normpath(one) == os.path.normpath(other)


def user_config_folder() -> str:
    """The folder ``sidekicks`` in the user's configuration folder (``$XDG_CONFIG_HOME``, else the platform's).

    A relative one is ignored, as its specification wants: it would be another place for each folder one works in.
    """
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(base):
        return os.path.join(base, "sidekicks")
    if sys.platform == "darwin":
        return os.path.join(_home(), "Library", "Application Support", "sidekicks")
    if sys.platform == "win32":
        roaming = os.environ.get("APPDATA") or os.path.join(_home(), "AppData", "Roaming")
        return os.path.join(roaming, "sidekicks")
    return os.path.join(_home(), ".config", "sidekicks")


def _home() -> str:
    home = os.path.expanduser("~")
    if home == "~":
        raise NoHomeError
    return home


def user_config_dir() -> Path:
    """`user_config_folder` as a path."""
    return _path(user_config_folder())


def default_config_file() -> str:
    """The user's configuration file: the only one that is created when it is missing."""
    return os.path.join(user_config_folder(), "config.yaml")


def default_config_path() -> Path:
    """`default_config_file` as a path."""
    return _path(default_config_file())


def data_folder(config_path: str | os.PathLike[str]) -> str:
    """The folder that holds the history of the configuration at the absolute ``config_path`` (design: Storage).

    One file has one history, whatever links lead to it: else two bridges would own what is one.
    """
    digest = sha256(os.fsencode(os.path.realpath(config_path)))[:16]
    return os.path.join(user_config_folder(), "data", digest)


def data_dir(config_path: str | os.PathLike[str]) -> Path:
    """`data_folder` as a path."""
    return _path(data_folder(config_path))


def lock_path(folder: Path) -> Path:
    """The lock file of a data folder."""
    return folder / LOCK_NAME


def trusted_folders_path() -> Path:
    """The folders whose own configuration the command line may read."""
    return user_config_dir() / "trusted-folders.json"


def preferences_path() -> Path:
    """The preferences shared by all configurations."""
    return user_config_dir() / "preferences.json"


def _path(written: str) -> Path:
    from pathlib import Path

    return Path(written)


def sha256(data: bytes) -> str:
    """Hexadecimal; by Python's own code where it has some, as `random` does it: `hashlib` would load OpenSSL."""
    for module in ("_sha2" if sys.version_info >= (3, 12) else "_sha256", "hashlib"):
        try:
            digest: str = __import__(module).sha256(data).hexdigest()
        except (ImportError, AttributeError):
            continue
        return digest
    raise ImportError("this Python has no SHA-256")
