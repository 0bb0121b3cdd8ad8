"""What the file says (`written`) → what the bridge uses (`model`): paths made absolute, variables filled in, units.

Reads nothing but its arguments and the user's home folder. Faults are reported, never raised.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sidekicks_bridge.config.amounts import seconds, size
from sidekicks_bridge.config.model import AgentSpec, ChannelSpec, Limits
from sidekicks_bridge.config.yamltext import Fault, KeyPath
from sidekicks_bridge.names import fold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sidekicks_bridge.config.written import AgentEntry, ChannelEntry, LimitsEntry

DURATIONS = frozenset({"idle_stop", "start_timeout", "cancel_timeout", "turn_silence", "keep_prompts"})
POSITIVE = frozenset({"start_timeout", "cancel_timeout"})

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def agent_spec(
    entry: AgentEntry, path: KeyPath, folder: Path, environ: Mapping[str, str]
) -> tuple[AgentSpec, list[Fault]]:
    """The agent of an entry at ``path`` of a file in ``folder`` (absolute)."""
    faults: list[Fault] = []
    command, workspace = entry.command, entry.workspace
    if command is not None and (command.startswith("~") or _has_separator(command)):
        command = _absolute(command, folder, (*path, "command"), faults)
    if workspace is not None:
        workspace = _absolute(workspace, folder, (*path, "workspace"), faults)
    spec = AgentSpec(
        name=entry.name,
        title=entry.title or entry.name,
        icon=entry.icon,
        description=entry.description,
        command=command,
        args=entry.args,
        env=_environment(entry, path, environ, faults),
        workspace=workspace,
        mcp_servers=entry.mcp_servers,
        builtin=entry.builtin,
    )
    return spec, faults


def _has_separator(command: str) -> bool:
    return len(Path(command).parts) > 1 or command.startswith((".", "/"))


def _absolute(written: str, folder: Path, path: KeyPath, faults: list[Fault]) -> str:
    try:
        return os.path.normpath(folder / Path(written).expanduser())
    except RuntimeError:  # no such user, or a user without a home
        faults.append(Fault(path, f"The home folder in '{written}' is not known; write the path out."))
        return written


def _environment(entry: AgentEntry, path: KeyPath, environ: Mapping[str, str], faults: list[Fault]) -> dict[str, str]:
    """The agent's ``env``. A value that names a variable that is not set is left out, so that the agent itself says
    what it misses instead of being given an empty text."""
    result = {}
    for name, value in entry.env.items():
        missing = [word for word in _VARIABLE.findall(value) if word not in environ]
        if missing:
            message = f"{missing[0]} is not set in the environment, so {name} of agent {entry.name} is left out."
            faults.append(Fault((*path, "env", name), message, "warning"))
            continue
        result[name] = _VARIABLE.sub(lambda match: environ[match[1]], value)
    return result


def channel_spec(entry: ChannelEntry, agents: Mapping[str, str] | None) -> ChannelSpec:
    """The channel of an entry. ``agents``: the file's agents by folded name; other members are left out. None: no
    one knows who they are, so all members stay."""
    known = {fold(member): member for member in entry.members} if agents is None else agents
    members = dict.fromkeys(known[fold(member)] for member in entry.members if fold(member) in known)
    return ChannelSpec(name=entry.name, description=entry.description, members=list(members))


def limits(entry: LimitsEntry) -> tuple[Limits, list[Fault]]:
    """The limits in seconds and bytes; one that is out of bounds keeps its default, and is reported."""
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    for field, key in zip(entry.__struct_fields__, entry.__struct_encode_fields__, strict=True):
        written = getattr(entry, field)
        try:
            values[field] = _limit(field, written)
        except ValueError as wanted:
            faults.append(Fault(("limits", key), f'"limits.{key}" must be {wanted}, not {written}.'))
    return msgspec.convert(values, Limits), faults


def _limit(field: str, written: Any) -> float:
    if field == "message_bytes":
        return size(written)
    if field not in DURATIONS:
        return int(written)
    duration = seconds(written)
    if field in POSITIVE and not duration:
        raise ValueError("more than 0")
    return duration
