"""From a prompt's text to the script a turn plays. Pure; it must not know what a directive does.

The script is the user's own text: what follows the frame that the bridge puts around unseen messages (design
rule 4), leading mentions dropped.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from collections.abc import Collection

    Directive = tuple[str, str]

FRAME = "[Messages in "
FRAME_END = re.compile(r"^\[End of the messages\]\n", re.MULTILINE)
ADDRESS = re.compile(r"^\S.* now writes to you \(.*\):\n")
MENTIONS = re.compile(r"(?:\s*@[A-Za-z0-9][A-Za-z0-9._-]*[,:]?(?=\s|$))+\s*")
WORD = re.compile(r"(?:(?<=\s)|^)!([a-z][a-z-]*)(?=\s|$)", re.MULTILINE)
ESCAPES = {r"\n": "\n", r"\t": "\t", r"\s": " ", r"\e": "\x1b", "\\\\": "\\"}


def users_text(prompt: str) -> str:
    """The prompt without frame and leading mentions. Nothing inside the frame can forge its end: indented."""
    if prompt.startswith(FRAME):
        end = FRAME_END.search(prompt)
        if end:
            prompt = prompt[end.end() :]
    address = ADDRESS.match(prompt)
    if address:
        prompt = prompt[address.end() :]
    mentions = MENTIONS.match(prompt)
    return prompt[mentions.end() :] if mentions else prompt


def directives(text: str, known: Collection[str], agent: str) -> list[Directive]:
    """The directives in ``text`` that are for ``agent``, with their arguments; text before the first one is
    left out.

    ``!word`` counts at the start of a line or after white space if the word is known; at the start of a line
    an unknown one is a `ValueError`, so that a misspelt test fails. ``!for NAME`` gives what follows to that
    agent only, ``!for all`` to everyone again.
    """
    starts = [m for m in WORD.finditer(text) if m[1] in known or m[1] == "for" or _at_line_start(text, m.start())]
    ends = [*(m.start() for m in starts), len(text)][1:]
    found: list[Directive] = []
    mine = True
    for match, end in zip(starts, ends, strict=True):
        word, argument = match[1], text[match.end() : end].strip()
        if word == "for":
            mine = argument.lower() in ("all", agent.lower())
        elif word not in known:
            raise ValueError(f"unknown directive !{word}")
        elif mine:
            found.append((word, argument))
    return found


def _at_line_start(text: str, at: int) -> bool:
    return not text[:at].rpartition("\n")[2].strip()


def unescape(text: str) -> str:
    r"""``\n``, ``\t``, ``\s`` (space), ``\e`` (escape) and ``\\``: a directive's argument is stripped and
    ends where the next begins."""
    return re.sub(r"\\[ntse\\]", lambda m: ESCAPES[m[0]], text)


def words(text: str) -> list[str]:
    """The text in chunks as a model would stream it: each word with the space after it."""
    return re.findall(r"\s*\S+\s*|\s+", text)
