"""Private files and folders: made for the user alone, set aside when unreadable, never overwritten."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


def make_folder(folder: Path) -> None:
    """Make the folder and its parents where they are missing, for the user alone, whatever the umask."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=_FOLDER_MODE, exist_ok=True)
        parent.chmod(_FOLDER_MODE)


def private_folder(folder: Path) -> None:
    """Make the folder if it is missing; one that was there is closed to others (and stays read-only if it was)."""
    make_folder(folder)
    folder.chmod(folder.stat().st_mode & _FOLDER_MODE)


def cause(path: str | os.PathLike[str], problem: OSError) -> str:
    """Why ``path`` cannot be used, without a full stop; names the file that stands where a folder must be."""
    if isinstance(problem, (NotADirectoryError, FileExistsError)):
        from pathlib import Path

        place = Path(path).absolute()
        while not os.path.lexists(place):
            place = place.parent
        if not place.is_dir():
            return f"{place} is no folder: move it away"
    return problem.strerror or str(problem)


def private_file(path: Path, flags: int = 0) -> int:
    """Open the file for reading and writing, made if it is missing, closed to others; returns its descriptor.

    ``flags``: further ones for `os.open`.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, _FILE_MODE)
        path.chmod(_FILE_MODE)
    except FileExistsError:
        descriptor = os.open(path, os.O_RDWR | flags)
        path.chmod(path.stat().st_mode & _FILE_MODE)
    return descriptor


def write_whole(path: Path, data: bytes) -> None:
    """Replace the file's content in one step: after a kill it holds the old or the new content, whole and on disk."""
    _written_beside(path, data).replace(path)


def write_new(path: Path, data: bytes) -> None:
    """Make the file in one step: after a kill it is there whole or not at all. Raises FileExistsError."""
    temporary = _written_beside(path, data)
    try:
        os.link(temporary, path)
    finally:
        temporary.unlink()


def _written_beside(path: Path, data: bytes) -> Path:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    descriptor = private_file(temporary)
    with os.fdopen(descriptor, "wb") as file:
        file.truncate()
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return temporary


def set_aside(path: Path, *suffixes: str) -> Path:
    """Rename a file that cannot be read to a new name beside it (``path`` + each suffix likewise); returns the name."""
    from datetime import UTC, datetime

    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.name}.unreadable-{stamp}")
    for suffix in suffixes:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.rename(aside.with_name(aside.name + suffix))
    path.rename(aside)
    return aside
