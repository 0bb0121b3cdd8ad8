"""Signing: what exactly is signed, making and keeping private keys. What is checked of it is in `checking`.

Next to nothing is imported, because the command line signs with it; `cryptography` comes in with the first key.
"""

from __future__ import annotations

import os

from sidekicks_bridge.quick_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_BYTES = 32


def payload(method: str, params: dict[str, Any], name: str, time: str, nonce: str) -> bytes:
    """The bytes that are signed: the same for everybody who knows the request (see `MailAuth`)."""
    return dumps([method, params, name, time, nonce], sort_keys=True)


class BadKey(Exception):
    """A key file that cannot be used; the message names it."""


class PrivateKey:
    """An Ed25519 key from its 32 bytes."""

    def __init__(self, seed: bytes) -> None:
        self._key = _private_key(seed)

    @property
    def public(self) -> str:
        """The public half, hex."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, data: bytes) -> str:
        """The signature, hex. The same data always gives the same one."""
        return self._key.sign(data).hex()


def _private_key(seed: bytes) -> Ed25519PrivateKey:
    """The key by `cryptography`, from where its public module has it: that one takes as long again to import."""
    try:
        from cryptography.hazmat.bindings._rust import openssl

        return openssl.ed25519.from_private_bytes(seed)
    except (ImportError, AttributeError):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(seed)


# ── key files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def key_path(folder: str | PathLike[str], name: str) -> str:
    """Where the private key of ``name`` (which keeps the one name rule) lies in a data folder."""
    return os.path.join(folder, "keys", f"{name.casefold()}.key")


def load_key(folder: str | PathLike[str], name: str) -> PrivateKey | None:
    """The key of ``name``, or None if there is none. Raises BadKey, OSError."""
    path = key_path(folder, name)
    try:
        with open(path, "rb") as file:
            seed = bytes.fromhex(file.read().decode("ascii").strip())
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise BadKey(_unusable(path, "read", problem)) from problem
    except ValueError as problem:
        raise BadKey(f"The key {path} is damaged. Put it back from a copy, or take another name.") from problem
    if len(seed) != KEY_BYTES:
        raise BadKey(f"The key {path} has {len(seed)} bytes instead of {KEY_BYTES}. Put it back, or take another name.")
    return PrivateKey(seed)


def make_key(folder: str | PathLike[str], name: str) -> PrivateKey:
    """The key of ``name``, made (for the user alone) if there is none. Raises BadKey, OSError."""
    if (found := load_key(folder, name)) is not None:
        return found
    from pathlib import Path

    from sidekicks_bridge.private_files import private_folder, write_new

    path = Path(key_path(folder, name))
    seed = os.urandom(KEY_BYTES)
    try:
        private_folder(path.parent)
        write_new(path, seed.hex().encode("ascii") + b"\n")
    except OSError as problem:
        if isinstance(problem, FileExistsError) and os.path.isdir(path.parent):  # somebody made it in this instant
            return make_key(folder, name)
        raise OSError(_unusable(path, "written", problem)) from problem
    return PrivateKey(seed)


def _unusable(path: str | PathLike[str], done: str, problem: OSError) -> str:
    from sidekicks_bridge.private_files import cause

    return f"The key {path} cannot be {done}: {cause(path, problem)}."
