"""The registered peers of a configuration, read from its history with or without a running bridge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def registered(config_path: Path) -> list[dict[str, Any]]:
    """A row for each peer whose registration runs; a running bridge may have renewed it for a minute more."""
    import anyio

    return anyio.run(_registered, config_path)


async def _registered(config_path: Path) -> list[dict[str, Any]]:
    from sidekicks_bridge.clock import SystemClock
    from sidekicks_bridge.mail.registry import kept_peers
    from sidekicks_bridge.store.open import open_history

    store = await open_history(config_path)
    if store is None:
        return []
    try:
        now = SystemClock().now()
        peers = [peer for peer in await kept_peers(store) if not peer.gone and peer.expires_at > now]
    finally:
        await store.close()
    return [{"name": peer.name, "state": "peer", "origin": "mail", "expiresAt": peer.expires_at} for peer in peers]
