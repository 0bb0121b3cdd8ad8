"""``sidekicks config path|check|schema|edit``: the configuration from the command line.

Owns how its problems are told, by every command.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from sidekicks_bridge.cli.exit_codes import FAILED, OK, USAGE
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.text import safe
from sidekicks_bridge.config.locate import Location, ensure
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sidekicks_bridge.config.model import Config
    from sidekicks_bridge.protocol.requests import State
    from sidekicks_bridge.protocol.types import Problem


def main(argv: Sequence[str]) -> int:
    """Run the command; 0: done and nothing wrong, 1: the configuration has errors or cannot be had, 64: usage."""
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as leaving:
        return USAGE if leaving.code else OK
    try:
        return int(arguments.run(arguments))
    except SidekicksError as error:
        print(f"sidekicks: {error.message}", file=sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sidekicks config", description="The configuration file.", allow_abbrev=False)
    verbs = parser.add_subparsers(required=True, metavar="path|check|schema|edit")

    path = verbs.add_parser("path", help="print which file is used")
    path.set_defaults(run=_path)

    check = verbs.add_parser("check", help="print every problem as file:line:column: error|warning: sentence")
    check.add_argument("file", nargs="?", metavar="FILE", help="a file to check instead of the one that is used")
    check.add_argument("--json", action="store_true", help="print the problems as one JSON array")
    check.set_defaults(run=_check)

    schema = verbs.add_parser("schema", help="print the JSON Schema of the file")
    schema.set_defaults(run=_schema)

    edit = verbs.add_parser("edit", help="open the file in $VISUAL or $EDITOR, then check it")
    edit.set_defaults(run=_edit)

    for verb in (path, check, edit):
        verb.add_argument(
            "--config", metavar="FILE", help="the configuration file (default: $SIDEKICKS_CONFIG, else the user's)"
        )
    return parser


def _path(arguments: argparse.Namespace) -> int:
    print(located(arguments.config).path)
    return OK


def _check(arguments: argparse.Namespace) -> int:
    location = located(arguments.file or arguments.config)
    if location.origin == "default" and not location.path.exists():
        print(f"{location.path} does not exist yet; it is made on the first run.", file=sys.stderr)
        return OK
    return _report(location.path, as_json=arguments.json)


def _schema(_arguments: argparse.Namespace) -> int:
    from sidekicks_bridge.config.schema import config_schema_text

    print(config_schema_text(), end="")
    return OK


def _edit(arguments: argparse.Namespace) -> int:
    location: Location = located(arguments.config)
    ensure(location)
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        ended = subprocess.run([*shlex.split(command), str(location.path)], check=False)
    except (OSError, ValueError) as error:
        print(f"sidekicks: the editor {command!r} cannot be started: {error}. Set $EDITOR.", file=sys.stderr)
        return FAILED
    if ended.returncode:
        print(f"sidekicks: the editor {command!r} ended with {ended.returncode}.", file=sys.stderr)
        return FAILED
    return _report(location.path, as_json=False)


def _report(path: Path, *, as_json: bool) -> int:
    from sidekicks_bridge.config.load import load

    parsed = load(path)
    if as_json:
        from sidekicks_bridge.protocol.base import encode

        print(encode(parsed.problems).decode())
    else:
        print("".join(f"{line(problem)}\n" for problem in parsed.problems), end="")
        if not parsed.problems:
            print(f"{path}: no problems", file=sys.stderr)
    return FAILED if parsed.errors else OK


def usable(path: Path) -> Config:
    """What the file says, however much of it is wrong. Raises SidekicksError configInvalid where it cannot be read."""
    from sidekicks_bridge.config.load import load

    parsed = load(path)
    if parsed.config is None:
        raise SidekicksError("configInvalid", f"The configuration cannot be read:\n{_mend(parsed.errors)}")
    return parsed.config


def check_usable(state: State) -> None:
    """Raises SidekicksError configInvalid where a bridge knows no agent because its configuration has errors."""
    errors = [problem for problem in state.config.problems if problem.severity == "error"]
    if errors and not state.agents:
        raise SidekicksError("configInvalid", f"The configuration cannot be used:\n{_mend(errors)}")


def _mend(problems: Sequence[Problem]) -> str:
    lines = "\n".join(safe(line(problem)) for problem in problems)
    return f"{lines}\nMend it with `sidekicks config edit`; `sidekicks config check` looks again."


def line(problem: Problem) -> str:
    """A problem as compilers print them, so that editors and terminals can jump to it."""
    return f"{problem.file}:{problem.line}:{problem.column}: {problem.severity}: {problem.message}"
