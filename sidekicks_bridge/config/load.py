"""A configuration's text → what it says and what is wrong with it; and what is in force after a change.

Nothing here writes, and no text makes it raise. A file of some hundred lines takes tens of milliseconds and the
largest one (1 MiB) seconds, so call `load` and `parse` in a worker thread.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from sidekicks_bridge.config import check, resolve
from sidekicks_bridge.config.model import AgentSpec, ChannelSpec, Config, Limits, Messaging, Permissions, Ui
from sidekicks_bridge.config.settle import ANY, Parsed, settle
from sidekicks_bridge.config.written import AgentEntry, ChannelEntry, LimitsEntry, Written
from sidekicks_bridge.config.yamltext import MAX_BYTES, Document, Fault, KeyPath, Unreadable, decode, read
from sidekicks_bridge.names import fold, name_problem
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.types import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Parsed", "load", "parse", "read_text", "settle"]

T = TypeVar("T")
W = TypeVar("W", bound=Written)


def load(file: Path, environ: Mapping[str, str] | None = None) -> Parsed:
    """Read and parse ``file``. A file that is missing or cannot be read is a problem like any other."""
    try:
        text = _text(file)
    except Unreadable as error:
        return Parsed(None, [_problem(file, error)])
    return parse(text, file, environ)


def read_text(file: Path) -> str:
    """The text of ``file`` as it stands (line ends too, no byte order mark). Raises SidekicksError configInvalid."""
    try:
        return _text(file)
    except Unreadable as error:
        raise SidekicksError("configInvalid", error.message, {"file": str(file)}) from None


def _text(file: Path) -> str:
    try:
        if not stat.S_ISREG(kind := file.stat().st_mode) and not stat.S_ISDIR(kind):
            raise Unreadable(f"{file} is a pipe or a device; name a file that can be read again.")
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"The file {file} cannot be read: {error.strerror or error}.") from None
    return decode(data)


def parse(text: str, file: Path, environ: Mapping[str, str] | None = None) -> Parsed:
    """What ``text``, standing in ``file``, says. ``environ`` (default: the process's) fills ``${NAME}``."""
    try:
        document = read(text)
        data = _mapping(document.data)
    except Unreadable as error:
        return Parsed(None, [_problem(file, error)])
    return _Reading(document, data, file, os.environ if environ is None else environ).parsed()


def _mapping(data: Any) -> dict[str, Any]:
    if isinstance(data, dict):
        return data
    if data is None:
        raise Unreadable('The file is empty; it needs at least "agents:" (or "agents: []" if there shall be none).')
    raise Unreadable(f'The file must be a mapping with keys such as "agents:", not {check.kind_of(data)}.')


def _problem(file: Path, error: Unreadable) -> Problem:
    return Problem(file=str(file), line=error.place.line, column=error.place.column, message=error.message)


class _Reading:
    """One pass over a readable file: collects faults, leaves out what they spoil, resolves the rest."""

    def __init__(self, document: Document, data: dict[str, Any], file: Path, environ: Mapping[str, str]) -> None:
        self._document = document
        self._data, nulls = check.without_nulls(data)
        self._file = file
        self._environ = environ
        self._faults: dict[tuple[KeyPath, str], Fault] = {}
        self._spoiled: set[KeyPath] = set()
        self._add([*document.faults, *nulls, *check.structure(self._data), *check.references(self._data)])

    def _add(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self._faults.setdefault((fault.path, fault.severity), fault)  # one sentence a place
            if fault.severity == "error" and not fault.harmless:
                self._spoiled.add(fault.path[:2])

    def parsed(self) -> Parsed:
        """What the file says; call once."""
        config = Config(
            agents=[spec for path, item in self._good("agents") if (spec := self._agent(path, item))],
            channels=[found for path, item in self._good("channels") if (found := self._channel(path, item))],
            limits=self._limits(),
            permissions=self._plain("permissions", Permissions),
            messaging=self._plain("messaging", Messaging),
            ui=self._plain("ui", Ui),
        )
        order = {section: [name for _, name in self._named(section)] for section in check.LISTS}
        return Parsed(config, self._problems(), self._kept(config), order)

    def _good(self, section: str) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
        if (section,) in self._spoiled:
            return
        for index, item in check.entries(self._data, section):
            if (section, index) not in self._spoiled:
                yield (section, index), item

    def _named(self, section: str) -> Iterator[tuple[int, str]]:
        """Index and folded name of each entry that has a good one."""
        for index, item in check.entries(self._data, section):
            if isinstance(name := item.get("name"), str) and name_problem(name) is None:
                yield index, fold(name)

    def _agent(self, path: KeyPath, item: dict[str, Any]) -> AgentSpec | None:
        entry = self._convert(path, item, AgentEntry)
        if entry is None:
            return None
        spec, faults = resolve.agent_spec(entry, path, self._file.absolute().parent, self._environ)
        self._add(faults)
        return None if path in self._spoiled else spec

    def _channel(self, path: KeyPath, item: dict[str, Any]) -> ChannelSpec | None:
        entry = self._convert(path, item, ChannelEntry)
        agents = None
        if isinstance(self._data.get("agents", []), list):
            agents = {name: self._data["agents"][index]["name"] for index, name in reversed([*self._named("agents")])}
        return None if entry is None else resolve.channel_spec(entry, agents)

    def _limits(self) -> Limits:
        entry = self._section("limits", LimitsEntry)
        limits, faults = resolve.limits(entry)
        self._add(faults)
        return limits

    def _plain(self, section: str, kind: type[T]) -> T:
        return msgspec.convert(self._section(section, check.SECTIONS[section]), kind, from_attributes=True)

    def _section(self, section: str, kind: type[W]) -> W:
        value = self._data.get(section)
        items = value.items() if isinstance(value, dict) and (section,) not in self._spoiled else ()
        good = {key: item for key, item in items if (section, key) not in self._spoiled}
        return self._convert((section,), good, kind) or kind()

    def _convert(self, path: KeyPath, item: dict[str, Any], kind: type[W]) -> W | None:
        known = {key: value for key, value in item.items() if key in kind.__struct_encode_fields__}
        try:
            return msgspec.convert(known, kind)
        except msgspec.ValidationError as error:  # the schema was wider than the type
            self._add([Fault(path, f"This is not as expected: {error}.")])
            return None

    def _problems(self) -> list[Problem]:
        problems = []
        for fault in self._faults.values():
            place = self._document.place(fault.path, fault.at_key)
            problems.append(
                Problem(
                    file=str(self._file),
                    line=place.line,
                    column=place.column,
                    message=fault.message,
                    severity=fault.severity,
                    path=list(fault.path),
                )
            )
        problems.sort(key=lambda problem: (problem.line, problem.column))
        return problems[: check.MAX_PROBLEMS]

    def _kept(self, config: Config) -> frozenset[tuple[str, ...]]:
        good = {(section, fold(spec.name)) for section in check.LISTS for spec in getattr(config, section)}
        kept = {self._keep(path) for path in self._spoiled if path}
        return frozenset(kept - good)

    def _keep(self, path: KeyPath) -> tuple[str, ...]:
        section = str(path[0])
        if len(path) == 1:
            return (section,)
        if section in check.LISTS:
            names = dict(self._named(section))
            return (section, names.get(int(path[1]), ANY))
        return (section, field_name(section, str(path[1])))


def field_name(section: str, key: str) -> str:
    """The Struct field of a key as written: ``idleStop`` → ``idle_stop``; an unknown key is itself."""
    kind = check.SECTIONS.get(section)
    fields = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True)) if kind else {}
    return fields.get(key, key)
