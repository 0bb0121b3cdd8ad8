"""A script that writes to agents: they work where it registered, and one that cannot answer is an error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.mail.test_cli import Shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIG = """\
agents:
  - name: scout
    builtin: scout
  - name: ghost
    command: no-such-program-anywhere
messaging:
  agents: "on"
"""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    shell.box.config_path.write_text(CONFIG, encoding="utf-8")
    try:
        yield shell
    finally:
        shell.ok("stop")


def test_agents_work_where_the_script_registered(shell: Shell) -> None:
    (shell.box.folder / "kitchen.txt").write_text("The kettle is on the second shelf.\n", encoding="utf-8")
    shell.ok("register", "cat")
    assert "kitchen.txt:1" in shell.ok("ask", "scout", "where is the kettle?", name="cat")


def test_an_agent_that_cannot_answer_is_an_error(shell: Shell) -> None:
    shell.ok("register", "cat")
    code, out, err = shell.run("ask", "ghost", "hello", name="cat")
    assert (code, out) == (1, "")
    assert "no-such-program-anywhere" in err
    code, out, err = shell.run("ask", "ghost", "hello", "--json", name="cat")
    assert (code, err) == (1, "")
    assert json.loads(out)["message"]["failed"] is True
