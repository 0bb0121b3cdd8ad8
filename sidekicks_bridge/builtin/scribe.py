"""Scribe: keeps notes of the conversation in NOTES.md, and asks before every change of it.

Owns what it was shown in this session and the words of its answers. It knows only what its prompts carried: a
channel sends an agent what it has not seen, and nothing with a slash command (design rules 4 and 5).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sidekicks_bridge.builtin.acp_agent import Command
from sidekicks_bridge.builtin.markdown import code
from sidekicks_bridge.builtin.notes import FILE_NAME, NotesError, NotesFile, appended, entry
from sidekicks_bridge.builtin.prompt import USER, Message, Prompt, addressed_text, read_command, read_prompt
from sidekicks_bridge.builtin.rpc import RpcError
from sidekicks_bridge.builtin.turn import TurnCancelledError, text_content

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidekicks_bridge.builtin.rpc import Json
    from sidekicks_bridge.builtin.turn import ToolCall, Turn

MAX_REMEMBERED = 1000  # messages kept for the minutes
MAX_SHOWN = 20_000  # characters of the notes that /show prints
_OPTIONS = [
    {"optionId": "allow-once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "allow-always", "name": "Always allow for this session", "kind": "allow_always"},
    {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
]


class Scribe:
    """One session of scribe."""

    commands: tuple[Command, ...] = (
        Command("minutes", f"Write what the channel said since the last minutes to {FILE_NAME}"),
        Command("note", f"Append a note to {FILE_NAME}", "text"),
        Command("show", f"Print {FILE_NAME}"),
    )

    def __init__(self, root: str, name: str) -> None:
        self._notes = NotesFile(root)
        self._name = name
        self._channel: str | None = None
        self._unwritten: deque[Message] = deque(maxlen=MAX_REMEMBERED)
        self._always = False
        self._answers: dict[str, Callable[[Turn, str], None]] = {
            "minutes": self._minutes,
            "note": self._note,
            "show": self._show,
        }

    def answer(self, turn: Turn) -> None:
        """Keep what the prompt carries, or run a command."""
        prompt = read_prompt(turn.text)
        command = read_command(prompt.text) or read_command(addressed_text(prompt.text, self._name, set()))
        try:
            if command is None:
                self._keep(turn, prompt)
            elif command.name in self._answers:
                self._answers[command.name](turn, command.arguments)
            else:
                known = ", ".join(f"`/{known.name}`" for known in self.commands)
                turn.say(f"I have no command {code('/' + command.name)}. Mine are {known}.")
        except NotesError as error:
            turn.say(str(error))

    def _keep(self, turn: Turn, prompt: Prompt) -> None:
        """Note the user's message and what was said before it that this session had not been shown."""
        text = "\n".join([prompt.text.strip(), *(f"[attached: {path}]" for path in turn.attached)]).strip()
        if not text and not prompt.unseen:
            turn.say("There was nothing in that message to note.")
            return
        kept = _in_order(prompt, Message(prompt.speaker, text), self._name)
        self._channel = prompt.channel or self._channel
        self._unwritten.extend(kept)
        if self._write(turn, entry(f"from #{prompt.channel}" if prompt.channel else "note", kept)):
            turn.say(f"I noted {_what(prompt)} in `{FILE_NAME}`.")

    def _minutes(self, turn: Turn, _arguments: str) -> None:
        if not self._unwritten:
            turn.say(
                "There is nothing to write: I was shown no message since the last minutes, and a command "
                "comes to me without the channel's messages. Write me something first, e.g. "
                f"`@{self._name} keep this`: with that I see what was said, and `/minutes` can write it."
            )
            return
        messages = list(self._unwritten)
        title = f"minutes of #{self._channel}" if self._channel else "minutes"
        if self._write(turn, entry(title, messages)):
            self._unwritten.clear()
            said = "1 message" if len(messages) == 1 else f"{len(messages)} messages"
            turn.say(f"I wrote the minutes to `{FILE_NAME}`: {said}.")

    def _note(self, turn: Turn, text: str) -> None:
        if not text:
            turn.say("Say what to note, e.g. `/note the release is on Friday`.")
        elif self._write(turn, entry("note", [Message(USER, text)])):
            turn.say(f"Noted in `{FILE_NAME}`.")

    def _show(self, turn: Turn, _arguments: str) -> None:
        place: list[Json] = [{"path": self._notes.path}]
        with turn.tool(f"Read {FILE_NAME}", "read", {"path": self._notes.path}, place) as tool:
            tool.begin()
            notes = self._notes.read(turn)
            tool.complete([text_content(f"{len((notes or '').splitlines())} lines")])
        if notes is None or not notes.strip():
            turn.say(f"There are no notes yet: `/note some text` begins `{FILE_NAME}`.")
            return
        shown = notes if len(notes) <= MAX_SHOWN else notes[-MAX_SHOWN:].partition("\n")[2]
        cut = "" if shown == notes else f", the last {MAX_SHOWN:,} characters"
        turn.say(f"`{FILE_NAME}`{cut}:\n\n{shown}")

    def _write(self, turn: Turn, new_entry: str) -> bool:
        """Append an entry, if the user allows it; return whether it was written. What went wrong is said."""
        old = self._notes.read(turn)
        place: list[Json] = [{"path": self._notes.path}]
        with turn.tool(f"Write {FILE_NAME}", "edit", {"path": self._notes.path}, place) as tool:
            refusal = None if self._always else self._refusal(turn, tool, old, new_entry)
            if refusal is not None:
                tool.fail(refusal)
                turn.say(refusal)
                return False
            tool.begin()
            # Read again: the question may have been open for long, and what was written meanwhile stays.
            old = self._notes.read(turn)
            new = appended(old, new_entry)
            turn.check()
            self._notes.write(turn, new)
            tool.complete([self._diff(old, new)])
        return True

    def _refusal(self, turn: Turn, tool: ToolCall, old: str | None, new_entry: str) -> str | None:
        """Ask whether the entry may be written; return None for yes, else the sentence that says why not."""
        question = {**tool.announced, "content": [self._diff(old, appended(old, new_entry))]}
        try:
            answer = turn.request("session/request_permission", {"toolCall": question, "options": _OPTIONS})
        except RpcError as error:
            return f"I wrote nothing: I could not ask for permission ({error.message})."
        outcome = answer.get("outcome")
        outcome = outcome if isinstance(outcome, dict) else {}
        if outcome.get("outcome") == "cancelled":
            raise TurnCancelledError
        chosen = outcome.get("optionId")
        self._always = chosen == "allow-always"
        if chosen in {"allow-once", "allow-always"}:
            return None
        return f"I wrote nothing: you rejected the change of `{FILE_NAME}`."

    def _diff(self, old: str | None, new: str) -> Json:
        return {"type": "diff", "path": self._notes.path, "oldText": old, "newText": new}


def _in_order(prompt: Prompt, own: Message, name: str) -> list[Message]:
    """What was said, the question before its answers.

    A message to several (`@scout where …? @scribe keep that`) reaches this agent after the others answered it.
    """
    before = list(prompt.unseen)
    answers: list[Message] = []
    mentioned = own.text.lower().find(f"@{name.lower()}")
    if "@" in own.text[: max(mentioned, 0)]:
        while before and before[-1].speaker != USER:
            answers.insert(0, before.pop())
    return [*before, own, *answers]


def _what(prompt: Prompt) -> str:
    own = "your message" if prompt.speaker == USER else f"{prompt.speaker}'s message"
    others = list(dict.fromkeys(message.speaker for message in prompt.unseen if message.speaker != USER))
    if not others:
        return own
    named = others[0] if len(others) == 1 else f"{', '.join(others[:-1])} and {others[-1]}"
    return f"{own} and what {named} said"
