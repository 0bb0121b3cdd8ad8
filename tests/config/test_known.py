"""The table of known agents, and a first configuration that uses what is installed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.config.first_run import create, entry_text, first_text, npx_entry
from sidekicks_bridge.config.known import KNOWN_AGENTS, found_agents, known_by_command
from sidekicks_bridge.config.load import parse
from sidekicks_bridge.names import name_problem

if TYPE_CHECKING:
    from pathlib import Path


def test_the_table() -> None:
    assert [known.name for known in KNOWN_AGENTS if name_problem(known.name)] == []
    assert len({known.name for known in KNOWN_AGENTS}) == len({known.command for known in KNOWN_AGENTS})
    assert len(KNOWN_AGENTS) >= 14
    for known in KNOWN_AGENTS:
        assert known.install
        assert known.link.startswith("https://")


@pytest.mark.parametrize("npx", [True, False])
@pytest.mark.parametrize("count", [0, 1, len(KNOWN_AGENTS)])
def test_every_first_configuration_is_without_problems(tmp_path: Path, count: int, npx: bool) -> None:
    found = list(KNOWN_AGENTS[:count])
    text = first_text(found, npx=npx)
    parsed = parse(text, tmp_path / "config.yaml", {})
    assert parsed.problems == []
    assert parsed.config is not None
    assert [spec.name for spec in parsed.config.agents] == ["scout", "scribe", *(known.name for known in found)]
    for spec, known in zip(parsed.config.agents[2:], found, strict=True):
        assert (spec.command, tuple(spec.args)) == (known.command, known.args)
    assert ("npx" in text) == (npx and count < len(KNOWN_AGENTS))


@pytest.mark.parametrize("known", KNOWN_AGENTS, ids=lambda known: known.name)
def test_every_entry_can_be_uncommented(tmp_path: Path, known: object) -> None:
    assert isinstance(known, type(KNOWN_AGENTS[0]))
    entries = [entry_text(known, known.command, known.args)]
    if known.package:
        entries.append(npx_entry(known))
    for entry in entries:
        parsed = parse("agents:\n" + entry, tmp_path / "c.yaml", {})
        assert parsed.problems == []


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("codex-acp", "codex"),
        ("/opt/bin/codex-acp", "codex"),
        (r"C:\npm\codex-acp.cmd", "codex"),
        ("codex", None),
        ("", None),
    ],
)
def test_a_known_agent_by_its_command(command: str, name: str | None) -> None:
    known = known_by_command(command)
    assert (known.name if known else None) == name


def test_what_is_on_path_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "goose").write_text("#!/bin/sh\n", encoding="utf-8")
    (bin_ / "goose").chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_))
    assert [known.name for known in found_agents(shutil.which)] == ["goose"]
    config = tmp_path / "config.yaml"
    assert create(config)
    parsed = parse(config.read_text(encoding="utf-8"), config, {})
    assert parsed.config is not None
    assert parsed.config.agents[-1].name == "goose"
