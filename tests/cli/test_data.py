"""Histories on this machine: listed, and given back to a configuration that was moved. With the real bridge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cli.test_with_the_bridge import office, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

__all__ = ["office"]


def move(office: Desk) -> Path:
    """Say something with a configuration, then move the file."""
    first = office.folder / "team.yaml"
    first.write_text("agents:\n  - name: scout\n    builtin: scout\n", encoding="utf-8")
    assert run(office, "say", "@scout", "where are routes decided?", "--config", "team.yaml").returncode == 0
    assert run(office, "stop", "--config", "team.yaml").returncode == 0
    return first.rename(office.folder / "moved.yaml")


def rows(office: Desk, config: str) -> dict[str, dict[str, object]]:
    listed = json.loads(run(office, "data", "--json", "--config", config).stdout)
    return {row["configPath"].rpartition("/")[2]: row for row in listed}


def test_a_history_is_found_and_given_back(office: Desk) -> None:
    moved = move(office)
    orphan = rows(office, "moved.yaml")["team.yaml"]
    assert (orphan["orphan"], orphan["messages"]) == (True, 2)
    assert "2 messages" in run(office, "data").stdout
    assert "(that file is gone)" in run(office, "data").stdout
    adopted = run(office, "data", "adopt", str(orphan["folder"]), "--config", "moved.yaml")
    assert adopted.returncode == 0, adopted.stderr
    assert set(rows(office, "moved.yaml")) == {"moved.yaml"}
    assert "where are routes decided?" in run(office, "log", "@scout", "--config", str(moved)).stdout


def test_what_there_was_is_kept_under_another_name(office: Desk) -> None:
    move(office)
    assert run(office, "say", "@scout", "/todo", "--config", "moved.yaml").returncode == 0
    orphan = str(rows(office, "moved.yaml")["team.yaml"]["folder"])
    name = orphan.rpartition("/")[2]
    refused = run(office, "data", "adopt", name, "--config", "moved.yaml")
    assert (refused.returncode, "`sidekicks stop` ends it" in refused.stderr) == (1, True)
    assert run(office, "stop", "--config", "moved.yaml").returncode == 0
    adopted = run(office, "data", "adopt", name, "--config", "moved.yaml")
    aside = adopted.stdout.strip().rpartition("What it had before is kept in ")[2].rstrip(".")
    assert run(office, "log", "@scout", "--config", "moved.yaml").stdout.count("where are routes decided?") == 1
    back = run(office, "data", "adopt", aside, "--config", "moved.yaml")
    assert back.returncode == 0, back.stderr
    assert "/todo" in run(office, "log", "@scout", "--config", "moved.yaml").stdout


def test_what_is_no_history_is_refused(office: Desk) -> None:
    for words, told in (
        (("adopt", "nowhere"), "There is no history in"),
        (("adopt", "."), "There is no history in"),
        (("adopt",), "adopt needs the folder of a history"),
        (("forget",), "invalid choice"),
    ):
        done = run(office, "data", *words)
        assert told in done.stderr
        assert done.returncode in (1, 64)
