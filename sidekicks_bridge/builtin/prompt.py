"""What a prompt says: the bridge's frame around it (design rule 4), whom it addresses, and commands.

Pure text work, shared by both agents. It does not know which agents exist: only its own name, the built-in
ones, and those it was told of.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sidekicks_bridge.builtin import BUILTIN_AGENTS

USER = "user"
_HEAD = re.compile(r"\[Messages in (?:#(\S+)|this conversation) you have not seen yet\]")
_END = "[End of the messages]"
_TAIL = re.compile(
    r"(?:The user|(?P<peer>.+?) \(not the user\)) now writes to you \(answer directly, without your name in front\):"
)
_INDENTED = re.compile("(\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029])  ")
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_LINE = re.compile(rf"({_NAME}): ?(.*)", re.DOTALL)
_COMMAND = re.compile(r"/([A-Za-z0-9][\w.:-]*)(?:\s+(.*))?", re.DOTALL)
_CODE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)|`[^`\n]*`", re.DOTALL)
# A mention as the design has it: where it may stand, and that the name is not continued.
_MENTION = re.compile(rf"(?:^|(?<=[\s\ufeff(\[{{<\"'“‘«*_~]))@({_NAME})(?![\w/\\])", re.MULTILINE)
_BETWEEN = re.compile(r"(?:[\s,;:&*_~]|and\b|und\b|et\b|y\b)*", re.IGNORECASE)
_AFTER = re.compile(r"[*_~]*[\s,;:]*")  # what belongs to the mention in front of it
_SENTENCE_ENDS = "\n.?!;:,…。？！"


class Message(NamedTuple):
    """Something that was said in the channel: by whom (a name, or ``user``) and what."""

    speaker: str
    text: str


class Prompt(NamedTuple):
    """A prompt taken apart: the channel if it was told, what was said before, who writes now, and what."""

    channel: str | None
    unseen: list[Message]
    speaker: str
    text: str


class Slash(NamedTuple):
    """A slash command: its name without the slash, and its arguments untouched."""

    name: str
    arguments: str


def read_prompt(text: str) -> Prompt:
    """Take the frame off a prompt; a text without a frame is the user's own."""
    lines = text.split("\n")
    head = _HEAD.fullmatch(lines[0])
    # Lines inside messages are indented, so the first end mark is the real one.
    end = lines.index(_END) if head is not None and _END in lines else -1
    tail = _TAIL.fullmatch(lines[end + 1]) if end + 1 < len(lines) else None
    if tail is None or (end < 0 and not tail["peer"]):
        return Prompt(None, [], USER, text)
    said = "\n".join(lines[end + 2 :])
    channel = head[1] if head is not None else None
    messages = _messages(lines[1:end]) if end > 0 else []
    return (
        Prompt(channel, messages, tail["peer"], _flush(said)) if tail["peer"] else Prompt(channel, messages, USER, said)
    )


def _messages(lines: list[str]) -> list[Message]:
    messages: list[Message] = []
    for line in lines:
        start = None if line.startswith("  ") else _LINE.fullmatch(line)
        if start is not None:
            messages.append(Message(start[1], start[2]))
        elif messages:
            messages[-1] = messages[-1]._replace(text=f"{messages[-1].text}\n{line}")
    return [message._replace(text=_flush(message.text)) for message in messages]


def _flush(text: str) -> str:
    """Take away the two spaces that the frame puts after every line end of any kind."""
    return _INDENTED.sub(r"\1", text)


def read_command(text: str) -> Slash | None:
    """Return the command a text is, or None; ``/usr/bin/env`` is text."""
    match = _COMMAND.fullmatch(text.strip())
    return Slash(match[1].lower(), (match[2] or "").strip()) if match else None


def addressed_text(text: str, own_name: str, others: set[str]) -> str:
    """Return the part of a message that speaks to ``own_name``, without the mentions.

    ``@scout what is a lease? @scribe keep that`` is, for scout, "what is a lease?". What
    follows a group of mentions is for that group; what stands before the first is for everybody. ``others``
    are names known to be agents: an unknown ``@word`` inside a sentence (``@dataclass``) stays text.
    """
    groups = _mention_groups(text, {own_name.lower(), "all", *BUILTIN_AGENTS, *(name.lower() for name in others)})
    if not groups:
        return text.strip()
    bounds = [*(start for start, _, _ in groups[1:]), len(text)]
    before = text[: groups[0][0]].strip() if re.search(r"\w", text[: groups[0][0]]) else ""
    parts = [
        (names, _AFTER.sub("", text[end:bound], 1).strip())
        for (_, end, names), bound in zip(groups, bounds, strict=True)
    ]
    mine = [part for names, part in parts if names & {own_name.lower(), "all"}]
    if not mine:  # routed here for another reason: all of it but the leading mentions
        return text.strip() if before else _AFTER.sub("", text[groups[0][1] :], 1).strip()
    said = "\n".join(part for part in mine if re.search(r"\w", part))
    return f"{before}\n{said}".strip() if said else before or " ".join(part for _, part in parts).strip()


def _mention_groups(text: str, known: set[str]) -> list[tuple[int, int, set[str]]]:
    """Return (start, end, names) of each run of mentions, outside code."""
    visible = _CODE.sub(lambda code: "\0" * len(code[0]), text)
    groups: list[tuple[int, int, set[str]]] = []
    for match in _MENTION.finditer(visible):
        name = match[1].rstrip(".-").lower()
        end = match.start() + 1 + len(name)
        if groups and _BETWEEN.fullmatch(visible, groups[-1][1], match.start()):
            groups[-1] = (groups[-1][0], end, groups[-1][2] | {name})
        elif name in known or _begins_sentence(visible, match.start()):
            groups.append((match.start(), end, {name}))
    return groups


def _begins_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at].rstrip(" \t*_~([\"'")  # 40: as much blank and emphasis as anyone writes
    return not before or before[-1] in _SENTENCE_ENDS
