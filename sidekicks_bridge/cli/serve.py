"""`sidekicks serve`: the bridge on standard input and output. Reads the first message before it imports anything big.

That message names the configuration, and reading it needs the standard library only: a relay will start from here too.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from sidekicks_bridge import endpoint
from sidekicks_bridge.config.locate import Location, ensure, locate
from sidekicks_bridge.ownership import Claim, OtherVersion, claim
from sidekicks_bridge.paths import NoHomeError
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.server.framing import FrameReader, FramingError, frame

USAGE = """usage: sidekicks serve [--config FILE] [--log-level LEVEL]

Serve one client on standard input and output (LSP 3.17 framing). Editors start this; `sidekicks chat` does too.

  --config FILE       use this configuration and no other
  --log-level LEVEL   debug, info, warning (default) or error, to standard error
"""
_NOT_INITIALIZED = -32002
_ATTEMPTS = 20
_PAUSE = 0.05
_LEVELS = ("debug", "info", "warning", "error")


def main(argv: list[str]) -> int:
    """Run until the client is gone. 0 after an orderly end (shutdown, exit), 1 otherwise, 64 for wrong usage."""
    options = _options(argv)
    if isinstance(options, int):
        return options
    config, level = options
    reader = FrameReader()
    try:
        first = _first_message(reader)
    except FramingError as problem:
        print(f"sidekicks serve: {problem}", file=sys.stderr)
        return 1
    if first is None:
        return 1
    try:
        location = locate_for(config, json.loads(first))
        ensure(location)
        return _serve(location.path, level, first, reader.rest)
    except SidekicksError as refusal:
        return _refuse(first, refusal.message, refusal.code)
    except OtherVersion as refusal:
        return _refuse(first, str(refusal), "protocolMismatch")
    except NoHomeError as refusal:
        return _refuse(first, str(refusal), "configInvalid")
    except PermissionError as refusal:
        return _refuse(first, str(refusal), "storeUnavailable")


def _serve(path: Path, level: str, first: bytes, rest: bytes) -> int:
    """Relay to the owner, or own. An owner that ends just now is asked no more: the next claim finds who comes then."""
    for _ in range(_ATTEMPTS):
        claimed = _claim(path)
        if claimed.connection is None:
            _own(path, claimed, level, first, rest)
        from sidekicks_bridge.relay import relay

        if (code := relay(claimed.connection, frame(first) + rest)) is not None:
            return code
        time.sleep(_PAUSE)
    raise SidekicksError(
        "storeUnavailable", "The running bridge ends every connection. Run `sidekicks stop`, and retry."
    )


def _claim(path: Path) -> Claim:
    """Own, or find who does; a configuration that wants its bridge to outlive windows gets a hub to relay to."""
    if wants_hub(path):
        from sidekicks_bridge.cli.hub import HubFailed, start_hub

        try:
            start_hub(path)
        except HubFailed as problem:  # then this is the bridge, as long as its window is open
            print(f"sidekicks serve: {problem}", file=sys.stderr)
    return claim(path)


def _own(path: Path, claimed: Claim, level: str, first: bytes, rest: bytes) -> NoReturn:
    gc.disable()  # hundreds of modules are about to be imported; collecting meanwhile finds nothing
    start_logging(level)
    import anyio

    from sidekicks_bridge.server.owner import Owner

    gc.enable()
    gc.freeze()
    end(anyio.run(Owner(path, claimed.held, claimed.reason).serve_stdio, first, rest, 0, 1))


def end(code: int) -> NoReturn:
    """End this owner at once: all that is kept is on disk, and taking Python apart can take longer than its agents."""
    import logging

    logging.shutdown()
    sys.stderr.flush()
    os._exit(code)


def start_logging(level: str) -> None:
    """Log to standard error."""
    import logging

    line = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level.upper(), stream=sys.stderr, format=line)


def wants_hub(path: Path) -> bool:
    """Whether the configuration says `ui.keepRunning: true`; read without a parser, since most do not say it."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return False
    return (
        re.search(r"^[^#\n]*\bkeepRunning[\"']?\s*:\s*true\b", text, re.MULTILINE) is not None and endpoint.supported()
    )


def _options(argv: list[str]) -> tuple[str | None, str] | int:
    config: str | None = None
    level = "warning"
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            print(USAGE, end="")
            return 0
        if name in ("--config", "--log-level") and (equals or rest):
            value = value if equals else rest.pop(0)
            if name == "--config":
                config = value
            elif value in _LEVELS:
                level = value
            else:
                print(f"sidekicks serve: --log-level is one of {', '.join(_LEVELS)}, not {value!r}", file=sys.stderr)
                return 64
        elif word != "--stdio":  # what many editors add to a server's command line
            print(f"sidekicks serve: unknown option {word!r}\n\n{USAGE}", end="", file=sys.stderr)
            return 64
    return config, level


def _first_message(reader: FrameReader) -> bytes | None:
    """The `initialize` request; earlier requests are refused as LSP demands. None at `exit` or the end of input."""
    while True:
        body = reader.next()
        if body is None:
            data = os.read(0, 1 << 16)
            if not data:
                return None
            reader.push(data)
            continue
        message = _parsed(body)
        method = message.get("method")
        if method == "initialize" and message.get("id") is not None:
            return body
        if method == "exit":
            return None
        if message.get("id") is not None and isinstance(method, str):
            _write(message["id"], {"code": _NOT_INITIALIZED, "message": "Send `initialize` first."})


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except ValueError as problem:
        raise FramingError(f"The first message is not JSON: {problem}") from problem
    except RecursionError as problem:
        raise FramingError("The first message is nested too deeply.") from problem
    return message if isinstance(message, dict) else {}


def locate_for(given: str | None, message: dict[str, Any]) -> Location:
    """Which configuration the client that sent ``message`` (initialize) means (design: Handshake)."""
    from sidekicks_bridge.server.roots import folder_of

    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    options = params.get("initializationOptions")
    mine = options.get("sidekicks") if isinstance(options, dict) else None
    mine = mine if isinstance(mine, dict) else {}
    named = mine.get("configPath")
    folder = folder_of(params)
    trusted = Path(folder) if folder is not None and mine.get("workspaceTrusted") is True else None
    return locate(given, named if isinstance(named, str) else None, trusted)


def _refuse(first: bytes, problem: str, code: str) -> int:
    """Answer the handshake with the problem; the exit code."""
    print(f"sidekicks serve: {problem}", file=sys.stderr)
    error = {
        "code": -32803,
        "message": problem,
        "data": {"code": code, "retryable": False, "details": {}},
    }
    _write(json.loads(first).get("id"), error)
    return 1


def _write(request_id: object, error: dict[str, Any]) -> None:
    os.write(1, frame(json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()))
