"""Keys and signatures: what exactly is signed, making and keeping a private key, checking, and refusing replays.

Standard library only at import, because the command line signs with it; `cryptography` comes in with the first key.
"""

from __future__ import annotations

import json
import os
from collections import deque
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.private_files import private_folder

if TYPE_CHECKING:
    from pathlib import Path

WINDOW = 60.0
"""Seconds by which a request's time may differ from the bridge's; nonces are remembered for twice as long."""
_KEY_BYTES = 32


def payload(method: str, params: dict[str, Any], name: str, time: str, nonce: str) -> bytes:
    """The bytes that are signed: the same for everybody who knows the request (see `MailAuth`)."""
    return json.dumps([method, params, name, time, nonce], sort_keys=True, separators=(",", ":")).encode("ascii")


class BadKey(Exception):
    """A key file that cannot be used; the message names it."""


class PrivateKey:
    """An Ed25519 key from its 32 bytes."""

    def __init__(self, seed: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public(self) -> str:
        """The public half, hex."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, data: bytes) -> str:
        """The signature, hex. The same data always gives the same one."""
        return self._key.sign(data).hex()


def verify(key: str, data: bytes, signature: str) -> bool:
    """Whether ``signature`` (hex) is that of ``data`` by the holder of ``key`` (hex); nonsense is a no."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_key(key: str) -> bool:
    """Whether this is the hex of a public key."""
    try:
        return len(key) == 2 * _KEY_BYTES and len(bytes.fromhex(key)) == _KEY_BYTES
    except ValueError:
        return False


# ── key files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def key_path(folder: Path, name: str) -> Path:
    """Where the private key of ``name`` (which keeps the one name rule) lies in a data folder."""
    return folder / "keys" / f"{name.casefold()}.key"


def load_key(folder: Path, name: str) -> PrivateKey | None:
    """The key of ``name``, or None if there is none. Raises BadKey."""
    path = key_path(folder, name)
    try:
        seed = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise BadKey(f"The key {path} cannot be read: {problem}.") from problem
    if len(seed) != _KEY_BYTES:
        raise BadKey(f"The key {path} has {len(seed)} bytes instead of {_KEY_BYTES}.")
    return PrivateKey(seed)


def make_key(folder: Path, name: str) -> PrivateKey:
    """The key of ``name``, made (for the user alone) if there is none. Raises BadKey, OSError."""
    if (found := load_key(folder, name)) is not None:
        return found
    path = key_path(folder, name)
    private_folder(path.parent)
    seed = os.urandom(_KEY_BYTES)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # somebody made it in this instant
        return make_key(folder, name)
    with os.fdopen(descriptor, "wb") as file:
        file.write(seed.hex().encode("ascii") + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return PrivateKey(seed)


# ── replays ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Replays:
    """Which nonces were used lately. ``began``: before it nothing is remembered, so what was signed before is old."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._seen: set[tuple[str, str]] = set()
        self._order: deque[tuple[float, tuple[str, str]]] = deque()

    def problem(self, key: str, nonce: str, signed: float, now: float) -> str | None:
        """Why a request signed at ``signed`` (seconds) is refused, or None; then its nonce is used up."""
        while self._order and self._order[0][0] < now - 2 * WINDOW:
            self._seen.discard(self._order.popleft()[1])
        if abs(signed - now) > WINDOW or signed < self._began:
            return "Its time is too far from the bridge's: sign a new request, and check the clock."
        if (key, nonce) in self._seen:
            return "Its nonce was used before: sign a new request."
        self._seen.add((key, nonce))
        self._order.append((now, (key, nonce)))
        return None
