"""A Deep Agent that speaks ACP, as its package offers it, with the scripted model. Run by that package's own Python."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from acp import run_agent


def build(context: Any, memory: Any) -> Any:
    """The agent for one session: a shell and files in its folder, asking before it uses them.

    ``memory`` is that of all sessions, because the package builds an agent anew each time another session speaks.
    """
    from deepagents import create_deep_agent  # type: ignore[import-not-found]
    from deepagents.backends import LocalShellBackend  # type: ignore[import-not-found]
    from langchain_openai import ChatOpenAI  # type: ignore[import-not-found]

    return create_deep_agent(
        model=ChatOpenAI(model="scripted", base_url=os.environ["SCRIPT_URL"], api_key="none", streaming=True),
        backend=LocalShellBackend(root_dir=context.cwd, virtual_mode=False, inherit_env=True),
        checkpointer=memory,
        interrupt_on={"execute": True, "write_file": True},
    )


async def main() -> None:
    """Serve on stdin and stdout."""
    from deepagents_acp.server import AgentServerACP  # type: ignore[import-not-found]
    from langgraph.checkpoint.memory import MemorySaver  # type: ignore[import-not-found]

    memory = MemorySaver()
    await run_agent(AgentServerACP(lambda context: build(context, memory)))


if __name__ == "__main__":
    asyncio.run(main())
