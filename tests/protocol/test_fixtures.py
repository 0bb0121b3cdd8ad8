"""The law, as files: each of `schema/fixtures` begins with a snapshot, has events, and ends with the snapshot after.

TypeScript and Lua replay the same files; here every event and snapshot is checked against the schema too.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from sidekicks_bridge.protocol.codegen.__main__ import ROOT
from sidekicks_bridge.protocol.codegen.schema import protocol_schema
from sidekicks_bridge.protocol.reducer import reduce, sort_key

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = sorted((ROOT / "schema" / "fixtures").glob("*.jsonl"))
SCHEMA = protocol_schema()
KNOWN = [path for path in FIXTURES if not path.stem.startswith("unknown-")]
"""All but those about what this version of the protocol has no words for."""


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def valid(reference: dict[str, Any], value: object) -> None:
    jsonschema.Draft202012Validator({**reference, "$defs": SCHEMA["$defs"]}).validate(value)


def stem(path: Path) -> str:
    return path.stem


def test_there_are_fixtures_for_every_event_of_a_channel() -> None:
    seen = {line["event"]["method"] for path in FIXTURES for line in lines_of(path) if "event" in line}
    opened = {name for name, event in SCHEMA["x-events"].items() if event["to"] == "opened"}
    assert opened - seen == set()


@pytest.mark.parametrize("fixture", FIXTURES, ids=stem)
def test_snapshot_and_events_give_the_later_snapshot(fixture: Path) -> None:
    first, *events, last = lines_of(fixture)
    snapshot = first["snapshot"]
    for line in events:
        before = copy.deepcopy(snapshot)
        after = reduce(snapshot, line["event"])
        assert snapshot == before, "the reducer changed what it was given"
        snapshot = after
    assert snapshot == last["snapshot"]


@pytest.mark.parametrize("fixture", FIXTURES, ids=stem)
def test_snapshots_are_in_order(fixture: Path) -> None:
    for line in lines_of(fixture):
        if "snapshot" in line:
            messages = line["snapshot"]["messages"]
            assert messages == sorted(messages, key=sort_key)


@pytest.mark.parametrize("fixture", KNOWN, ids=stem)
def test_snapshots_and_events_fit_the_schema(fixture: Path) -> None:
    for line in lines_of(fixture):
        if "snapshot" in line:
            valid({"$ref": "#/$defs/OpenedChannel"}, line["snapshot"])
        else:
            valid(SCHEMA["x-events"][line["event"]["method"]]["params"], line["event"]["params"])
