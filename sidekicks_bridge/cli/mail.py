"""The mail verbs: words in, one signed request, lines out, an exit code. A contract for scripts and agents.

Importing this and running a verb costs milliseconds: standard library, and the key's library when something is signed.
"""

from __future__ import annotations

import os
import sys

from sidekicks_bridge import paths
from sidekicks_bridge.cli import mail_text as text
from sidekicks_bridge.cli.here import located
from sidekicks_bridge.cli.mail_socket import Gone, Refused, ask_owner, signed
from sidekicks_bridge.cli.mail_words import Usage, Words, parse
from sidekicks_bridge.cli.reach import BridgeGone
from sidekicks_bridge.config.locate import ensure
from sidekicks_bridge.names import name_problem
from sidekicks_bridge.protocol.errors import SidekicksError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sidekicks_bridge.mail.signing import PrivateKey

    JSON = dict[str, Any]

NAME_VARIABLE = "SIDEKICKS_NAME"
WAIT_SECONDS = 300.0
OK, FAILED, TIMEOUT, CLOSED, NOT_FOUND, UNAUTHORIZED, USAGE = 0, 1, 2, 3, 5, 6, 64
_CODES = {
    "timeout": TIMEOUT,
    "closed": CLOSED,
    "shuttingDown": CLOSED,
    "peerNotFound": NOT_FOUND,
    "channelNotFound": NOT_FOUND,
    "unauthorized": UNAUTHORIZED,
}
_RENAMED = {
    "send": "tell",
    "await": "read",
    "await-any": "read-any",
    "session": "channels",
    "room_create": "room create",
}


class Verb:
    """A verb: its words for people, options, how its parameters come about, and how its result is printed."""

    def __init__(
        self,
        usage: str,
        method: str,
        options: tuple[str, ...],
        params: Callable[[Words], JSON],
        show: Callable[[JSON], list[str]],
    ) -> None:
        self.usage = usage
        self.method = method
        self.options = options
        self.params = params
        self.show = show


# ── parameters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _one(words: Words, what: str) -> str:
    if len(words.rest) != 1:
        hint = " A room is written in quotes, '#name': the shell takes # for a comment." if "room" in what else ""
        raise Usage(f"Expected {what}, got {len(words.rest)} words.{hint}")
    return words.rest[0]


def _none(words: Words) -> JSON:
    if words.rest:
        raise Usage(f"Expected no further word, got {words.rest[0]!r}.")
    return {}


def _room(words: Words) -> JSON:
    return {"room": _one(words, "a room").removeprefix("#")}


def _create(words: Words) -> JSON:
    described = {"description": words.given["desc"]} if "desc" in words.given else {}
    return {**_room(words), **described}


def _target(words: Words) -> JSON:
    """A bare name is a peer; `#R` or --room R a room."""
    if "room" in words.given:
        _none(words)
        return {"room": words.given["room"].removeprefix("#")}
    target = _one(words, "a peer or a room")
    return {"room": target[1:]} if target.startswith("#") else {"peer": target}


def _timeout(words: Words) -> JSON:
    """Milliseconds; the bridge's own default is left out, as everywhere on the wire."""
    seconds = words.number("timeout", WAIT_SECONDS)
    return {} if seconds == WAIT_SECONDS else {"timeout": round(seconds * 1000)}


def _message(words: Words, what: str) -> JSON:
    """The first word and the message: the second one, standard input (`-`), or a file."""
    given = words.given.get("file")
    if len(words.rest) != (2 if given is None else 1):
        raise Usage(f"Expected {what} and one message (in quotes, or - for standard input, or --file FILE).")
    body = words.rest[1] if given is None else _file(given)
    if given is None and body == "-":
        body = sys.stdin.buffer.read().decode("utf-8", "replace")
    body = body.encode("utf-8", "replace").decode("utf-8")  # what no program can be given, from odd argument bytes
    if not body.strip():
        raise Usage("The message is empty.")
    return {what.split()[-1]: words.rest[0].removeprefix("#" if "room" in what else "@"), "body": body}


