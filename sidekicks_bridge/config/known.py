"""The agents that are known to speak ACP: how each is started, found and installed. One table; data only.

Packages and arguments are those of the public ACP registry (agentclientprotocol/registry), where an agent is in it.
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
        package="@agentclientprotocol/claude-agent-acp",
        install="npm install -g @agentclientprotocol/claude-agent-acp",
        link="https://github.com/agentclientprotocol/claude-agent-acp",
    ),
    KnownAgent(
        name="codex",
        title="Codex",
        icon="🧭",
        description="OpenAI Codex, by its ACP adapter",
        command="codex-acp",
        package="@agentclientprotocol/codex-acp",
        install="npm install -g @agentclientprotocol/codex-acp",
        link="https://github.com/agentclientprotocol/codex-acp",
    ),
    KnownAgent(
        name="gemini",
        title="Gemini",
        icon="💎",
        description="Gemini CLI",
        command="gemini",
        args=("--acp",),
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
        command="fast-agent",
        args=("acp", "-x"),
        install="uv tool install fast-agent-mcp",
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
        install="npm install -g pi-acp @earendil-works/pi-coding-agent",
        link="https://github.com/svkozak/pi-acp",
    ),
    KnownAgent(
        name="hermes",
        title="Hermes",
        icon="🪽",
        description="Hermes Agent",
        command="hermes-acp",
        install="uv tool install 'hermes-agent[acp]'",
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
        description="Kimi Code",
        command="kimi",
        args=("acp",),
        package="@moonshot-ai/kimi-code",
        install="npm install -g @moonshot-ai/kimi-code",
        link="https://github.com/MoonshotAI/kimi-code",
    ),
    KnownAgent(
        name="cline",
        title="Cline",
        icon="🪝",
        description="Cline CLI",
        command="cline",
        args=("--acp",),
        package="cline",
        install="npm install -g cline",
        link="https://cline.bot/cli",
    ),
    KnownAgent(
        name="kilo",
        title="Kilo",
        icon="⚖️",
        description="Kilo Code CLI",
        command="kilo",
        args=("acp",),
        package="@kilocode/cli",
        install="npm install -g @kilocode/cli",
        link="https://kilo.ai",
    ),
    KnownAgent(
        name="droid",
        title="Droid",
        icon="🤖",
        description="Factory's Droid",
        command="droid",
        args=("exec", "--output-format", "acp-daemon"),
        package="droid",
        install="npm install -g droid",
        link="https://factory.ai/product/cli",
    ),
    KnownAgent(
        name="grok",
        title="Grok",
        icon="🌌",
        description="xAI's Grok Build",
        command="grok",
        args=("agent", "stdio"),
        package="@xai-official/grok",
        install="npm install -g @xai-official/grok",
        link="https://x.ai/cli",
    ),
    KnownAgent(
        name="junie",
        title="Junie",
        icon="🌿",
        description="JetBrains Junie",
        command="junie",
        args=("--acp=true",),
        install="see https://junie.jetbrains.com",
        link="https://junie.jetbrains.com",
    ),
    KnownAgent(
        name="amp",
        title="Amp",
        icon="🔋",
        description="Amp, by its ACP adapter",
        command="amp-acp",
        install="see https://github.com/tao12345666333/amp-acp",
        link="https://github.com/tao12345666333/amp-acp",
    ),
    KnownAgent(
        name="qoder",
        title="Qoder",
        icon="🧵",
        description="Qoder CLI",
        command="qodercli",
        args=("--acp",),
        package="@qoder-ai/qodercli",
        install="npm install -g @qoder-ai/qodercli",
        link="https://docs.qoder.com/cli/acp",
    ),
)


def known_by_command(command: str) -> KnownAgent | None:
    """The entry whose program ``command`` (a name or a path) is."""
    name = command.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".cmd").removesuffix(".exe")
    return next((known for known in KNOWN_AGENTS if known.command == name), None)


def found_agents(which: Callable[[str], str | None] = shutil.which) -> list[KnownAgent]:
    """The known agents whose program is on PATH."""
    return [known for known in KNOWN_AGENTS if which(known.command) is not None]
