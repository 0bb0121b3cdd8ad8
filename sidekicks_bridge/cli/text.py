"""Text from agents made safe for a terminal. Pure; knows nothing of styles or of the protocol.

Whatever an agent, a file name or a configuration says is data: it must not move the cursor, change colours,
reorder what stands beside it (bidi controls) or hide (tag characters). What is taken out stays visible.
"""

from __future__ import annotations

import io
import os
import re
import sys
from datetime import datetime

_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_CRLF = re.compile(r"\r\n?|[\u0085\u2028\u2029]")

_BIDI = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_HIDDEN = [0x00AD, 0x200B, 0x2060, 0xFEFF, *range(0xE0000, 0xE0080), *range(0xFFF9, 0xFFFC)]
_VISIBLE: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_VISIBLE |= {0x7F: "␡", 0x09: "    "}
_VISIBLE |= {code: f"‹{code:02X}›" for code in range(0x80, 0xA0)}
_VISIBLE |= {code: f"‹U+{code:04X}›" for code in (*_BIDI, *_HIDDEN)}
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def safe(text: str) -> str:
    """``text`` with every control made visible; colours are dropped, tabs are four blanks, line ends are ``\\n``."""
    if text.isascii() and text.isprintable():
        return text
    text = _CRLF.sub("\n", _COLOUR.sub("", text))
    return _SURROGATES.sub("\ufffd", text).translate(_VISIBLE)


def counted(number: int, one: str) -> str:
    """A number with its noun, in the plural where it belongs."""
    return f"{number:,} {one if number == 1 else one + 's'}"


def one_line(text: str, limit: int = 200) -> str:
    """The safe ``text`` on one line: line ends become blanks, at most ``limit`` characters, a cut ends with ``…``."""
    joined = " ".join(safe(text[: limit * 4]).split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def short_path(path: str, root: str | None) -> str:
    """``path`` relative to the folder ``root`` when it lies inside, safe and on one line."""
    if root and path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return one_line(path)


def rows(line: str, hanging: int) -> str:
    """``line`` for standard output: broken at blanks where a terminal is narrower, what follows ``hanging`` blanks in.

    A file or a pipe gets it as it is.
    """
    if not sys.stdout.isatty():
        return line
    from textwrap import wrap

    columns = max(os.get_terminal_size(sys.stdout.fileno()).columns or 80, 2 * hanging, 20) - 1
    indent = " " * hanging
    broken = wrap(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(broken) or line


def clock_time(timestamp: str) -> str:
    """A wire time as local hours and minutes, with the day if it is not today's; unreadable: as it is."""
    try:
        moment = datetime.fromisoformat(timestamp).astimezone()
    except ValueError:
        return one_line(timestamp, 32)
    today = datetime.now().astimezone().date()
    return moment.strftime("%H:%M" if moment.date() == today else "%Y-%m-%d %H:%M")


def utf16_to_index(text: str, offset: int) -> int:
    """The index into ``text`` of an offset in UTF-16 units (the wire's unit); past the end: the end."""
    if text.isascii():
        return min(offset, len(text))
    units = 0
    for index, char in enumerate(text):
        if units >= offset:
            return index
        units += 2 if ord(char) > 0xFFFF else 1
    return len(text)


def index_to_utf16(text: str, index: int) -> int:
    """The offset in UTF-16 units of ``index`` in ``text``."""
    head = text[:index]
    return len(head) if head.isascii() else len(head.encode("utf-16-le", "surrogatepass")) // 2


def silence(name: str) -> None:
    """Whoever read our ``stdout`` (or ``stderr``) is gone: write to nowhere, so that the exit does not complain."""
    setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  # it ends with the process


def use_utf8(argv: list[str]) -> list[str]:
    """Read and write UTF-8 on the standard streams, whatever the locale says; answers ``argv`` read so, too."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    return [os.fsencode(word).decode("utf-8", "replace") for word in argv]