def _file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError as problem:
        raise Usage(f"The file {path} cannot be read: {problem.strerror}.") from problem


def _history(words: Words) -> JSON:
    numbers = {name: int(words.number(name, 0)) for name in ("since", "limit") if name in words.given}
    defaults = {"since": 0, "limit": 50}  # left out, as everywhere on the wire
    return {**_target(words), **{name: value for name, value in numbers.items() if value != defaults[name]}}


_WHO = ("--as",)
VERBS = {
    "tell": Verb(
        'tell <peer> "message"', "tell", (*_WHO, "--file"), lambda words: _message(words, "a peer"), text.told
    ),
    "ask": Verb(
        'ask <peer> "message" [--timeout N]',
        "ask",
        (*_WHO, "--file", "--timeout"),
        lambda words: {**_message(words, "a peer"), **_timeout(words)},
        text.answered,
    ),
    "read": Verb(
        "read <peer> | read '#room' | read --room R [--timeout N]",
        "read",
        (*_WHO, "--room", "--timeout"),
        lambda words: {**_target(words), **_timeout(words)},
        text.bodies,
    ),
    "read-any": Verb(
        "read-any [--timeout N]",
        "readAny",
        (*_WHO, "--timeout"),
        lambda words: {**_none(words), **_timeout(words)},
        text.any_letter,
    ),
    "peek": Verb("peek <peer> | peek '#room' | peek --room R", "peek", (*_WHO, "--room"), _target, text.listed),
    "post": Verb(
        'post <room> "message"', "post", (*_WHO, "--file"), lambda words: _message(words, "a room"), text.posted
    ),
    "room create": Verb("room create R [--desc TEXT]", "createRoom", (*_WHO, "--desc"), _create, text.room),
    "join": Verb("join R", "join", _WHO, _room, text.room),
    "leave": Verb("leave R", "leave", _WHO, _room, text.nothing),
    "rooms": Verb("rooms", "rooms", _WHO, _none, text.rooms),
    "participants": Verb("participants R", "participants", _WHO, _room, text.participants),
    "history": Verb(
        "history <peer> | history '#room' [--since SEQ] [--limit N]",
        "history",
        (*_WHO, "--room", "--since", "--limit"),
        _history,
        text.listed,
    ),
    "channels": Verb("channels [--as NAME]", "channels", _WHO, _none, text.channels),
    "register": Verb("register NAME", "register", (), lambda _words: {}, text.lease),
    "unregister": Verb("unregister", "unregister", _WHO, _none, text.nothing),
    "renew": Verb("renew", "renew", _WHO, _none, text.lease),
}


# ── running ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def main(argv: list[str]) -> int:
    """Run a verb: its name and its words. The exit codes are those of `sidekicks protocol`."""
    name, words = argv[0], argv[1:]
    if name in ("tunnel", "close"):
        print(f"sidekicks {name}: this does nothing any more; it is not needed.", file=sys.stderr)
        return OK
    if name in _RENAMED:
        print(f"sidekicks {name}: the name is old, say `sidekicks {_RENAMED[name]}`.", file=sys.stderr)
        name = _RENAMED[name]
    if name == "room":
        name, words = " ".join(["room", *words[:1]]), words[1:]
        name = name.removeprefix("room ") if name.removeprefix("room ") in ("join", "leave") else name
    verb = VERBS.get(name)
    if verb is None:
        print("usage: sidekicks room create R [--desc TEXT]", file=sys.stderr)
        return USAGE
    return _run(name, verb, words)


def channels(argv: list[str]) -> int:
    """All channels, from the history; with --as NAME those of a participant, from the bridge."""
    if any(word == "--as" or word.startswith("--as=") for word in argv):
        return main(["channels", *argv])
    from sidekicks_bridge.cli.history import channels as all_channels

    return all_channels(argv)


def protocol(_argv: list[str]) -> int:
    """Print how all of this is used, for an agent to read."""
    sys.stdout.write(text.PROTOCOL)
    return OK


