"""Scout: answers questions about the workspace with the passages that say most.

Owns what a prompt means to it, and the words of its answers. Finding is the business of `search`, the
commands are in `lookups`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidekicks_bridge.builtin.acp_agent import Command
from sidekicks_bridge.builtin.files import Workspace, WorkspaceError
from sidekicks_bridge.builtin.languages import language_of
from sidekicks_bridge.builtin.lookups import LOOKUPS
from sidekicks_bridge.builtin.markdown import code, counted, fence, quote
from sidekicks_bridge.builtin.prompt import addressed_text, read_command, read_prompt
from sidekicks_bridge.builtin.search import Answer, answer_question
from sidekicks_bridge.builtin.turn import text_content
from sidekicks_bridge.builtin.words import question_words

if TYPE_CHECKING:
    from sidekicks_bridge.builtin.turn import Turn


class Scout:
    """One session of scout; it keeps nothing from one prompt to the next but the names it saw speaking."""

    commands: tuple[Command, ...] = (
        Command("find", "Search the workspace for a regular expression", "regex"),
        Command("files", "List the files whose path matches", "glob, e.g. *.py or src/**/*.ts"),
        Command("outline", "Show the definitions in a file, with their lines", "file"),
        Command("todo", "Collect TODO, FIXME, XXX and HACK"),
    )

    def __init__(self, root: str, name: str) -> None:
        self._workspace = Workspace(root)
        self._name = name
        self._speakers: set[str] = set()

    def answer(self, turn: Turn) -> None:
        """Answer a question or run a command."""
        prompt = read_prompt(turn.text)
        self._speakers |= {message.speaker for message in prompt.unseen}
        text = addressed_text(prompt.text, self._name, self._speakers)
        command = read_command(prompt.text) or read_command(text)
        if command is None:
            self._question(turn, text)
        elif command.name in LOOKUPS:
            LOOKUPS[command.name](self._workspace, turn, command.arguments)
        else:
            known = ", ".join(f"`/{known.name}`" for known in self.commands)
            turn.say(f"I have no command {code('/' + command.name)}. Mine are {known}; anything else, just ask.")

    def _question(self, turn: Turn, question: str) -> None:
        words = ", ".join(dict.fromkeys(question_words(question).values()))
        if not words:
            turn.say("Ask me for something in this workspace by its words, e.g. *where are routes decided?*")
            return
        with turn.tool(f"Search for {words}", "search", {"query": question}) as tool:
            tool.begin()
            paths = self._attached(turn) or self._workspace.files(turn.check)
            answer = answer_question(self._workspace, question, paths, turn.check)
            summary = f"{counted(len(answer.passages), 'passage')}; searched {counted(answer.searched, 'file')}"
            places = [self._workspace.location(passage.path, passage.line) for passage in answer.passages]
            tool.complete([text_content(summary)], places)
        turn.say(_found(answer) if answer.passages else _nothing(answer, words))

    def _attached(self, turn: Turn) -> list[str]:
        """Return the attached files of the workspace: a question that comes with files is about them."""
        paths = []
        for given in turn.attached:
            try:
                paths.append(self._workspace.resolve(given))
            except WorkspaceError:
                continue
        return paths


def _found(answer: Answer) -> str:
    """The best passage is shown, the others are named: whoever reads this wants a place to begin."""
    best, *others = answer.passages
    what = f"{code(best.defines)} in {code(best.path)}" if best.defines else code(best.path)
    lead = f"The best answer I found is {what}"
    parts = [f"{lead}, which begins:\n\n{quote(best.about)}"] if best.about else [f"{lead}:"]
    language = language_of(best.path)
    shown = f"\n{quote(chr(10).join(best.excerpt))}" if language == "markdown" else fence(best.excerpt, language)
    parts.append(f"{code(f'{best.path}:{best.line}')}\n{shown}")
    if others:
        listed = [f"- {code(f'{passage.path}:{passage.line}')}: {code(passage.label)}" for passage in others]
        parts.append("\n".join(["See also:", "", *listed]))
    if answer.missing:
        parts.append(f"Found nowhere: {', '.join(code(word) for word in answer.missing)}.")
    return "\n\n".join(parts)


def _nothing(answer: Answer, words: str) -> str:
    if not answer.searched:
        return "There is no text file here that I may read, so I found nothing."
    word = next(iter(answer.words.values()))
    return (
        f"I found nothing about {code(words)} in {counted(answer.searched, 'text file')}. Try another "
        f"word for it, {code(f'/find (?i){word}')} for exact text, {code(f'/files {word}')} for a name."
    )
