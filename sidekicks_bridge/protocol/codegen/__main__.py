"""``python -m sidekicks_bridge.protocol.codegen [--check]``: write the generated files, or say which are stale.

The configuration's schema is written here too, so that one command writes everything; its room is above this one, so it
is imported only for that (the one exception in the contract of the layers).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.protocol.codegen.lua import lua
from sidekicks_bridge.protocol.codegen.markdown import markdown
from sidekicks_bridge.protocol.codegen.schema import protocol_schema
from sidekicks_bridge.protocol.codegen.typescript import typescript

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]
COMMAND = "python -m sidekicks_bridge.protocol.codegen"


def outputs() -> dict[str, Callable[[], str]]:
    """Path (from the project's root, with `/`) of every generated file → what renders it."""
    from sidekicks_bridge.config.schema import config_schema_text

    schema = protocol_schema()
    return {
        "schema/config.schema.json": config_schema_text,
        "schema/protocol.schema.json": lambda: as_json(schema),
        "docs/reference/protocol.md": lambda: markdown(schema),
        "clients/vscode/src/protocol.gen.ts": lambda: typescript(schema),
        "clients/neovim/lua/sidekicks/protocol.lua": lambda: lua(schema),
    }


def as_json(value: object) -> str:
    """JSON as the schema files hold it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def stale(root: Path) -> list[str]:
    """The generated files under ``root`` that are missing or differ from what would be written."""
    found = {path: root / path for path in outputs()}
    return [
        path
        for path, render in outputs().items()
        if not found[path].is_file() or found[path].read_text(encoding="utf-8") != render()
    ]


def write(root: Path) -> None:
    """Write every generated file under ``root``."""
    for path, render in outputs().items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(), encoding="utf-8", newline="\n")


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 1 when ``--check`` found a stale file."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Write what is generated from the protocol.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is stale")
    if not parser.parse_args(arguments).check:
        write(ROOT)
        return 0
    files = stale(ROOT)
    for path in files:
        sys.stderr.write(f"{path} is stale: run `{COMMAND}` and commit the result.\n")
    return 1 if files else 0


if __name__ == "__main__":
    raise SystemExit(main())
