"""What a good file means: defaults, paths, variables, units. And that the schema says the same as the reader."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from sidekicks_bridge.config.amounts import seconds, size
from sidekicks_bridge.config.load import parse
from sidekicks_bridge.config.model import AgentSpec, ChannelSpec, Config, Limits, Messaging, Permissions, Ui
from sidekicks_bridge.config.schema import SCHEMA_FILE, config_schema, config_schema_text
from sidekicks_bridge.config.yamltext import read

ROOT = Path(__file__).parents[2]
FOLDER = Path("/home/ann/.config/sidekicks")
WHOLE = """
agents:
  - name: alice
    title: Alice
    icon: "🦊"
    description: Reviews code
    command: claude-agent-acp
    args: [--acp]
    env: {ANTHROPIC_API_KEY: "${KEY}", PATH: "/opt/x:${PATH}", PLAIN: $KEY, GONE: "${MISSING}"}
    workspace: ../project
    runtime: local
    mcpServers: [{name: files, command: /bin/mcp, args: [], env: []}]
  - name: scout
    builtin: scout
channels:
  - name: general
    description: Everyone
    members: [Alice, scout]
limits:
  maxRunningAgents: 3
  idleStop: 0
  startTimeout: 1.5m
  cancelTimeout: 500ms
  contextMessages: 5
  contextCharacters: 100
  messageBytes: 64KiB
  turnSilence: 90
  keepPrompts: 2h
  maxHops: 0
permissions: {default: reject}
messaging: {agents: on}
ui: {keepRunning: true}
"""


def config(text: str, environ: dict[str, str] | None = None) -> Config:
    parsed = parse(text, FOLDER / "config.yaml", environ or {})
    assert not parsed.errors
    assert parsed.config is not None
    return parsed.config


def test_every_key() -> None:
    assert config(WHOLE, {"KEY": "k", "PATH": "/bin"}) == Config(
        agents=[
            AgentSpec(
                name="alice",
                title="Alice",
                icon="🦊",
                description="Reviews code",
                command="claude-agent-acp",
                args=["--acp"],
                env={"ANTHROPIC_API_KEY": "k", "PATH": "/opt/x:/bin", "PLAIN": "$KEY"},
                workspace="/home/ann/.config/project",
                mcp_servers=[{"name": "files", "command": "/bin/mcp", "args": [], "env": []}],
            ),
            AgentSpec(name="scout", title="scout", builtin="scout"),
        ],
        channels=[ChannelSpec(name="general", description="Everyone", members=["alice", "scout"])],
        limits=Limits(
            max_running_agents=3,
            idle_stop=0.0,
            start_timeout=90.0,
            cancel_timeout=0.5,
            context_messages=5,
            context_characters=100,
            message_bytes=65536,
            turn_silence=90.0,
            keep_prompts=7200.0,
            max_hops=0,
        ),
        permissions=Permissions(default="reject"),
        messaging=Messaging(agents="on"),
        ui=Ui(keep_running=True),
    )


def test_what_is_not_written_has_the_defaults_of_the_model() -> None:
    assert config("agents: []") == Config()
    assert config("agents: []\nlimits: {}\npermissions: {}\nmessaging: {}\nui: {}") == Config()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("claude", "claude"),
        ("/usr/bin/claude", "/usr/bin/claude"),
        ("./claude", f"{FOLDER}/claude"),
        ("bin/my agent", f"{FOLDER}/bin/my agent"),
        ("~/bin/claude", f"{Path.home()}/bin/claude"),
        ("my agent", "my agent"),
    ],
)
def test_commands(written: str, meant: str) -> None:
    assert config(f"agents: [{{name: a, command: {written}}}]").agents[0].command == meant


def test_aliases_and_merges_are_understood() -> None:
    (a, b) = config(
        "agents:\n"
        "  - &a {name: a, command: x, env: &e {K: v}}\n"
        "  - {<<: *a, name: b}\n"
    ).agents  # fmt: skip
    assert (a.command, a.env) == (b.command, b.env) == ("x", {"K": "v"})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("10m", 600),
        ("1.5h", 5400),
        ("250ms", 0.25),
        ("30d", 2_592_000),
        ("7s", 7),
        ("7", 7),
        (7, 7),
        (0, 0),
        (0.5, 0.5),
    ],
)
def test_durations(written: object, meant: float) -> None:
    assert seconds(written) == meant


@pytest.mark.parametrize("written", ["", "m", "10 m", "10M", "-1s", "1e3s", "٣s", "10m ", -1, True, None, [], 10**400])
def test_no_durations(written: object) -> None:
    with pytest.raises(ValueError, match=r"a duration such as"):
        seconds(written)


@pytest.mark.parametrize(("written", "meant"), [("1MiB", 1 << 20), ("64KiB", 1 << 16), ("2MB", 2_000_000), (5, 5)])
def test_sizes(written: object, meant: int) -> None:
    assert size(written) == meant


@pytest.mark.parametrize("written", ["0", 0, "1GiB", "1mib", "0.1B", float("nan"), "257MiB"])
def test_no_sizes(written: object) -> None:
    with pytest.raises(ValueError, match=r"a size such as"):
        size(written)


def test_the_schema_is_valid_and_its_file_is_fresh() -> None:
    Draft202012Validator.check_schema(config_schema())
    written = (ROOT / "schema" / SCHEMA_FILE).read_text(encoding="utf-8")
    assert written == config_schema_text(), "run the generator: make gen"


def test_every_key_is_explained() -> None:
    schema = config_schema()
    sections = [schema, *schema["$defs"].values()]
    keys = {key: value for section in sections for key, value in section["properties"].items()}
    assert {"agents", "mcpServers", "idleStop", "keepRunning", "default"} < keys.keys()
    assert [key for key, value in keys.items() if not (value["title"] and value["description"].endswith("."))] == []


DATA: list[tuple[bool, Any]] = [
    (True, read(WHOLE).data),
    (True, {"agents": [], "limits": None, "channels": None}),
    (False, {"agents": None}),
    (False, {"agents": [{"name": "a"}]}),
    (False, {"agents": [{"name": "a", "command": "x", "builtin": "scout"}]}),
    (False, {"agents": [{"name": "CON", "command": "x"}]}),
    (False, {"agents": [{"name": "a", "command": "x", "title": None}]}),
    (False, {"limits": {"idleStop": "soon"}}),
    (False, {"permissions": {"default": "never"}}),
    (False, {"unknown": 1}),
]


@pytest.mark.parametrize(("good", "data"), DATA)
def test_an_editor_says_what_the_reader_says(good: bool, data: Any) -> None:
    text = json.dumps(data, ensure_ascii=False)
    assert (not parse(text, FOLDER / "c.yaml", {"KEY": "", "PATH": "", "MISSING": ""}).problems) is good
    assert Draft202012Validator(config_schema()).is_valid(data) is good


def test_the_effective_values_are_cheap_to_import() -> None:
    code = "import sys, sidekicks_bridge.config.model; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"ruamel.yaml", "jsonschema", "anyio", "watchfiles"} & set(modules.stdout.split())


def test_a_good_file_needs_no_jsonschema() -> None:
    code = (
        "import sys, pathlib; from sidekicks_bridge.config.load import parse;"
        "print(len(parse('agents: []', pathlib.Path('x')).problems), 'jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "False"]


def test_configurations_are_compared_by_value() -> None:
    assert config(WHOLE) == config(WHOLE)
    assert config(WHOLE) != config(WHOLE.replace("🦊", "x"))
    assert msgspec.structs.replace(Config(), ui=Ui(keep_running=True)) != Config()
