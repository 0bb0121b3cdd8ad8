"""`sidekicks`: the first word names an entry point; nothing else is imported."""

from __future__ import annotations

import pytest

from sidekicks_bridge import __version__
from sidekicks_bridge.__main__ import main


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {word}" in shown for word in ("chat", "say", "config", "serve", "version"))
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == main(["version"]) == 0
    assert capsys.readouterr().out == f"sidekicks {__version__}\n" * 2


@pytest.mark.parametrize(("word", "hint"), [("chta", " Did you mean `sidekicks chat`?"), ("frobnicate", "")])
def test_an_unknown_command(capsys: pytest.CaptureFixture[str], word: str, hint: str) -> None:
    assert main([word]) == 64
    assert capsys.readouterr().err == (f"sidekicks: there is no command '{word}'.{hint} `sidekicks help` lists them.\n")
