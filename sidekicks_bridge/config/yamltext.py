"""YAML text → plain data, with the line and column of every value. Knows YAML, and nothing of what the file means.

Hostile or broken text never raises anything but `Unreadable`: nesting, aliases and size are bounded. ruamel.yaml is
imported when it is first needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 32
MAX_VALUES: Final = 20_000
MAX_DIGITS: Final = 40

KeyPath = tuple[str | int, ...]
"""Where a value stands: keys and indices from the top."""


class Place(msgspec.Struct, frozen=True):
    """A position in the text: line and column (code points), both from 1."""

    line: int = 1
    column: int = 1


class Unreadable(Exception):
    """The text cannot be read at all: a sentence and its place."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place or Place()


class Fault(msgspec.Struct, frozen=True):
    """Something wrong at ``path``. ``at_key``: its key is meant, not its value.

    An error spoils the entry it stands in (an agent, a channel, a single limit); a warning, or ``harmless``, does not.
    """

    path: KeyPath
    message: str
    severity: Literal["error", "warning"] = "error"
    at_key: bool = False
    harmless: bool = False


class Document(msgspec.Struct):
    """What a text says: ``data`` of dict (text keys), list, str, int, float, bool, None; and where it says it."""

    data: Any = None
    values: dict[KeyPath, Place] = {}
    keys: dict[KeyPath, Place] = {}
    faults: list[Fault] = []

    def place(self, path: KeyPath, at_key: bool = False) -> Place:
        """The place of ``path``; of the nearest thing around it, if it does not stand in the text."""
        if at_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Place())


