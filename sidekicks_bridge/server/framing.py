"""LSP framing: bytes in, message bodies out; a body in, its frame out. Standard library only; does no I/O."""

from __future__ import annotations

MAX_BODY = 256 * 1024 * 1024
"""A larger message ends the connection; the limits that people meet are far below and answered in words."""
_MAX_HEADER = 8192


class FramingError(Exception):
    """The stream is not LSP; the message says what came instead."""


def frame(body: bytes) -> bytes:
    """``body`` as it goes over the wire."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """Cuts a byte stream into message bodies."""

    def __init__(self, rest: bytes = b"") -> None:
        self._buffer = bytearray(rest)
        self._body_start = 0
        self._length: int | None = None

    @property
    def rest(self) -> bytes:
        """What has not been cut yet."""
        return bytes(self._buffer)

    def push(self, data: bytes) -> None:
        """Add bytes without cutting them yet."""
        self._buffer += data

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies that are complete with ``data``. Raises FramingError."""
        self._buffer += data
        bodies: list[bytes] = []
        while (body := self.next()) is not None:
            bodies.append(body)
        return bodies

    def next(self) -> bytes | None:
        """The next complete body, or None. Raises FramingError."""
        if self._length is None and not self._read_header():
            return None
        assert self._length is not None
        end = self._body_start + self._length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[self._body_start : end])
        del self._buffer[:end]
        self._length = None
        return body

    def _read_header(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _MAX_HEADER:
                raise FramingError(f"Expected an LSP header, got {bytes(self._buffer[:60])!r}…")
            return False
        for line in bytes(self._buffer[:end]).split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                self._length = _length(value)
        if self._length is None:
            raise FramingError(f"An LSP header without Content-Length: {bytes(self._buffer[:60])!r}")
        self._body_start = end + 4
        return True


def _length(value: bytes) -> int:
    text = value.strip()
    if not text.isdigit() or len(text) > 20 or int(text) > MAX_BODY:
        raise FramingError(f"Content-Length is {text[:40]!r}; expected a number up to {MAX_BODY}.")
    return int(text)
