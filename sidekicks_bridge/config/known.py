"""The agents that are known to speak ACP: how each is started, found and installed. One table; data only.

An agent that is not here works as well: it only has to be written into the configuration by hand.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable


class KnownAgent(msgspec.Struct, frozen=True, kw_only=True):
    """One program. ``command`` is looked for on PATH; ``package``: what npx can run without installing it."""

    name: str
    title: str
    icon: str
    description: str
    command: str
    args: tuple[str, ...] = ()
    package: str | None = None
    install: str
    link: str


KNOWN_AGENTS: tuple[KnownAgent, ...] = (
    KnownAgent(
        name="claude",
        title="Claude",
        icon="🦊",
        description="Claude Code, by its ACP adapter",
        command="claude-agent-acp",
        package="@zed-industries/claude-agent-acp",
        install="npm install -g @zed-industries/claude-agent-acp",
        link="https://github.com/zed-industries/claude-agent-acp",
    ),
    KnownAgent(
        name="codex",
        title="Codex",
        icon="🧭",
        description="OpenAI Codex, by its ACP adapter",
        command="codex-acp",
        package="@zed-industries/codex-acp",
        install="npm install -g @zed-industries/codex-acp",
        link="https://github.com/zed-industries/codex-acp",
    ),
    KnownAgent(
        name="gemini",
        title="Gemini",
        icon="💎",
        description="Gemini CLI",
        command="gemini",
        args=("--experimental-acp",),
        package="@google/gemini-cli",
        install="npm install -g @google/gemini-cli",
        link="https://github.com/google-gemini/gemini-cli",
    ),
    KnownAgent(
        name="opencode",
        title="opencode",
        icon="🛠️",
        description="opencode",
        command="opencode",
        args=("acp",),
        package="opencode-ai",
        install="npm install -g opencode-ai",
        link="https://opencode.ai",
    ),
    KnownAgent(
        name="qwen",
        title="Qwen",
        icon="🐼",
        description="Qwen Code",
        command="qwen",
        args=("--acp",),
        package="@qwen-code/qwen-code",
        install="npm install -g @qwen-code/qwen-code",
        link="https://github.com/QwenLM/qwen-code",
    ),
    KnownAgent(
        name="copilot",
        title="Copilot",
        icon="🛩️",
        description="GitHub Copilot CLI",
        command="copilot",
        args=("--acp",),
        package="@github/copilot",
        install="npm install -g @github/copilot",
        link="https://github.com/github/copilot-cli",
    ),
    KnownAgent(
        name="goose",
        title="Goose",
        icon="🪿",
        description="Goose",
        command="goose",
        args=("acp",),
        install="see https://block.github.io/goose",
        link="https://block.github.io/goose",
    ),
    KnownAgent(
        name="vibe",
        title="Vibe",
        icon="🐈",
        description="Mistral Vibe",
        command="vibe-acp",
        install="uv tool install mistral-vibe",
        link="https://github.com/mistralai/mistral-vibe",
    ),
    KnownAgent(
        name="fast-agent",
        title="fast-agent",
        icon="⚡",
        description="fast-agent",
        command="fast-agent-acp",
        install="uv tool install fast-agent-acp",
        link="https://fast-agent.ai",
    ),
    KnownAgent(
        name="openhands",
        title="OpenHands",
        icon="🙌",
        description="OpenHands CLI",
        command="openhands",
        args=("acp",),
        install="uv tool install openhands",
        link="https://github.com/OpenHands/OpenHands-CLI",
    ),
    KnownAgent(
        name="pi",
        title="Pi",
        icon="🥧",
        description="Pi, by its ACP adapter",
        command="pi-acp",
        package="pi-acp",
        install="npm install -g pi-acp",
        link="https://github.com/svkozak/pi-acp",
    ),
    KnownAgent(
        name="hermes",
        title="Hermes",
        icon="🪽",
        description="Hermes Agent",
        command="hermes-acp",
        install="see https://github.com/NousResearch/hermes-agent",
        link="https://github.com/NousResearch/hermes-agent",
    ),
    KnownAgent(
        name="cursor",
        title="Cursor",
        icon="🖱️",
        description="Cursor's agent",
        command="cursor-agent",
        args=("acp",),
        install="see https://cursor.com/cli",
        link="https://cursor.com/cli",
    ),
    KnownAgent(
        name="auggie",
        title="Auggie",
        icon="🔎",
        description="Augment's Auggie",
        command="auggie",
        args=("--acp",),
        package="@augmentcode/auggie",
        install="npm install -g @augmentcode/auggie",
        link="https://www.augmentcode.com",
    ),
    KnownAgent(
        name="kimi",
        title="Kimi",
        icon="🌙",
        description="Kimi CLI",
        command="kimi",
        args=("acp",),
        install="uv tool install kimi-cli",
        link="https://github.com/MoonshotAI/kimi-cli",
    ),
)


def known_by_command(command: str) -> KnownAgent | None:
    """The entry whose program ``command`` (a name or a path) is."""
    name = command.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".cmd").removesuffix(".exe")
    return next((known for known in KNOWN_AGENTS if known.command == name), None)


def found_agents(which: Callable[[str], str | None] = shutil.which) -> list[KnownAgent]:
    """The known agents whose program is on PATH."""
    return [known for known in KNOWN_AGENTS if which(known.command) is not None]
