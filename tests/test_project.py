"""What holds for every file of the project: sizes, docstrings, tasks and errors, what an import costs."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.cli.spawn import bridge_command

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = sorted((ROOT / "sidekicks_bridge").rglob("*.py"))
PYTHON = [*PACKAGE, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "scripts").rglob("*.py"))]

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
TOO_LONG: frozenset[str] = frozenset()
"""Files (``path``) and functions (``path::name``) that may be longer. Give the reason beside an entry."""

CATCH_ALL = frozenset(
    {
        "sidekicks_bridge/agents/supervise.py",  # a child task's failure is contained
        "sidekicks_bridge/agents/transport.py",  # a frame that cannot be handled is contained
        "sidekicks_bridge/bridge/bridge.py",  # a child task's failure is contained
        "sidekicks_bridge/builtin/acp_agent.py",  # a turn's failure is mapped to the wire
        "sidekicks_bridge/channels/inbox.py",  # a command's failure goes to whoever gave it
        "sidekicks_bridge/channels/turn_flow.py",  # a turn's failure is contained
        "sidekicks_bridge/server/connection.py",  # a request's failure is mapped to the wire
        "sidekicks_bridge/store/worker.py",  # a job's failure goes to whoever gave it
    }
)

POLLS = frozenset({"tests/agents/test_processes.py"})  # no event tells that a process of another parent has ended
"""Tests that look again and again, because nothing would tell them."""

HOT = {
    "sidekicks_bridge": {"msgspec", "anyio", "asyncio", "json", "argparse"},
    "sidekicks_bridge.__main__": {"msgspec", "anyio", "asyncio", "pygls", "acp", "prompt_toolkit", "rich"},
    "sidekicks_bridge.relay": {"msgspec", "anyio", "asyncio", "pygls", "acp", "prompt_toolkit", "rich"},
    "sidekicks_bridge.cli.serve": {"msgspec", "anyio", "asyncio", "pygls", "acp"},
    "sidekicks_bridge.cli.doctor": {"msgspec", "anyio", "asyncio", "pygls", "acp"},
    "sidekicks_bridge.cli.hub": {"msgspec", "anyio", "asyncio", "pygls", "acp"},
    "sidekicks_bridge.cli.mail": {"cryptography", "msgspec", "anyio", "json", "pathlib", "re", "socket", "typing"},
    "sidekicks_bridge.mail.signing": {"cryptography", "msgspec", "anyio", "json", "pathlib", "re", "socket", "typing"},
    "sidekicks_bridge.cli.mcp": {"msgspec", "anyio", "asyncio", "argparse", "cryptography", "threading", "pygls"},
    "sidekicks_bridge.cli.say": {"pygls", "lsprotocol", "acp", "prompt_toolkit", "rich", "jsonschema", "tinydb"},
    "sidekicks_bridge.protocol.methods": {"anyio", "asyncio", "jsonschema", "pygls", "acp"},
    "sidekicks_bridge.builtin": {"acp", "pydantic", "msgspec", "anyio"},
}
"""Modules that must start fast → what their import must not bring along."""


@pytest.fixture(scope="module", autouse=True)
def no_collecting() -> Iterator[None]:
    """The trees of all files stay until the last test; to look for garbage in them takes longer than to parse them."""
    gc.disable()
    yield
    gc.enable()


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file()]


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a file: it is walked once, for all that is asked of it."""
    return tuple(ast.walk(parse(path)))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def calls(path: Path) -> Iterator[tuple[str, int]]:
    """The dotted name and line of every call in a file."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno


def test_no_file_is_longer_than_the_ceiling() -> None:
    clients = [*(ROOT / "clients").rglob("src/*.ts"), *(ROOT / "clients").rglob("*.lua")]
    sources = [*PYTHON, *(path for path in clients if "node_modules" not in path.parts)]
    generated = {ROOT / "clients/vscode/src/protocol.gen.ts", ROOT / "clients/neovim/lua/sidekicks/protocol.lua"}
    long = {
        name_of(path): lines
        for path in sources
        if path not in generated and (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert {name: lines for name, lines in long.items() if name not in TOO_LONG} == {}


def test_no_function_is_longer_than_the_ceiling() -> None:
    long = {
        f"{name_of(path)}::{node.name}": lines
        for path in PYTHON
        for node in functions(path)
        if (lines := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert {name: lines for name, lines in long.items() if name not in TOO_LONG} == {}


def test_no_exception_is_stale() -> None:
    assert {name for name in CATCH_ALL | POLLS if not (ROOT / name).is_file()} == set()
    known = {name_of(path) for path in PYTHON} | {f"{name_of(p)}::{node.name}" for p in PYTHON for node in functions(p)}
    assert TOO_LONG - known == set()


def test_every_module_says_what_it_owns() -> None:
    assert [name_of(path) for path in PYTHON if not ast.get_docstring(parse(path)) and path.stat().st_size] == []


def test_every_module_postpones_annotations() -> None:
    def postpones(tree: ast.Module) -> bool:
        return any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)

    def has_code(tree: ast.Module) -> bool:
        return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in tree.body)

    trees = {name_of(path): parse(path) for path in PYTHON}
    assert [name for name, tree in trees.items() if has_code(tree) and not postpones(tree)] == []


def test_tasks_belong_to_a_task_group() -> None:
    loose = ("create_task", "ensure_future", "run_coroutine_threadsafe")
    found = [f"{name_of(path)}:{line}" for path in PACKAGE for name, line in calls(path) if name.endswith(loose)]
    assert found == []


def test_every_wire_struct_says_kw_only() -> None:
    """msgspec does not hand ``kw_only`` of a base class on to the fields of a subclass."""
    missing = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in PACKAGE
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
        and "Wire" in [ast.unparse(base) for base in node.bases]
        and "kw_only=True" not in [f"{word.arg}={ast.unparse(word.value)}" for word in node.keywords]
    ]
    assert missing == []


def test_a_test_waits_for_the_event_instead_of_sleeping() -> None:
    """The fake agent is no test but a program: sleeping is part of what it plays."""
    sleeps = [
        f"{name_of(path)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if ROOT / "tests" / "fake_agent" not in path.parents and name_of(path) not in POLLS
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and "sleep" in (getattr(node.func, "attr", ""), getattr(node.func, "id", ""))
        and [ast.unparse(argument) for argument in node.args] != ["0"]
    ]
    assert sleeps == []


def test_everything_is_caught_only_where_it_is_contained_or_mapped() -> None:
    found = {
        f"{name_of(path)}:{node.lineno}"
        for path in PACKAGE
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler)
        and name_of(path) not in CATCH_ALL
        and ast.unparse(node.body[-1]) != "raise"
        and (node.type is None or {"Exception", "BaseException"} & set(re.findall(r"\w+", ast.unparse(node.type))))
    }
    assert found == set()


def test_no_platform_module_is_imported_where_windows_would_stumble() -> None:
    absent = {"fcntl", "resource", "pwd", "grp", "termios"}
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in PACKAGE
        for node in parse(path).body
        if (isinstance(node, ast.Import) and {alias.name for alias in node.names} & absent)
        or (isinstance(node, ast.ImportFrom) and node.module in absent)
    ]
    assert found == []


def test_no_file_names_a_machine() -> None:
    private = re.compile(
        rb"/(?:work|root)/|" + re.escape(str(Path.home()).encode()) + rb"/|files\.pythonhosted|://pypi\."
    )
    own = Path(__file__)
    assert [name_of(path) for path in tracked() if path != own and private.search(path.read_bytes())] == []


def test_constraints_pin_versions_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.!+]+|#.*", line)] == []


def test_the_bridge_imports_nothing_from_the_folder_it_is_started_in(tmp_path: Path) -> None:
    """A workspace is not trusted to run code, and may well be a copy of this project."""
    for module in ("json", "sidekicks_bridge"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('imported from the folder')", encoding="utf-8")
    command = [*bridge_command(None)[:-1], "version"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True)
    assert run.stderr == ""
    assert run.stdout.startswith("sidekicks ")


@pytest.mark.parametrize(
    "module",
    [
        name
        for name in HOT
        if (ROOT / name.replace(".", "/")).is_dir() or (ROOT / (name.replace(".", "/") + ".py")).is_file()
    ],
)
def test_importing_a_hot_module_brings_nothing_heavy(module: str) -> None:
    script = f"import sys, {module}; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, text=True)
    assert set(run.stdout.split()) & HOT[module] == set()
