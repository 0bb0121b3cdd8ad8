"""What the mail verbs print: results as text, and the help that people and agents read. Knows no socket."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    JSON = dict[str, Any]

PROTOCOL = """How to write to others with `sidekicks` (for a person, a script or an agent)

First, once: sidekicks register NAME          (letters, digits, . _ -; the name is yours for an hour after each use)
Then say who you are: --as NAME, or set SIDEKICKS_NAME=NAME.

  I want to …                                  command
  see who can be written to                    sidekicks agents
  tell bob something, not waiting              sidekicks tell bob "message"
  ask bob and wait for the answer              sidekicks ask bob "question" --timeout 300
  read bob's next message (waits)              sidekicks read bob --timeout 300
  read what is there, not waiting              sidekicks read bob --timeout 0
  read the next message of anybody             sidekicks read-any
  look without consuming                       sidekicks peek bob
  see what was written before                  sidekicks history bob --limit 20
  see my channels and what waits               sidekicks channels --as NAME
  see the rooms                                sidekicks rooms
  make, join, leave a room                     sidekicks room create dev | join dev | leave dev
  write to everybody in a room                 sidekicks post dev "message"
  wake an agent in a room                      sidekicks post dev "@alice message"
  read everything new in a room                sidekicks read '#dev'   (quotes: # begins a comment in a shell)
  see who is in a room                         sidekicks participants dev
  stay registered, or end it                   sidekicks renew | sidekicks unregister

A message is an argument, or `-` (standard input), or --file FILE. After `--` nothing is an option.
`tell` and `ask` give an agent a turn; its answer is a message from it. --json prints results and errors as JSON.

exit codes: 0 ok · 1 error · 2 timeout · 3 closed while waiting · 4 reserved · 5 not found · 6 unauthorised · 64 usage
"""


def lines_of(letters: list[JSON]) -> list[str]:
    """`[seq ts from] body` for each; further lines of a body are indented, so that none can pass for another's."""
    return [f"[{one['seq']} {one['at']} {one['author']}] " + one["body"].replace("\n", "\n  ") for one in letters]


def _dropped(result: JSON) -> list[str]:
    count = result.get("dropped", 0)
    return [f"[notice] you are behind, {count} dropped"] if count else []


def told(result: JSON) -> list[str]:
    """A tell."""
    return [f"seq={result['seq']} peer={result['peer']}"]


def posted(result: JSON) -> list[str]:
    """A post."""
    return [f"room={result['room']} seq={result['seq']}"]


def answered(result: JSON) -> list[str]:
    """An ask: what was unread, as lines, then the answer."""
    answer = result.get("message")
    return [*older(result), *([answer["body"]] if answer else [])]


def older(result: JSON) -> list[str]:
    """What was unread before the answer to an ask."""
    return lines_of(result.get("older", []))


def bodies(result: JSON) -> list[str]:
    """A read of a peer: the body alone."""
    return [one["body"] for one in result["messages"]]


def listed(result: JSON) -> list[str]:
    """A read of a room, a peek, a history."""
    return [*_dropped(result), *lines_of(result["messages"])]


def any_letter(result: JSON) -> list[str]:
    """A read-any: where it was, then the body."""
    if "message" not in result:
        return []
    where = f"peer={result['peer']}" if "peer" in result else f"room={result['room']}"
    return [where, *_dropped(result), result["message"]["body"]]


def room(result: JSON) -> list[str]:
    """A room that was made or joined."""
    return [f"room={result['name']} members={','.join(result['members'])}"]


def rooms(result: JSON) -> list[str]:
    """All rooms."""
    return [
        f"{one['name']}\tmembers={','.join(one['members'])}\t{one.get('description', '')}".rstrip()
        for one in result["rooms"]
    ]


def participants(result: JSON) -> list[str]:
    """The members of a room."""
    return [
        f"{one['name']}\tpending={one.get('pending', 0)}\tdropped={one.get('dropped', 0)}" for one in result["members"]
    ]


def agents(result: JSON) -> list[str]:
    """Who can be written to."""
    return [
        f"{one['name']}\t{one['kind']}\t{one.get('expiresAt') or one.get('description', '')}".rstrip()
        for one in result["participants"]
    ]


def channels(result: JSON) -> list[str]:
    """The caller's channels."""
    return [
        f"{'peer' if 'peer' in one else 'room'}={one.get('peer') or one.get('room')}"
        f"\tpending={one.get('pending', 0)}\tdropped={one.get('dropped', 0)}"
        for one in result["channels"]
    ]


def lease(result: JSON) -> list[str]:
    """A registration."""
    return [f"name={result['name']} until={result['expiresAt']}"]


def nothing(_result: JSON) -> list[str]:
    """A verb that is silent when it worked."""
    return []
