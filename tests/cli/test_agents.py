"""`sidekicks agents`: who is configured and how they do, and what else could be an agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fake_agent import command

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


def run(desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        desk.sidekicks(*words),
        cwd=desk.folder,
        env=desk.env,
        capture_output=True,
        encoding="utf-8",
        timeout=40,
        check=False,
    )


def test_the_configured_agents_with_and_without_a_bridge(desk: Desk) -> None:
    program, *args = command("--exit", "3")
    config = desk.folder / "c.yaml"
    agents = [{"name": "scout", "builtin": "scout"}, {"name": "bad", "command": program, "args": args}]
    config.write_text(json.dumps({"agents": agents}), encoding="utf-8")
    desk.env["SIDEKICKS_CONFIG"] = str(config)
    shown = run(desk, "agents").stdout.splitlines()
    assert shown[0].split() == ["@scout", "stopped", "built", "in", "(scout)"]
    run(desk, "say", "@bad", "hello")
    try:
        rows = {row["name"]: row for row in json.loads(run(desk, "agents", "--json").stdout)}
        assert rows["bad"]["state"] == "error"
        assert "exited with code 3" in rows["bad"]["error"]
        assert "exited with code 3" in run(desk, "agents").stdout
    finally:
        run(desk, "stop")


def test_a_list_is_broken_at_blanks_and_keeps_its_indent(desk: Desk) -> None:
    config = desk.folder / "c.yaml"
    agent = {"name": "bob", "command": "some-program", "args": ["--with-a-long-option", "and-another-word"]}
    config.write_text(json.dumps({"agents": [agent]}), encoding="utf-8")
    terminal = desk.open(desk.sidekicks("agents", "--config", str(config)), columns=60)
    assert terminal.wait_for_end() == 0
    assert [row.rstrip() for row in terminal.text().split("\n") if row.strip()] == [
        "@bob              stopped   some-program",
        "                            --with-a-long-option",
        "                            and-another-word",
    ]


def test_what_else_could_be_one(desk: Desk) -> None:
    bin_ = desk.folder / "bin"
    bin_.mkdir()
    for name in ("goose", "codex-acp"):
        (bin_ / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (bin_ / name).chmod(0o755)
    desk.env["PATH"] = f"{bin_}:{Path(sys.executable).parent}"
    config = desk.folder / "c.yaml"
    config.write_text(
        "agents:\n  - name: mine\n    command: codex-acp\n"
        '  - name: far\n    command: npx\n    args: [--yes, "@zed-industries/claude-agent-acp"]\n',
        encoding="utf-8",
    )
    done = run(desk, "agents", "available", "--config", str(config))
    lines = {line.split()[0]: line.split(maxsplit=1)[1].strip() for line in done.stdout.splitlines()}
    assert lines["Codex"] == "configured"
    assert lines["Claude"] == "configured"
    assert lines["Goose"] == "found, not configured: goose acp"
    assert lines["Gemini"] == "npm install -g @google/gemini-cli"


def test_a_configuration_that_cannot_be_read_is_told_where_it_is_needed(desk: Desk) -> None:
    config = desk.folder / "c.yaml"
    config.write_text("agents:\n  - name: [x", encoding="utf-8")
    desk.env["SIDEKICKS_CONFIG"] = str(config)
    try:
        for words in (["agents"], ["say", "@scout", "hi"], ["chat", "@scout"], ["doctor", "scout"]):
            done = run(desk, *words)
            assert (done.returncode, done.stdout) == (1, "")
            assert f"{config}:2:" in done.stderr
            assert "sidekicks config edit" in done.stderr
    finally:
        run(desk, "stop")


def test_an_agent_left_out_for_an_error_is_explained_and_a_slip_mended(desk: Desk) -> None:
    config = desk.folder / "c.yaml"
    config.write_text("agents:\n  - {name: bob, builtin: scout}\n  - {name: ann, bultin: x}\n", encoding="utf-8")
    desk.env["SIDEKICKS_CONFIG"] = str(config)
    try:
        left_out = run(desk, "say", "@ann", "hi")
        assert left_out.returncode == 5
        assert f"{config}:3:" in left_out.stderr
        done = run(desk, "agents", "signin", "bbo")
        assert done.returncode == 5
        assert "There is no agent '@bbo'. Did you mean '@bob'?" in done.stderr
    finally:
        run(desk, "stop")


def test_wrong_words(desk: Desk) -> None:
    assert run(desk, "agents", "nonsense").returncode == 64
    assert run(desk, "agents", "--config", "none.yaml").returncode == 1
