"""The user's own configuration file as it is on the first run. Never touches a file that exists."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from sidekicks_bridge.config.schema import SCHEMA_FILE, config_schema_text

if TYPE_CHECKING:
    from pathlib import Path

FIRST_TEXT: Final = f"""\
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

  # Any agent that speaks the Agent Client Protocol (ACP). The command is found on PATH and is never split:
  # arguments go into `args`. Remove the `#` and adapt.
  # - name: claude
  #   title: Claude
  #   icon: "🦊"
  #   description: Reviews code
  #   command: claude-agent-acp
  # - name: codex
  #   title: Codex
  #   command: codex-acp
  # - name: gemini
  #   title: Gemini
  #   command: gemini
  #   args: [--experimental-acp]
  #   env:
  #     GEMINI_API_KEY: "${{GEMINI_API_KEY}}"  # added to the environment; taken from it here
  #   workspace: ~/src/project              # always works there; without it, in the channel's folder

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
        stream.write(FIRST_TEXT)
    return True


def refresh_schema(path: Path) -> None:
    """Give the user's file ``path`` this version's schema beside it, by which editors complete. Never raises."""
    schema = path.parent / SCHEMA_FILE
    text = config_schema_text()
    try:
        if not schema.exists() or schema.read_text(encoding="utf-8") != text:
            schema.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, UnicodeDecodeError):
        pass  # the editor's help is a convenience
