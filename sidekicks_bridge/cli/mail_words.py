"""The words of a mail verb → what they mean. By hand, because an argument parser costs as much as a whole tell."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

VALUES = ("--as", "--timeout", "--room", "--desc", "--since", "--limit", "--config", "--file")
"""Options that take the next word (or `--option=word`)."""
FLAGS = ("--json", "--help", "-h")


class Usage(Exception):
    """Wrong words; the message says what was expected."""


class Words:
    """``given``: options by name (without dashes); ``rest``: the other words, all of them after `--`."""

    def __init__(self, given: dict[str, str], rest: list[str]) -> None:
        self.given = given
        self.rest = rest

    def number(self, name: str, default: float) -> float:
        """The value of an option that is a number from 0. Raises Usage."""
        value = self.given.get(name)
        if value is None:
            return default
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number < 1e9:
            raise Usage(f"--{name} takes a number from 0, not {value!r}.")
        return number


def parse(words: list[str], options: tuple[str, ...]) -> Words:
    """Split the words of a verb that knows ``options``. Raises Usage."""
    known = (*options, "--config", "--json", "--help", "-h")
    given: dict[str, str] = {}
    rest: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if word == "--":
            rest += waiting
        elif word.startswith("-") and word != "-":
            _option(word, waiting, known, given)
        else:
            rest.append(word)
    return Words(given, rest)


def _option(word: str, waiting: Iterator[str], known: tuple[str, ...], given: dict[str, str]) -> None:
    name, equals, value = word.partition("=")
    if name not in known:
        raise Usage(f"There is no option {name}. A message that begins with a dash goes after `--`.")
    if name in FLAGS:
        if equals:
            raise Usage(f"{name} takes no value.")
    elif not equals:
        try:
            value = next(waiting)
        except StopIteration:
            raise Usage(f"{name} needs a value.") from None
    given[name.lstrip("-")] = value