def decode(data: bytes) -> str:
    """The text of a file: UTF-8, with or without byte order mark. Raises `Unreadable`."""
    if len(data) > MAX_BYTES:
        raise Unreadable("The file is larger than 1 MiB, the most a configuration may have.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise Unreadable(f"The file is not UTF-8 (byte {data[error.start]:#04x}); save it as UTF-8.", place) from None


def read(text: str) -> Document:
    """Read ``text``; an empty one gives ``data`` None. Raises `Unreadable` with a sentence for a person."""
    root = compose(text.removeprefix("\ufeff"))
    walk = _Walk()
    if root is not None:
        walk.document.data = walk.value(root, ())
    return walk.document


def compose(text: str) -> Node | None:
    """ruamel's nodes of ``text`` (no byte order mark), whose marks say where they stand. Raises `Unreadable`."""
    from ruamel.yaml import YAML
    from ruamel.yaml.composer import Composer
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    if len(text) > MAX_BYTES:
        raise Unreadable("The text is larger than 1 MiB, the most a configuration may have.")

    class Bounded(Composer):
        """Gives up on a text of absurdly many values before they take minutes."""

        warn_double_anchors = False
        left = MAX_VALUES

        def compose_node(self, parent: Any, index: Any) -> Any:
            self.left -= 1
            if not self.left:
                raise MarkedYAMLError(problem=_TOO_MANY, problem_mark=self.parser.peek_event().start_mark)
            return super().compose_node(parent, index)

    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = Bounded
    yaml.max_depth = MAX_DEPTH
    try:
        root: Node | None = yaml.compose(text)
    except ReaderError as error:
        raise Unreadable(  # the reader gives the character as a number
            f"The character U+{error.character:04X} is not allowed in YAML; remove it.", _at(text, error.position)
        ) from None
    except MarkedYAMLError as error:
        raise _explained(error, text) from None
    except RecursionError:
        raise Unreadable("The text is nested too deeply.") from None
    except (YAMLError, ValueError, AttributeError, IndexError, KeyError, TypeError, AssertionError) as error:
        # ruamel.yaml meets some malformed texts with bare exceptions of its own making.
        raise Unreadable(f"The text is not valid YAML ({error}).") from None
    return root


def _at(text: str, index: int) -> Place:
    return Place(text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index))


_TOO_MANY: Final = f"The file has more than {MAX_VALUES} values, aliases counted as often as used."
_EXPLANATIONS: Final = (
    (_TOO_MANY, _TOO_MANY),
    ("cannot start any token", "This character cannot begin a value; put the value in quotes."),
    ("mapping values are not allowed", "A ':' is not expected here: check the indentation, or quote the value."),
    (
        "could not find expected ':'",
        "This line is not 'key: value': a ':' is missing, or the line above is not closed.",
    ),
    ("but found '<block", "The indentation does not fit the lines above; align it with its neighbours."),
    ("expected <block end>", "This does not fit the lines above: check the indentation, quotes and brackets."),
    ("expected the node content", "A value is missing here, or a '[' or '{' above is not closed."),
    ("unexpected end of stream", "The text in quotes that begins here is not closed; add the closing quote."),
    ("expected ',' or", "The '[' or '{' here is not closed, or a ',' is missing in it."),
    ("undefined alias", "The alias refers to an anchor that does not exist; define '&name' first, or quote the '*'."),
    ("maximum depth", f"The text is nested more than {MAX_DEPTH} levels deep."),
    ("another document", "A second document begins here; a configuration is one, so remove the '---'."),
    ("escape", "A backslash in double quotes is not a known escape; double it, or use single quotes."),
)
_UNCLOSED: Final = ("unexpected end of stream", "expected ',' or")


def _explained(error: Any, text: str) -> Unreadable:
    problem = str(error.problem or error.context or "it is not valid YAML")
    mark = error.problem_mark or error.context_mark
    if error.context_mark is not None and any(sign in problem for sign in _UNCLOSED):
        mark = error.context_mark  # where the quotes or brackets were opened tells more than where the text ended
    place = Place(mark.line + 1, mark.column + 1) if mark is not None else Place()
    lines = text.split("\n")
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        column = line.index("\t") + 1
        return Unreadable("The line is indented with a tab; YAML allows only spaces there.", Place(place.line, column))
    for sign, sentence in _EXPLANATIONS:
        if sign in problem or (sign == "another document" and sign in str(error)):
            return Unreadable(sentence, place)
    return Unreadable(f"The text is not valid YAML: {problem}.", place)


class _Walk:
    """One walk over the composed nodes: builds the data, notes the places, bounds what aliases can expand to."""

    def __init__(self) -> None:
        self.document = Document()
        self._open: set[int] = set()
        self._count = 0

    def value(self, node: Node, path: KeyPath) -> Any:
        """The plain value of ``node``, which stands at ``path``."""
        place = Place(node.start_mark.line + 1, node.start_mark.column + 1)
        self.document.values[path] = place
        self._count += 1
        if self._count > MAX_VALUES:
            raise Unreadable(_TOO_MANY, place)
        if id(node) in self._open:
            raise Unreadable("An alias stands inside its own anchor; write the value out.", place)
        self._open.add(id(node))
        try:
            return self._plain(node, path, place)
        finally:
            self._open.discard(id(node))

    def _plain(self, node: Any, path: KeyPath, place: Place) -> Any:
        tag = str(node.tag)
        if not tag.startswith("tag:yaml.org,2002:"):
            raise Unreadable(f"The YAML tag {tag} means nothing here; remove it, or quote the text.", place)
        if node.id == "scalar":
            return self._scalar(node, tag.rpartition(":")[2], path)
        if node.id == "sequence":
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: MappingNode, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: list[Node] = []
        for key, value in node.value:
            place = Place(key.start_mark.line + 1, key.start_mark.column + 1)
            if key.id != "scalar":
                raise Unreadable("A key must be a plain word; put the text in quotes.", place)
            if bad := _no_character(key.value):
                raise Unreadable(f"The key contains {bad}; remove it.", place)
            if str(key.tag).endswith(":merge"):
                merged.extend(value.value if value.id == "sequence" else [value])
                continue
            here = (*path, key.value)
            if key.value in result:
                first = self.document.keys[here].line
                message = f"The key {key.value!r} stands twice (first in line {first}); keep one of them."
                self.document.faults.append(Fault(here, message, at_key=True))
                self.document.keys[here] = place
                continue
            self.document.keys[here] = place
            result[key.value] = self.value(value, here)
            if result[key.value] is None:  # ruamel places what is not there at the next token
                self.document.values[here] = place
        for base in merged:
            self._merge(base, result, path)
        return result

    def _merge(self, base: Any, result: dict[str, Any], path: KeyPath) -> None:
        """``<<``: what ``base`` has and ``result`` lacks."""
        if base.id != "mapping":
            raise Unreadable("'<<' takes a mapping (or a list of them).", Place(base.start_mark.line + 1))
        inner = _Walk()
        inner._count, inner._open = self._count, self._open
        for key, value in inner.value(base, path).items():
            result.setdefault(key, value)
        self._count = inner._count
        self.document.faults.extend(inner.document.faults)
        for name in ("values", "keys"):
            own: dict[KeyPath, Place] = getattr(self.document, name)
            own.update({at: place for at, place in getattr(inner.document, name).items() if at not in own})

    def _scalar(self, node: ScalarNode, kind: str, path: KeyPath) -> Any:
        text: str = node.value
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() in {"true", "yes", "on", "y"}
        if kind in {"int", "float"} and (number := _number(text, kind)) is not None:
            return number
        if bad := _no_character(text):
            self.document.faults.append(Fault(path, f"The text contains {bad}; remove it."))
        return text


def _no_character(text: str) -> str | None:
    """What an escape such as ``\\0`` or ``\\ud800`` made that no program can be given: NUL, half of a pair."""
    bad = next((c for c in text if c == "\0" or "\ud800" <= c <= "\udfff"), None)
    return None if bad is None else f"U+{ord(bad):04X}, which is no character"


def _number(text: str, kind: str) -> int | float | None:
    """The number, a whole one as int; None for what looks like a number but is none a configuration can mean."""
    digits = text.replace("_", "").lower()
    if len(digits) > MAX_DIGITS:
        return None
    try:
        if kind == "int":
            return int(digits, 10 if digits.lstrip("+-").isdigit() else 0)
        number = float(digits)
    except ValueError:  # .inf and .nan, too
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number
