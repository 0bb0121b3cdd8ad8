"""The documentation says what is so: links lead somewhere, paths exist, examples run, references are whole."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from sidekicks_bridge.__main__ import main
from sidekicks_bridge.cli import chat_keys, exit_codes
from sidekicks_bridge.config.load import parse
from sidekicks_bridge.config.schema import config_schema

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMED_PATH = re.compile(r"`((?:sidekicks_bridge|schema|tests|docs|clients|scripts|\.ci)/[\w./-]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: the words after the fence, and what stands in it."""

    page: Path
    line: int
    info: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fences = re.finditer(r"^```([^\n`]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(page, text.count("\n", 0, f.start()) + 1, f[1].strip(), f[2]) for f in fences]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


COMMANDS = [
    "chat",
    "say",
    "channels",
    "log",
    "search",
    "export",
    "status",
    "stop",
    "agents",
    "agents available",
    "doctor",
    "sessions",
    "data",
    "trust",
    "config path",
    "config check",
    "hub",
    "serve",
]
BLOCKS = [block for page in PAGES for block in blocks(page)]


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_path_that_is_named_exists(page: Path) -> None:
    assert [name for name in NAMED_PATH.findall(prose(page)) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.info == "yaml"], ids=str)
def test_every_yaml_example_is_a_configuration_without_problems(block: Block, tmp_path: Path) -> None:
    parsed = parse(block.text, tmp_path / "config.yaml", {"ANTHROPIC_API_KEY": "a key", "HOME": str(tmp_path)})
    assert [problem.message for problem in parsed.problems] == []
    assert parsed.config is not None
    assert parsed.config.agents


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.info == "sh runnable"], ids=str)
def test_every_runnable_example_runs(block: Block, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "sidekicks"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sidekicks_bridge "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SIDEKICKS_")},
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    run = subprocess.run(
        ["sh", "-eu", "-c", block.text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    subprocess.run([command, "stop"], env=environment, capture_output=True, check=True)
    assert run.returncode == 0, run.stderr


def sections(page: str) -> dict[str, str]:
    """The parts of a page by their second-level headings."""
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    return {part.partition("\n")[0]: part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}


def test_the_configuration_reference_has_every_key_with_its_default() -> None:
    schema, parts = config_schema(), sections("configuration.md")
    missing = []
    for section, entry in schema["properties"].items():
        definition = schema["$defs"][(entry.get("items") or entry)["$ref"].rpartition("/")[2]]
        for key, value in definition["properties"].items():
            row = re.search(rf"^\| `{key}` \|.*\| ?(.*?) ?\|$", parts[section], re.MULTILINE)
            default = value.get("default")
            written = str(default).lower() if isinstance(default, bool) else str(default)
            if row is None or (default is not None and row[1] != f"`{written}`"):
                missing.append(f"{section}.{key} (default {written})")
    assert missing == []


def test_the_command_line_reference_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    main(["help"])
    commands = re.findall(r"^  (\w+) ", capsys.readouterr().out, re.MULTILINE)
    headings = " ".join(sections("cli.md"))
    assert commands
    assert [command for command in commands if not re.search(rf"\b{command}\b", headings)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_reference_has_every_option(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    options = set(re.findall(r"--[a-z][a-z-]+", text.partition("exit codes")[0])) - {"--help"}
    parts = sections("cli.md").items()
    section = next(part for title, part in parts if re.search(rf"\b{command.split()[0]}\b", title))
    assert "--config" in options or command == "trust"
    assert {option for option in options if f"`{option}`" not in section} == set()


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    requirements = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    reasons = (ROOT / "docs" / "adr" / "0005-dependencies.md").read_text(encoding="utf-8").lower()
    names = [re.split(r"[<>=]", requirement)[0] for requirement in requirements]
    assert [name for name in names if not re.search(rf"\b{re.escape(name)}\b", reasons)] == []


def test_the_keys_of_the_terminal_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "how-to" / "use-in-a-terminal.md").read_text(encoding="utf-8")
    table = page.partition("| Key |")[2]
    assert re.findall(r"^\| ([^-|][^|]*) \| (.+) \|$", table, re.MULTILINE) == list(chat_keys.HELP)


def codes(text: str, pattern: str) -> list[str]:
    return re.findall(pattern, text, re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "promise"),
    [("say", exit_codes.HELP), ("export", exit_codes.HISTORY_HELP), ("stop", exit_codes.OWNER_HELP)],
)
def test_the_exit_codes_are_those_of_the_code(command: str, promise: str) -> None:
    promised = codes(promise, r"^  (\d+) +(.+)$")
    pages = [next(part for title, part in sections("cli.md").items() if re.search(rf"\b{command}\b", title))]
    if command == "say":
        pages.append((ROOT / "docs" / "how-to" / "write-scripts.md").read_text(encoding="utf-8"))
    for page in pages:
        assert codes(page, r"^\| (\d+) \| (.+) \|$") == promised
