"""The five real agents: how each is installed, pointed at the scripted model, and started. One table; data and files.

Owns what is specific to an agent. Nothing is installed outside the folder given, and no agent sees the user's home.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.real_agents.model import MODEL

if TYPE_CHECKING:
    from collections.abc import Callable

    JSON = dict[str, Any]

HERE = Path(__file__).resolve().parent
INSTALL_SECONDS = 900


@dataclass(frozen=True)
class Place:
    """Where an agent lives: its installation, a home of its own, and the address of its model."""

    installed: Path
    home: Path
    url: str


@dataclass(frozen=True)
class RealAgent:
    """One agent. ``packages``: the first is the agent itself, with its version. ``program``: in its installation.
    ``python``: the oldest Python it runs with, if it is of Python. ``settings`` writes its own configuration
    and gives its variables.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    program: str
    args: tuple[str, ...] = ()
    python: str | None = None
    settings: Callable[[Place], dict[str, str]] = field(default=lambda _place: {})

    def install(self, folder: Path) -> None:
        """Install it into ``folder``, unless just that is there already. Raises CalledProcessError."""
        stamp = folder / "installed.json"
        if stamp.exists() and json.loads(stamp.read_text(encoding="utf-8")) == list(self.packages):
            return
        folder.mkdir(parents=True, exist_ok=True)
        if self.python:
            newer = tuple(map(int, self.python.split("."))) > sys.version_info[:2]
            _run(f"python{self.python}" if newer else sys.executable, "-m", "venv", str(folder))
            _run(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *self.packages)
        else:
            quiet = ("--no-audit", "--no-fund", "--loglevel=error", "--no-save")
            _run("npm", "install", *quiet, "--prefix", str(folder), *self.packages)
        stamp.write_text(json.dumps(list(self.packages)), encoding="utf-8")

    def entry(self, place: Place) -> JSON:
        """Its entry in a configuration of the bridge."""
        place.home.mkdir(parents=True, exist_ok=True)
        folder = place.installed / ("bin" if self.python else "node_modules/.bin")
        env = {"HOME": str(place.home), "XDG_CONFIG_HOME": str(place.home / ".config"), **self.settings(place)}
        return {
            "name": self.name,
            "title": self.title,
            "command": str(folder / self.program),
            "args": list(self.args),
            "env": env,
        }


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=INSTALL_SECONDS)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _opencode(place: Place) -> dict[str, str]:
    options = {"baseURL": f"{place.url}/v1", "apiKey": "none"}
    model = {"name": "Scripted", "limit": {"context": 128_000, "output": 8000}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Script", "options": options, "models": {MODEL: model}}
    settings = {
        "model": f"script/{MODEL}",
        "small_model": f"script/{MODEL}",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"edit": "ask", "bash": "ask", "webfetch": "ask"},
        "provider": {"script": provider},
    }
    _write(place.home / ".config" / "opencode" / "opencode.json", json.dumps(settings))
    names = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return {f"OPENCODE_DISABLE_{name}": "1" for name in names}


def _claude(place: Place) -> dict[str, str]:
    _write(place.home / ".claude" / "settings.json", json.dumps({"permissions": {"defaultMode": "default"}}))
    names = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER")
    sandbox = {"IS_SANDBOX": "1"} if os.geteuid() == 0 else {}  # as root it refuses to run outside one
    return {"ANTHROPIC_BASE_URL": place.url, "ANTHROPIC_API_KEY": "none", **dict.fromkeys(names, "1"), **sandbox}


def _codex(place: Place, *policies: str) -> dict[str, str]:
    lines = [
        'model = "gpt-5.5"',  # it looks its models up in a list of its own
        'model_provider = "script"',
        *(policies or ('approval_policy = "on-request"', 'sandbox_mode = "read-only"')),
        "[model_providers.script]",
        'name = "Script"',
        f'base_url = "{place.url}/v1"',
        'env_key = "SCRIPT_KEY"',
        'wire_api = "responses"',
    ]
    _write(place.home / ".codex" / "config.toml", "\n".join(lines) + "\n")
    return {"SCRIPT_KEY": "none", "NO_BROWSER": "1", "INITIAL_AGENT_MODE": "read-only"}


def _codex_before(place: Place) -> dict[str, str]:
    return _codex(place, 'approval_policy = "untrusted"', 'sandbox_mode = "danger-full-access"')


def _qwen(place: Place) -> dict[str, str]:
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{place.url}/v1", "OPENAI_MODEL": MODEL}


def _gemini(place: Place) -> dict[str, str]:
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "telemetry": {"enabled": False}}
    _write(place.home / ".gemini" / "settings.json", json.dumps(auth))
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": place.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _deepagents(place: Place) -> dict[str, str]:
    return {"SCRIPT_URL": f"{place.url}/v1"}


def _copilot(place: Place) -> dict[str, str]:
    provider = {"BASE_URL": f"{place.url}/v1", "API_KEY": "none"}
    return {"COPILOT_MODEL": MODEL, "COPILOT_OFFLINE": "true"} | {
        f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()
    }


def _kimi(place: Place) -> dict[str, str]:
    model = {"NAME": MODEL, "API_KEY": "none", "PROVIDER_TYPE": "openai", "BASE_URL": f"{place.url}/v1"}
    return {f"KIMI_MODEL_{name}": value for name, value in model.items()}


