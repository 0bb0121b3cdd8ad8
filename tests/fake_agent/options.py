"""The static behaviour of a fake agent: command-line options and environment.

It owns the list of options and their reading; it must not act on them. Options are ``--name VALUE`` or
``--name=VALUE``; the kind of a value is that of its default below: a flag takes none, a list is separated by
commas, a map is ``METHOD=VALUE`` and may be repeated. METHOD is the last part of an ACP method (``new`` of
``session/new``). ``FAKE_AGENT_OPTIONS`` holds further options, read first. (No argparse: it costs each start
8 ms.)
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from collections.abc import Sequence


class Options:
    """All options with their defaults; `describe`\\ d in the package's docstring."""

    def __init__(self) -> None:
        self.name = "fake"
        self.title = ""
        self.version = "1.0"
        self.protocol = 1
        self.caps: list[str] = []
        self.raw_capabilities = ""
        self.unserved: list[str] = []
        self.modes: list[str] = []
        self.models: list[str] = []
        self.config_options: list[str] = []
        self.commands: list[str] = []
        self.commands_at = "after"
        self.auth: list[str] = []
        self.auth_required: list[str] = []
        self.auth_stale = False
        self.login = False
        self.sessions: list[str] = []
        self.replay = 0
        self.page_size = 0
        self.message_ids = False
        self.string_ids = False
        self.hang: list[str] = []
        self.null: list[str] = []
        self.error: dict[str, str] = {}
        self.hold: dict[str, str] = {}
        self.exit_in: dict[str, str] = {}
        self.exit = -1
        self.stderr = ""
        self.banner = False
        self.osc_prefix = False
        self.noise = False
        self.slow_start = ""
        self.ignore_eof = False
        self.ignore_term = False
        self.spawn_child = ""

    def read(self, arguments: Sequence[str]) -> Options:
        """Take over ``arguments``; `ValueError` names the one that is wrong."""
        left = list(arguments)
        while left:
            option, equals, value = left.pop(0).partition("=")
            key = option.removeprefix("--").replace("-", "_")
            if not option.startswith("--") or key not in vars(self):
                raise ValueError(f"unknown option {option!r}; see the docstring of tests.fake_agent")
            if vars(self)[key] in (True, False) and isinstance(vars(self)[key], bool):
                setattr(self, key, True)
                continue
            if not equals and not left:
                raise ValueError(f"{option} needs a value")
            self._set(key, value if equals else left.pop(0))
        return self

    def _set(self, key: str, value: str) -> None:
        held = vars(self)[key]
        if isinstance(held, int):
            setattr(self, key, int(value))
        elif isinstance(held, list):
            held.extend(part for part in value.split(",") if part)
        elif isinstance(held, dict):
            method, _, rest = value.partition("=")
            held[method] = rest
        else:
            setattr(self, key, value)


def from_environment(arguments: Sequence[str]) -> Options:
    """The options of ``FAKE_AGENT_OPTIONS``, then those of ``arguments``."""
    options = Options()
    more = os.environ.get("FAKE_AGENT_OPTIONS", "")
    if more:
        import shlex  # only here: most agents are started without

        options.read(shlex.split(more))
    return options.read(arguments)
