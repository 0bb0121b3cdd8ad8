"""Search files by a regular expression, in a process of its own: a running match cannot be interrupted.

Reads one JSON object from stdin, ``{root, pattern, paths, shown, seconds}``; writes a JSON array
``[path, line, text]`` a line for the first ``shown`` matches, at last ``{matches, files, searched}``.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import warnings

if not __package__:  # started by its path, from whatever working directory
    sys.path.insert(0, __file__.replace("\\", "/").rsplit("/", 3)[0])

from sidekicks_bridge.builtin.files import Workspace, is_searched

_WIDTH = 160  # characters shown of a line
_BEFORE = 60  # of them before the match, in a long line


def _excerpt(line: str, start: int) -> str:
    line = line.rstrip()
    if len(line) <= _WIDTH:
        return line.strip()
    begin = max(0, start - _BEFORE)
    return f"{'…' if begin else ''}{line[begin : begin + _WIDTH].strip()}…"


def main() -> None:
    """Serve the one request."""
    request = json.loads(sys.stdin.buffer.read())
    if hasattr(signal, "alarm"):
        signal.alarm(request["seconds"])  # should the agent die meanwhile, a hopeless match does not outlive it
    warnings.simplefilter("ignore")
    pattern = re.compile(request["pattern"])
    workspace = Workspace(request["root"])
    matches = files = searched = 0
    for path in request["paths"]:
        text = workspace.text(path) if is_searched(path) else None
        if text is None:
            continue
        searched += 1
        before = matches
        for number, line in enumerate(text.split("\n"), 1):
            match = pattern.search(line)
            if match is None:
                continue
            matches += 1
            if matches <= request["shown"]:
                sys.stdout.write(json.dumps([path, number, _excerpt(line, match.start())]) + "\n")
                sys.stdout.flush()
        files += matches > before
    sys.stdout.write(json.dumps({"matches": matches, "files": files, "searched": searched}) + "\n")


if __name__ == "__main__":
    main()
