"""One change to a configuration's text that leaves every other byte as it is: comments, order, quotes, line ends.

ruamel.yaml tells where each value stands; the change is cut into the text there, and the result is read again and
compared with what was meant before it is given out.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.config.check import kind_of
from sidekicks_bridge.config.load import Parsed, parse, read_text
from sidekicks_bridge.config.save import write_text
from sidekicks_bridge.config.splice import Splice, wrapped
from sidekicks_bridge.config.yamltext import Unreadable, compose, read
from sidekicks_bridge.protocol.errors import SidekicksError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ruamel.yaml.nodes import Node

Json = Any
BOM = "\ufeff"


def edit(text: str, path: Sequence[str | int], value: Json) -> str:
    """``text`` with ``value`` set at ``path`` (keys and indices); None removes what is there.

    Missing mappings and lists on the way are made; the index after a list's last appends. Raises SidekicksError
    configInvalid (the text does not parse), invalidParams (the path leads nowhere), configUnwritable (written in a
    way that cannot be changed safely by a program, e.g. with aliases).
    """
    if not path:
        raise SidekicksError("invalidParams", "The path is empty; name the key to change.")
    mark = BOM if text.startswith(BOM) else ""
    body = text.removeprefix(BOM)
    before = _data(body)
    expected = copy.deepcopy(before)
    if not _apply(expected, list(path), _whole_numbers(value)):
        return text
    root = compose(body)
    assert root is not None  # it has data
    _refuse_aliases(root)
    try:
        changed = Splice(body, root).change(list(path), value)
        after = read(changed).data
    except (Unreadable, ValueError, IndexError) as error:  # explicit keys ("? key") and the like
        raise _by_hand(f"it is laid out in an unusual way: {error}") from None
    if repr(after) != repr(expected):
        raise _by_hand("it is laid out in an unusual way")
    return mark + changed


def edit_file(path: Path, keys: Sequence[str | int], value: Any) -> Parsed:
    """Set ``value`` at ``keys`` in the file (None: remove), and say what the file then says.

    Raises SidekicksError configInvalid (the file does not parse, or the change would add an error), invalidParams,
    configUnwritable (with the reason).
    """
    text = read_text(path)
    changed = edit(text, keys, value)
    after = parse(changed, path)
    if changed == text:
        return after
    known = {problem.message for problem in parse(text, path).errors}
    if worse := next((problem for problem in after.errors if problem.message not in known), None):
        raise SidekicksError(
            "configInvalid", f"The configuration is not changed: {worse.message}", {"path": worse.path}
        )
    write_text(path, changed, expected=text)
    return after


def _data(text: str) -> dict[str, Any]:
    try:
        data = read(text).data
    except Unreadable as error:
        place = f"line {error.place.line}, column {error.place.column}"
        raise SidekicksError(
            "configInvalid", f"The configuration is not changed, because it cannot be read: {error} ({place})"
        ) from None
    if not isinstance(data, dict):
        raise SidekicksError("configInvalid", "The configuration is not changed, because it has no keys at its top.")
    return data


def _by_hand(reason: str) -> SidekicksError:
    return SidekicksError("configUnwritable", f"The file cannot be changed by a program ({reason}); edit it by hand.")


def _refuse_aliases(root: Node) -> None:
    seen: set[int] = set()
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            raise _by_hand("it uses YAML aliases")
        seen.add(id(node))
        waiting.extend(_children(node))


def _children(node: Any) -> Iterator[Any]:
    if node.id == "mapping":
        for pair in node.value:
            yield from pair
    elif node.id == "sequence":
        yield from node.value


def _whole_numbers(value: Json) -> Json:
    """``value`` as it is read back: 5.0 is 5."""
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _apply(data: Any, path: list[str | int], value: Json) -> bool:
    """Make the change in plain data; False: there is nothing to remove."""
    key, rest = path[0], path[1:]
    there = _has(data, key)
    if value is None and not there:
        return False
    if rest and there and data[key] is not None:
        return _apply(data[key], rest, value)
    if value is None:
        if rest:
            return False
        del data[key]
    elif isinstance(data, list) and not there:
        data.append(wrapped(rest, value))
    else:
        data[key] = wrapped(rest, value)
    return True


def _has(data: Any, key: str | int) -> bool:
    """Whether ``key`` is there; raises invalidParams if it could not even be added."""
    if isinstance(data, dict) and isinstance(key, str):
        return key in data
    if isinstance(data, list) and isinstance(key, int) and not isinstance(key, bool) and 0 <= key <= len(data):
        return key < len(data)
    raise SidekicksError("invalidParams", f"The path leads nowhere: {kind_of(data)} has no {key!r}.")
