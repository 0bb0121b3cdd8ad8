"""What is generated from the protocol is fresh, and says what the Structs say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import jsonschema
import msgspec
import pytest

from sidekicks_bridge.protocol.base import to_builtins
from sidekicks_bridge.protocol.codegen.__main__ import COMMAND, ROOT, main, outputs, stale, write
from sidekicks_bridge.protocol.codegen.schema import protocol_schema
from sidekicks_bridge.protocol.events import EVENTS, SessionChanged
from sidekicks_bridge.protocol.methods import METHODS
from sidekicks_bridge.protocol.parts import TextPart, ToolCallPart
from sidekicks_bridge.protocol.types import Author, Message

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("path", outputs())
def test_the_committed_file_is_fresh(path: str) -> None:
    assert path not in stale(ROOT), f"{path} is stale: run `{COMMAND}` and commit the result"


def test_check_names_each_stale_file_and_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sidekicks_bridge.protocol.codegen.__main__.ROOT", tmp_path)
    write(tmp_path)
    assert main(["--check"]) == 0
    path = "clients/vscode/src/protocol.gen.ts"
    (tmp_path / path).write_text("edited by hand", encoding="utf-8")
    (tmp_path / "schema/protocol.schema.json").unlink()
    assert main(["--check"]) == 1
    complaint = capsys.readouterr().err
    assert path in complaint
    assert "schema/protocol.schema.json" in complaint
    assert complaint.count(COMMAND) == 2
    assert (tmp_path / path).read_text(encoding="utf-8") == "edited by hand"


def test_rendering_twice_gives_the_same() -> None:
    assert [render() for render in outputs().values()] == [render() for render in outputs().values()]


def test_the_schema_is_a_schema_and_refers_only_to_what_it_defines() -> None:
    schema = protocol_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    references = set(re.findall(r"#/\$defs/(\w+)", msgspec.json.encode(schema).decode()))
    assert references <= set(schema["$defs"])
    assert {method.name for method in METHODS} == set(schema["x-methods"])
    assert {event.name for event in EVENTS} == set(schema["x-events"])


def test_every_definition_has_a_description() -> None:
    records = {name: it for name, it in protocol_schema()["$defs"].items() if it.get("type") == "object"}
    assert [name for name, it in records.items() if not it.get("description")] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (
            "Message",
            Message(
                id="1",
                channel_id="c",
                author=Author(kind="user"),
                parts=[
                    TextPart(text="hi"),
                    ToolCallPart(id="t", kind="edit", title="Edit", status="pending", content=[], locations=[]),
                ],
                created_at="2026-11-30T12:00:00.000Z",
                state="queued",
            ),
        ),
        ("SessionChanged", SessionChanged(channel_id="c", agent="alice")),
    ],
)
def test_what_the_bridge_sends_fits_the_schema(name: str, value: object) -> None:
    schema = protocol_schema()
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
    validator.validate(to_builtins(value))


def test_null_for_an_optional_field_does_not_fit_the_schema() -> None:
    schema = protocol_schema()
    validator = jsonschema.Draft202012Validator({"$ref": "#/$defs/Author", "$defs": schema["$defs"]})
    assert not validator.is_valid({"kind": "agent", "name": None})