def _run(name: str, verb: Verb, words: list[str]) -> int:
    as_json = "--json" in (words[: words.index("--")] if "--" in words else words)
    try:
        given = parse(words, verb.options)
        if "help" in given.given or "h" in given.given:
            print(f"usage: sidekicks {verb.usage} [--json] [--config FILE]\n\n`sidekicks protocol` explains all verbs.")
            return OK
        params = verb.params(given)
        result = _ask(name, verb, given, params)
    except Usage as wrong:
        return _fail(name, USAGE, "usage", f"{wrong} Usage: sidekicks {verb.usage}", {}, as_json)
    except Refused as refused:
        code = _CODES.get(refused.reason, FAILED)
        return _fail(name, code, refused.reason, refused.message, refused.context, as_json)
    except _Unauthorized as who:
        return _fail(name, UNAUTHORIZED, "unauthorized", str(who), {}, as_json)
    except Gone as gone:
        return _fail(name, CLOSED, "closed", str(gone), {}, as_json)
    except SidekicksError as problem:
        return _fail(name, FAILED, problem.code, problem.message, problem.details, as_json)
    except (BridgeGone, OSError) as problem:
        return _fail(name, FAILED, "bridgeGone", str(problem), {}, as_json)
    except KeyboardInterrupt:
        return 130
    if name == "ask" and (result.get("message") or {}).get("failed"):
        _print(text.older, result, as_json)
        return FAILED if as_json else _fail(name, FAILED, "turnFailed", result["message"]["body"], {}, as_json)
    _print(text.listed if name == "read" and "room" in params else verb.show, result, as_json)
    return OK


def _print(show: Callable[[JSON], list[str]], result: JSON, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps(result))
        return
    for line in show(result):
        sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()
    for note in result.get("notes", ()):
        print(f"note: {note}", file=sys.stderr)


def _fail(name: str, code: int, reason: str, hint: str, context: JSON, as_json: bool) -> int:
    if as_json:
        import json

        print(json.dumps({"code": code, "reason": reason, "hint": hint, "context": context}))
    else:
        print(f"sidekicks {name}: {hint}", file=sys.stderr)
    return code


class _Unauthorized(Exception):
    """Nobody is who is claimed, as far as this side can tell."""


def _ask(name: str, verb: Verb, given: Words, params: JSON) -> JSON:
    location = located(given.given.get("config"))
    ensure(location)
    folder = paths.data_folder(location.place)
    method = f"sidekicks/mail/{verb.method}"
    who, key = _register_key(folder, given) if name == "register" else _key(folder, given)
    if name == "register":
        params = {"key": key.public, "folder": os.getcwd()}
    result = ask_owner(location.place, method, lambda: signed(method, params, who, key.sign))
    if name == "unregister":
        from sidekicks_bridge.mail.signing import key_path

        try:
            os.unlink(key_path(folder, who))
        except FileNotFoundError:
            pass  # somebody else was as quick
    return result


def _key(folder: str, given: Words) -> tuple[str, PrivateKey]:
    from sidekicks_bridge.mail.signing import BadKey, load_key

    name = given.given.get("as") or os.environ.get(NAME_VARIABLE)
    if not name:
        raise Usage(f"Say who you are: --as NAME, or set {NAME_VARIABLE}.")
    if wrong := name_problem(name):
        raise Usage(wrong)
    try:
        key = load_key(folder, name)
    except BadKey as problem:
        raise _Unauthorized(str(problem)) from problem
    if key is None:
        raise _Unauthorized(f"{name} is not registered here: `sidekicks register {name}` first.")
    return name, key


def _register_key(folder: str, given: Words) -> tuple[str, PrivateKey]:
    from sidekicks_bridge.mail.signing import BadKey, make_key

    name = _one(given, "a name")
    if wrong := name_problem(name):
        raise Usage(wrong)
    try:
        return name, make_key(folder, name)
    except BadKey as problem:
        raise _Unauthorized(str(problem)) from problem