def _pi(place: Place) -> dict[str, str]:
    provider = {"baseUrl": f"{place.url}/v1", "api": "openai-completions", "apiKey": "none", "models": [{"id": MODEL}]}
    folder = place.home / ".pi" / "agent"
    _write(folder / "models.json", json.dumps({"providers": {"script": provider}}))
    _write(folder / "settings.json", json.dumps({"defaultProvider": "script", "defaultModel": MODEL}))
    return {"PATH": f"{place.installed / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}"}


def _vibe(place: Place) -> dict[str, str]:
    lines = [
        f'active_model = "{MODEL}"',
        "[[providers]]",
        'name = "script"',
        f'api_base = "{place.url}/v1"',
        'api_key_env_var = "SCRIPT_KEY"',
        "[[models]]",
        f'name = "{MODEL}"',
        f'alias = "{MODEL}"',
        'provider = "script"',
    ]
    _write(place.home / ".vibe" / "config.toml", "\n".join(lines) + "\n")
    return {"SCRIPT_KEY": "none"}


def _cline(place: Place) -> dict[str, str]:
    name = "openai-compatible"
    settings = {"provider": name, "apiKey": "none", "model": MODEL, "baseUrl": f"{place.url}/v1"}
    made = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    all_ = {"version": 1, "lastUsedProvider": name, "modes": {}, "providers": {name: made}}
    _write(place.home / ".cline" / "data" / "settings" / "providers.json", json.dumps(all_))
    return {}


def _grok(place: Place) -> dict[str, str]:
    model = f'model = "{MODEL}"\nbase_url = "{place.url}/v1"\nname = "Scripted"\napi_key = "none"\n'
    _write(place.home / ".grok" / "config.toml", f'[models]\ndefault = "{MODEL}"\n[model.{MODEL}]\n{model}')
    return {}


def _openhands(place: Place) -> dict[str, str]:
    model = {"MODEL": f"openai/{MODEL}", "BASE_URL": f"{place.url}/v1", "API_KEY": "none"}
    return {f"LLM_{name}": value for name, value in model.items()}


def _hermes(place: Place) -> dict[str, str]:
    model = {"provider": "custom", "default": MODEL, "base_url": f"{place.url}/v1", "api_key": "none"}
    _write(place.home / ".hermes" / "config.yaml", json.dumps({"model": model}))
    return {}


def _fast_agent(place: Place) -> dict[str, str]:
    return {"GENERIC_BASE_URL": f"{place.url}/v1", "GENERIC_API_KEY": "none"}


FIVE = (
    RealAgent("opencode", "opencode", ("opencode-ai@1.18.33",), "opencode", ("acp",), settings=_opencode),
    RealAgent(
        "claude",
        "Claude Code",
        ("@agentclientprotocol/claude-agent-acp@0.101.0",),
        "claude-agent-acp",
        settings=_claude,
    ),
    RealAgent("codex", "Codex", ("@agentclientprotocol/codex-acp@2.6.0",), "codex-acp", settings=_codex),
    RealAgent(
        "qwen",
        "Qwen Code",
        ("@qwen-code/qwen-code@0.24.4",),
        "qwen",
        ("--acp", "--auth-type", "openai", "--approval-mode", "default"),
        settings=_qwen,
    ),
    RealAgent(
        "deepagents",
        "Deep Agents",
        ("deepagents-acp==0.0.13", "langchain-openai"),
        "python",
        (str(HERE / "deep_agent.py"),),
        python="3.11",
        settings=_deepagents,
    ),
)

OTHERS = (
    RealAgent("gemini", "Gemini CLI", ("@google/gemini-cli@0.61.0",), "gemini", ("--acp",), settings=_gemini),
    RealAgent(
        "claude-zed",
        "Claude Code, before",
        ("@zed-industries/claude-agent-acp@0.23.1",),
        "claude-agent-acp",
        settings=_claude,
    ),
    RealAgent("cline", "Cline", ("cline@3.0.65",), "cline", ("--acp",), settings=_cline),
    RealAgent("copilot", "GitHub Copilot", ("@github/copilot@1.0.102",), "copilot", ("--acp",), settings=_copilot),
    RealAgent("kimi", "Kimi Code", ("@moonshot-ai/kimi-code@2.1.0",), "kimi", ("acp",), settings=_kimi),
    RealAgent("pi", "Pi", ("pi-acp@0.0.34", "@earendil-works/pi-coding-agent@1.6.0"), "pi-acp", settings=_pi),
    RealAgent("vibe", "Mistral Vibe", ("mistral-vibe==3.0.2",), "vibe-acp", python="3.12", settings=_vibe),
    RealAgent(
        "fast-agent",
        "fast-agent",
        ("fast-agent-mcp==0.10.48",),
        "fast-agent",
        ("acp", "-x", "--model", f"generic.{MODEL}"),
        python="3.13",
        settings=_fast_agent,
    ),
    RealAgent(
        "openhands",
        "OpenHands",
        ("openhands==1.16.0",),
        "openhands",
        ("acp", "--override-with-envs"),
        python="3.12",
        settings=_openhands,
    ),
    RealAgent("hermes", "Hermes", ("hermes-agent[acp]==0.19.0",), "hermes-acp", python="3.11", settings=_hermes),
    RealAgent("grok", "Grok Build", ("@xai-official/grok@1.0.41",), "grok", ("agent", "stdio"), settings=_grok),
    RealAgent("codex-zed", "Codex, before", ("@zed-industries/codex-acp@0.16.0",), "codex-acp", settings=_codex_before),
)
"""Run only when named: others, and what two of the five were called before."""
