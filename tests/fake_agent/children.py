"""Child processes of a fake agent, as wrappers leave them behind: one in its process group, one that left by
setsid.

The first inherits the standard streams (it keeps the agent's pipes open, as a native binary behind an npm
wrapper does). Both end by themselves after `LIFE` seconds. With ``--ignore-term`` they ignore SIGTERM too
(ignored signals are inherited).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from tests.fake_agent.log import Recorder

LIFE = 300


def spawn(file: str, recorder: Recorder) -> None:
    """Start both; write ``{"agent": pid, "group": pid, "setsid": pid}`` to ``file``, whole or not at all."""
    command = ["sleep", str(LIFE)]
    group = subprocess.Popen(command)
    null = subprocess.DEVNULL
    apart = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, start_new_session=True)
    pids = {"agent": os.getpid(), "group": group.pid, "setsid": apart.pid}
    recorder.write("children", group=group.pid, setsid=apart.pid)
    if file:
        part = Path(file + ".part")
        part.write_text(json.dumps(pids), encoding="utf-8")
        part.replace(file)
