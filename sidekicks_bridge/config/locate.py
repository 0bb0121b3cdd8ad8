"""Which file is the configuration, and making the user's own one when it is missing. Reads no content.

Standard library only: a relay starts from here, in milliseconds.
"""

from __future__ import annotations

import os

from sidekicks_bridge.paths import default_config_file
from sidekicks_bridge.protocol.errors import SidekicksError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Literal

    Origin = Literal["argument", "client", "environment", "workspace", "default"]

VARIABLE = "SIDEKICKS_CONFIG"
WORKSPACE_FILE = ".sidekicks.yaml"


class Location:
    """The file (absolute, links not followed), as a string and as a path, and who named it."""

    def __init__(self, place: str, origin: Origin) -> None:
        self.place = place if os.path.isabs(place) else os.path.join(os.getcwd(), place)
        self.origin = origin

    @property
    def path(self) -> Path:
        """Asked for only where milliseconds do not count: `pathlib` takes as long to import as Python to start."""
        from pathlib import Path

        return Path(self.place)


def locate(
    argument: str | None = None,
    client: str | None = None,
    trusted_workspace: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Location:
    """The configuration: ``--config``, else what the client names, else ``$SIDEKICKS_CONFIG``, else the file of a
    workspace that is explicitly trusted, else the user's.
    """
    environ = os.environ if environ is None else environ
    if argument:
        return Location(_expanded(argument), "argument")
    if client:
        return Location(_expanded(client), "client")
    if named := environ.get(VARIABLE):
        return Location(_expanded(named), "environment")
    if trusted_workspace is not None and os.path.isfile(own := os.path.join(trusted_workspace, WORKSPACE_FILE)):
        return Location(own, "workspace")
    return Location(default_config_file(), "default")


def _expanded(written: str) -> str:
    expanded = os.path.expanduser(written)
    if expanded.startswith("~"):
        raise SidekicksError("configInvalid", f"The home folder in {written!r} is not known; write it out.")
    return expanded


def ensure(location: Location) -> None:
    """See to it that the file is there: the default one is made, any other one must exist.

    Raises SidekicksError configInvalid (missing) or configUnwritable (cannot be made).
    """
    if os.path.exists(location.place):
        return
    if location.origin == "default":
        from sidekicks_bridge.config.first_run import create

        try:
            create(location.path)
        except OSError as error:
            raise SidekicksError(
                "configUnwritable",
                f"The configuration file {location.place} cannot be made: {error.strerror}. "
                "Name another one with --config.",
                {"file": location.place},
            ) from error
    else:
        named = {"argument": "by --config", "client": "by the editor", "environment": f"by ${VARIABLE}"}
        raise SidekicksError(
            "configInvalid",
            f"The configuration file {location.place}, named {named.get(location.origin, 'by the workspace')}, "
            "does not exist; correct the path, or make the file.",
            {"file": location.place},
        )
