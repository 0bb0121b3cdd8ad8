"""Sidekicks Bridge: a group chat for coding agents, inside the editor.

Importing this package must stay free: the command line's hot verbs and the relay start in milliseconds,
so nothing is imported here. The parts are described in ``docs/architecture.md``.
"""

__version__ = "0.1.0"
