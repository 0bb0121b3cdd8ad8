"""Where the failure of a child task is contained: it is logged and its siblings live on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVarTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import TaskGroup

logger = logging.getLogger(__name__)

Args = TypeVarTuple("Args")


def supervised(task_group: TaskGroup, work: Callable[[*Args], Awaitable[object]], *args: *Args) -> None:
    """Run ``work(*args)`` in ``task_group``; an exception there is logged and ends only this task."""

    async def contain() -> None:
        try:
            await work(*args)
        except Exception:
            logger.exception("A task failed: %s", getattr(work, "__qualname__", work))

    task_group.start_soon(contain)
