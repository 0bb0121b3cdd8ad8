"""The exit codes of `sidekicks say` and of `sidekicks chat` without a terminal: a contract for scripts."""

from __future__ import annotations

OK = 0
FAILED = 1
BRIDGE_GONE = 3
NOBODY = 4
NOT_FOUND = 5
USAGE = 64
INTERRUPTED = 130

HELP = """exit codes:
  0    every agent that was asked has answered
  1    a turn failed, was refused, cancelled or interrupted, or the bridge refused the message
  3    the bridge could not be started, or it ended
  4    nobody answered: the message names no one, or someone who does not exist
  5    there is no such channel or agent
  64   wrong arguments
  130  interrupted (Ctrl-C)"""
