"""Start one built-in agent on stdio: ``python -m sidekicks_bridge.builtin scout|scribe [NAME]``.

Owns the command line only. ``NAME`` is what the agent is called in its channels, when that differs.
"""

from __future__ import annotations

import sys

if not __package__:  # started by its path (see `BuiltinAgent.argv`): make the package importable wherever it lies
    sys.path.insert(0, __file__.replace("\\", "/").rsplit("/", 3)[0])

from sidekicks_bridge.builtin import BUILTIN_AGENTS

USAGE = f"usage: python -m sidekicks_bridge.builtin {'|'.join(BUILTIN_AGENTS)} [NAME]"


def main(arguments: list[str]) -> int:
    """Serve one agent until stdin ends; the exit status is 2 when the arguments are wrong."""
    if not 1 <= len(arguments) <= 2 or arguments[0] not in BUILTIN_AGENTS:
        sys.stderr.write(f"{USAGE}\n")
        return 2
    agent = BUILTIN_AGENTS[arguments[0]]
    called = arguments[-1]

    from sidekicks_bridge.builtin.acp_agent import AcpAgent, Behaviour

    def open_session(root: str) -> Behaviour:
        # Imported at the first session: `initialize` is answered before the agent's own parts are loaded.
        if agent.name == "scout":
            from sidekicks_bridge.builtin.scout import Scout

            return Scout(root, called)
        from sidekicks_bridge.builtin.scribe import Scribe

        return Scribe(root, called)

    try:
        AcpAgent(agent.name, agent.title, open_session).run()
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
