"""Run the benchmarks and print one JSON object a line; arguments choose files (`python -m scripts.bench chunks`)."""

from __future__ import annotations

import json
import sys
from importlib import import_module

SUBJECTS = ("start", "chunks", "several", "completion", "chat", "store")
EDITORS = ("neovim",)
"""Run only when chosen: they need an editor (`make bench-editors`)."""


def main(chosen: list[str]) -> int:
    """Run ``chosen``, or all."""
    if unknown := set(chosen) - {*SUBJECTS, *EDITORS}:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(SUBJECTS + EDITORS)}", file=sys.stderr)
        return 64
    for name in chosen or SUBJECTS:
        for line in import_module(f"scripts.bench.{name}").run():
            print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
