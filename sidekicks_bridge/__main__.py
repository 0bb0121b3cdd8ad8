"""The command `sidekicks`: the first word names an entry point, and only that one is imported.

Owns the table of words. It must stay free to import: the hot verbs start in milliseconds.
"""

from __future__ import annotations

import errno
import os
import sys

if not __package__:  # started by its path (see `cli.spawn`): make the package importable wherever it lies
    sys.path.insert(0, __file__.replace("\\", "/").rsplit("/", 2)[0])

from sidekicks_bridge.paths import NoHomeError

_USAGE_ERROR = 64
_FAILED = 1
_INTERRUPTED = 130
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)

_COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("sidekicks_bridge.cli.chat", "talk in a channel: sidekicks chat '#general'"),
    "say": ("sidekicks_bridge.cli.say", "one message, its answers: sidekicks say '#general' '@scout hello'"),
    "channels": ("sidekicks_bridge.cli.mail:channels", "list the channels; --as NAME: that peer's, with what waits"),
    "log": ("sidekicks_bridge.cli.history:log", "print what was said: sidekicks log '#general'"),
    "search": ("sidekicks_bridge.cli.history:search", "find messages: sidekicks search word"),
    "export": ("sidekicks_bridge.cli.history:export", "write a channel's whole history as Markdown or JSON"),
    "agents": ("sidekicks_bridge.cli.agents", "list agents and peers; `agents available`: what else could be one"),
    "sessions": ("sidekicks_bridge.cli.sessions", "the sessions an agent remembers: sidekicks sessions @codex"),
    "doctor": ("sidekicks_bridge.cli.doctor", "try everything out, and say what to do where it is not well"),
    "status": ("sidekicks_bridge.cli.owner_verbs:status", "the running bridge: who uses it, what runs and what waits"),
    "stop": ("sidekicks_bridge.cli.owner_verbs:stop", "end the running bridge"),
    "config": ("sidekicks_bridge.cli.config", "the configuration: path, check, schema, edit"),
    "data": ("sidekicks_bridge.cli.data", "the histories here; `data adopt` after a configuration moved"),
    "trust": ("sidekicks_bridge.cli.here", "read this folder's own configuration from now on"),
    "hub": ("sidekicks_bridge.cli.hub", "a bridge that outlives windows (started on demand)"),
    "verify": ("sidekicks_bridge.cli.transcript:verify", "prove who wrote what: the transcript against the log"),
    "transcript": ("sidekicks_bridge.cli.transcript:transcript", "the git repository of mail: path, purge"),
    "protocol": ("sidekicks_bridge.cli.mail:protocol", "how agents and scripts write to each other: read this first"),
    "serve": ("sidekicks_bridge.cli.serve", "the bridge itself, on stdin and stdout (editors start this)"),
}

_MAIL = {
    "tell": 'write to a peer or agent: sidekicks tell bob "hello"',
    "ask": "write, and wait for the answer",
    "read": "the next message of a peer, or all of a room",
    "read-any": "the next message of anybody",
    "peek": "what waits, left where it is",
    "post": 'write to a room: sidekicks post dev "hello"',
    "room": "make a room: sidekicks room create dev",
    "join": "become a member of a room",
    "leave": "leave a room",
    "rooms": "all rooms",
    "participants": "who is in a room, and what waits for each",
    "history": "what was written, by a peer or in a room",
    "register": "take a name: sidekicks register ann",
    "unregister": "give the name up",
    "renew": "keep the name for another hour",
}
_OLD = ("send", "await", "await-any", "session", "room_create", "tunnel", "close")
"""Names that mail verbs had elsewhere; they say what they are called here."""


def main(argv: list[str] | None = None) -> int:
    """Run the command that ``argv`` (without the program's name) names; answers its exit code."""
    _open_streams()
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read what we print has seen enough
        return _unprinted()
    except OSError as problem:
        if problem.filename is not None or problem.errno not in _UNWRITABLE:  # not of writing to a stream: a bug
            raise
        sys.stderr.write(f"sidekicks: what is printed here cannot be written: {problem.strerror}\n")
        return _unprinted()
    except KeyboardInterrupt:  # before a command listens for it: while it is still being imported, say
        return _INTERRUPTED
    except NoHomeError as problem:
        sys.stderr.write(f"sidekicks: {problem}\n")
        return _FAILED
    return code


def _unprinted() -> int:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that nothing complains at the end
    return _FAILED


def _open_streams() -> None:
    """A standard stream that was closed becomes the null device: else the next file we open would take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)  # the lowest free descriptor: the one that is missing
            os.set_inheritable(nothing, True)
            setattr(sys, name, os.fdopen(nothing, mode, encoding="utf-8", errors="replace"))


def _run(argv: list[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    word = words[0] if words else "help"
    if word in ("help", "-h", "--help"):
        sys.stdout.write(_usage())
        return 0
    if word in ("version", "-V", "--version"):
        from sidekicks_bridge import __version__

        sys.stdout.write(f"sidekicks {__version__}\n")
        return 0
    if word in _MAIL or word in _OLD:
        from sidekicks_bridge.cli.mail import main as mail

        return mail(words)
    if word == "mcp":  # not in the list: the bridge starts it for its agents
        from sidekicks_bridge.cli.mcp import main as mcp

        return mcp(words[1:])
    if word not in _COMMANDS:
        sys.stderr.write(_unknown(word))
        return _USAGE_ERROR
    from importlib import import_module

    module, _, function = _COMMANDS[word][0].partition(":")
    code: object = getattr(import_module(module), function or "main")(words[1:])
    return code if isinstance(code, int) else 0


def _usage() -> str:
    rows = "\n".join(f"  {word:<11}{text}" for word, (_, text) in _COMMANDS.items())
    mail = "\n".join(f"  {word:<14}{text}" for word, text in _MAIL.items())
    return (
        "Sidekicks Bridge: a group chat for coding agents.\n\n"
        f"usage: sidekicks <command> [arguments]\n\n{rows}\n"
        "  version    print the version\n"
        "  help       print this; `sidekicks <command> --help` says more\n"
        f"\nmail, between agents, scripts and people:\n{mail}\n"
    )


def _unknown(word: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, [*_COMMANDS, *_MAIL, "version", "help"], n=1)
    hint = f" Did you mean `sidekicks {close[0]}`?" if close else ""
    return f"sidekicks: there is no command {word!r}.{hint} `sidekicks help` lists them.\n"


if __name__ == "__main__":
    sys.exit(main())
