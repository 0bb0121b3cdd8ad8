"""Checking what was signed: keys, signatures, and refusing what was seen before."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING

from sidekicks_bridge.mail.signing import KEY_BYTES

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

WINDOW = 60.0
"""Seconds by which a request's time may differ from the bridge's; nonces are remembered for twice as long."""
_KEYS_KEPT = 256
_SIGNATURE_DIGITS = 128


def verify(key: str, data: bytes, signature: str) -> bool:
    """Whether ``signature`` (hex) is that of ``data`` by the holder of ``key`` (hex); nonsense is a no."""
    from cryptography.exceptions import InvalidSignature

    if len(signature) != _SIGNATURE_DIGITS:  # hex may have blanks and line ends, and this goes into a file's head
        return False
    try:
        _public_key(key).verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


@lru_cache(_KEYS_KEPT)
def _public_key(key: str) -> Ed25519PublicKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))


def is_key(key: str) -> bool:
    """Whether this is the hex of a public key."""
    try:
        return len(key) == 2 * KEY_BYTES and len(bytes.fromhex(key)) == KEY_BYTES
    except ValueError:
        return False


class Replays:
    """Which nonces were used lately. ``began``: before it nothing is remembered, so what was signed before is old."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._seen: set[tuple[str, str]] = set()
        self._order: deque[tuple[float, tuple[str, str]]] = deque()

    def problem(self, key: str, nonce: str, signed: float, now: float) -> str | None:
        """Why a request signed at ``signed`` (seconds) is refused, or None; then its nonce is used up."""
        self._began = min(self._began, now)  # a clock that was set back must not refuse everything till then
        while self._order and self._order[0][0] < now - 2 * WINDOW:
            self._seen.discard(self._order.popleft()[1])
        if abs(signed - now) > WINDOW or signed < self._began:
            return "Its time is too far from the bridge's: sign a new request, and check the clock."
        if (key, nonce) in self._seen:
            return "Its nonce was used before: sign a new request."
        self._seen.add((key, nonce))
        self._order.append((now, (key, nonce)))
        return None
