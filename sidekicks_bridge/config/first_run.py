"""The user's own configuration file as it is on the first run. Never touches a file that exists."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final

from sidekicks_bridge.config.known import KNOWN_AGENTS, KnownAgent, found_agents
from sidekicks_bridge.config.schema import SCHEMA_FILE, config_schema_text
from sidekicks_bridge.private_files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

_TEXT: Final = f"""\
# yaml-language-server: $schema=./{SCHEMA_FILE}
#
# The configuration of Sidekicks Bridge. Changes are read as soon as the file is saved; agents that run are left
# alone. Check it with `sidekicks config check`. Durations: 30s, 10m, 2h, 30d.

# The agents you can talk to: @name in a channel. Two are built in; they need no network and no model.
agents:
  - name: scout
    title: Scout
    icon: "🔭"
    description: Finds things in the workspace
    builtin: scout
  - name: scribe
    title: Scribe
    icon: "📝"
    description: Keeps notes of what was said
    builtin: scribe

@AGENTS@
# Channels made at start if none has the name. Taking one out here deletes nothing.
channels:
  - name: general
    description: Everyone
    members: [scout, scribe]

# What is written here is what holds without it.
limits:
  # maxRunningAgents: 2      # the built-in ones do not count
  # idleStop: 10m            # an agent idle for so long is stopped; 0: never
  # startTimeout: 60s
  # cancelTimeout: 10s
  # contextMessages: 20      # how many unseen messages an agent is shown at most …
  # contextCharacters: 1500  # … and how much of each
  # messageBytes: 1MiB       # the largest message
  # turnSilence: 10m         # an agent silent for so long: you are asked whether to wait
  # keepPrompts: 30d         # how long the exact prompts of answers are kept
  # maxHops: 3               # how far agents may pass a message on

permissions:
  # default: ask             # ask | reject: what happens when an agent asks for permission

messaging:
  # agents: ask              # off | ask | on: whether agents may write to agents

ui:
  # keepRunning: false       # the bridge outlives the editor's window
"""

_NPX_SHOWN: Final = 5
_ADVICE: Final = """\
  # Any agent that speaks the Agent Client Protocol (ACP). The command is found on PATH and is never split:
  # arguments go into `args`. Remove the `#` and adapt.
  # - name: reviewer
  #   title: Reviewer
  #   command: some-agent
  #   args: [--acp]
  #   env:
  #     SOME_API_KEY: "${SOME_API_KEY}"  # added to the environment; taken from it here
  #   workspace: ~/src/project           # always works there; without it, in the channel's folder
"""


def first_text(found: list[KnownAgent], *, npx: bool) -> str:
    """The file: the agents ``found`` on PATH as they are started, others that ``npx`` can fetch as comments."""
    blocks = []
    if found:
        blocks.append("  # Found on this computer.\n" + "\n".join(_entry(known) for known in found))
    others = [known for known in KNOWN_AGENTS if known.package is not None and known not in found]
    if npx and others:
        told = "  # npx would fetch these when they are first asked. `sidekicks agents available` lists more.\n"
        blocks.append(told + "\n".join(_commented(npx_entry(known)) for known in others[:_NPX_SHOWN]))
    return _TEXT.replace("@AGENTS@", "\n".join([*blocks, _ADVICE]))


def _entry(known: KnownAgent) -> str:
    return entry_text(known, known.command, known.args)


def npx_entry(known: KnownAgent) -> str:
    """The entry of an agent that npx fetches."""
    return entry_text(known, "npx", ("--yes", known.package or "", *known.args))


def entry_text(known: KnownAgent, command: str, args: tuple[str, ...]) -> str:
    """One agent of the list `agents:`, as YAML."""
    lines = [
        f"  - name: {known.name}",
        f"    title: {known.title}",
        f'    icon: "{known.icon}"',
        f"    description: {known.description}",
        f"    command: {command}",
    ]
    if args:
        shown = ", ".join(f'"{word}"' if word.startswith("@") else word for word in args)
        lines.append(f"    args: [{shown}]")
    return "\n".join(lines) + "\n"


def _commented(text: str) -> str:
    return "".join(f"  # {line[2:]}\n" for line in text.splitlines())


def create(path: Path) -> bool:
    """Make the file (0600, its folder 0700) if there is none, and refresh the schema beside it; whether it was made.

    Raises OSError if it is missing and cannot be made. A schema that cannot be written only costs the editor's help.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = _write_new(path)
    refresh_schema(path)
    return made


def _write_new(path: Path) -> bool:
    if path.exists():
        return False
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another bridge was quicker, or a link that leads nowhere: the user's, not ours
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(first_text(found_agents(), npx=shutil.which("npx") is not None))
    return True


def refresh_schema(path: Path) -> None:
    """Give the user's file ``path`` this version's schema beside it, by which editors complete. Never raises."""
    schema = path.parent / SCHEMA_FILE
    text = config_schema_text()
    try:
        if not schema.exists() or schema.read_text(encoding="utf-8") != text:
            write_whole(schema, text.encode())
    except (OSError, UnicodeDecodeError):
        pass  # the editor's help is a convenience
