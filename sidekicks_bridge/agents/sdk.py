"""The one part of the ACP SDK that runs here: its connection, which pairs requests with responses.

Owns how that is loaded. `import acp` builds some hundred pydantic models, which takes most of a second of processor
time and 14 MB; every frame here is decoded by our transport (decision 2), so not one of them would ever be used.
"""

from __future__ import annotations

import importlib.util
import sys
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp.connection import Connection

_loading = Lock()


def connection_class() -> type[Connection]:
    """The SDK's connection, loaded without the rest of its package. Blocks for some 70 ms: call it in a thread."""
    with _loading:
        if "acp" in sys.modules:
            from acp.connection import Connection
        else:
            spec = importlib.util.find_spec("acp")
            if spec is None:
                raise ModuleNotFoundError("The ACP SDK is missing: install `agent-client-protocol`.", name="acp")
            sys.modules["acp"] = importlib.util.module_from_spec(spec)  # the package, its __init__ not run
            try:
                from acp.connection import Connection
            finally:
                del sys.modules["acp"]  # whoever imports the package itself gets all of it
        return Connection
