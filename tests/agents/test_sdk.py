"""How the SDK is loaded: its connection, and nothing that is not needed."""

from __future__ import annotations

import json
import subprocess
import sys

LOADS = """
import json, sys
from sidekicks_bridge.agents.sdk import connection_class
first = connection_class()
import sidekicks_bridge.agents.connection
models = "acp.schema" in sys.modules
import acp.core
print(json.dumps({"models": models, "later": "acp.schema" in sys.modules, "same": acp.core.Connection is first,
                  "again": connection_class() is first}))
"""


def test_only_the_connection_is_loaded_and_the_package_stays_whole() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"models": False, "later": True, "same": True, "again": True}
