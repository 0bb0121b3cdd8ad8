"""How this very installation is run once more, as another process."""

from __future__ import annotations

import sys

import sidekicks_bridge


def own_program(*words: str) -> list[str]:
    """The command line of `sidekicks` with ``words``.

    By the path of its main file, so that it is found from every folder without a ``PYTHONPATH`` that agents would
    inherit; and with ``-P``, since it may begin in a user's folder, where a ``json.py`` must not be imported instead of
    Python's own.
    """
    return [sys.executable, "-P", sidekicks_bridge.__file__.replace("__init__", "__main__"), *words]
