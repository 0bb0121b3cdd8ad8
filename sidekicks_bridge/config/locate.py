"""Which file is the configuration, and making the user's own one when it is missing. Reads no content.

Standard library only: a relay starts from here, in milliseconds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from sidekicks_bridge.paths import default_config_path
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "SIDEKICKS_CONFIG"
WORKSPACE_FILE = ".sidekicks.yaml"


class Location(NamedTuple):
    """The file (absolute, links not followed) and who named it."""

    path: Path
    origin: Literal["argument", "client", "environment", "workspace", "default"]


def locate(
    argument: str | None = None,
    client: str | None = None,
    trusted_workspace: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Location:
    """The configuration: ``--config``, else what the client names, else ``$SIDEKICKS_CONFIG``, else the file of a
    workspace that is explicitly trusted, else the user's.
    """
    environ = os.environ if environ is None else environ
    if argument:
        return Location(_absolute(argument), "argument")
    if client:
        return Location(_absolute(client), "client")
    if named := environ.get(VARIABLE):
        return Location(_absolute(named), "environment")
    if trusted_workspace is not None and (own := trusted_workspace.absolute() / WORKSPACE_FILE).is_file():
        return Location(own, "workspace")
    return Location(default_config_path().absolute(), "default")


def _absolute(written: str) -> Path:
    try:
        return Path(written).expanduser().absolute()
    except RuntimeError:
        raise SidekicksError("configInvalid", f"The home folder in {written!r} is not known; write it out.") from None


def ensure(location: Location) -> None:
    """See to it that the file is there: the default one is made, any other one must exist.

    Raises SidekicksError configInvalid (missing) or configUnwritable (cannot be made).
    """
    if _exists(location.path):
        return
    if location.origin == "default":
        from sidekicks_bridge.config.first_run import create

        try:
            create(location.path)
        except OSError as error:
            raise SidekicksError(
                "configUnwritable",
                f"The configuration file {location.path} cannot be made: {error.strerror}. "
                "Name another one with --config.",
                {"file": str(location.path)},
            ) from error
    else:
        named = {"argument": "by --config", "client": "by the editor", "environment": f"by ${VARIABLE}"}
        raise SidekicksError(
            "configInvalid",
            f"The configuration file {location.path}, named {named.get(location.origin, 'by the workspace')}, "
            "does not exist; correct the path, or make the file.",
            {"file": str(location.path)},
        )


def _exists(path: Path) -> bool:
    """Whether there is such a file; a path that no file can have (too long, say) has none."""
    try:
        return path.exists()
    except OSError:
        return False
