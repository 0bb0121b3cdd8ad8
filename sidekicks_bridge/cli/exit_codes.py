"""The exit codes of the command line, and how its help tells them: a contract for scripts."""

from __future__ import annotations

OK = 0
FAILED = 1
BRIDGE_GONE = 3
NOBODY = 4
NOT_FOUND = 5
USAGE = 64
INTERRUPTED = 130

QUOTE = "Quote '#general': the shell takes an unquoted # for the beginning of a comment."
"""What to say where a channel is missing."""

HELP = """exit codes:
  0    every agent that was asked has answered
  1    a turn failed, was refused, cancelled or interrupted, the bridge refused the message, or no agent can be used
  3    the bridge could not be started, or it ended
  4    nobody answered: the message names no one, or someone who does not exist
  5    there is no such channel or agent
  64   wrong arguments
  130  interrupted (Ctrl-C)"""
"""Of `say`, and of `chat` without a terminal."""

HISTORY_HELP = """exit codes:
  0    done
  1    the history cannot be read, the file cannot be written, or (search) nothing was found
  5    there is no such channel or agent
  64   wrong arguments
  130  interrupted (Ctrl-C)"""
"""Of `channels`, `log`, `search` and `export`."""

OWNER_HELP = """exit codes:
  0    done, also when no bridge runs
  1    the bridge does not answer or does not end, or there is no such configuration
  64   wrong arguments"""
"""Of `status` and `stop`."""
