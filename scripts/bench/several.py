"""Several clients on one bridge: what a relay adds to a chunk's way, what eight watchers cost beside one.

Figures: relay.p50 (ms that a relay adds to the median chunk at 200 a second; baseline: the owner's own client, in
turns), fanout8.cpu (ms of the owner's CPU for 20,000 chunks to eight clients; baseline: to one).
"""

from __future__ import annotations

import select
import socket
import statistics
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from scripts.bench.chunks import FLOOD, paced
from scripts.bench.harness import PATIENCE, compare, cpu_ms, figure, home
from scripts.bench.peer import Peer, Turn, serving, warm_up
from scripts.bench.stream_agent import word
from sidekicks_bridge import lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.bench.harness import Figure, Home

CLIENTS = 8
PACED = 300
ROUNDS = 4


def relayed(place: Home) -> Figure:
    """The owner's client and one behind a relay watch in turns."""
    with serving(place) as owner, serving(place) as relay:
        channel_id = owner.open()
        warm_up(owner, channel_id)
        owner.request("sidekicks/channel/close", channelId=channel_id)
        late: dict[Peer, list[float]] = {owner: [], relay: []}
        for _ in range(ROUNDS):
            for peer in late:
                peer.request("sidekicks/channel/open", channelId=channel_id)
                late[peer] += paced(peer, channel_id, PACED)
                peer.request("sidekicks/channel/close", channelId=channel_id)
                owner.drain()
                relay.drain()
        direct = statistics.median(late[owner])
        return figure("relay.p50", statistics.median(late[relay]) - direct, "ms", direct)


@contextmanager
def attached(place: Home) -> Iterator[Peer]:
    """A client on the owner's socket, as a relay or the command line is one."""
    holder = lock.read_holder(place.data / "bridge.lock")
    assert holder is not None
    assert holder.socket is not None
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(holder.socket)
        peer = Peer(stream.fileno(), stream.fileno(), holder.pid)
        peer.shake_hands(place.workspace)
        yield peer
        peer.leave()


def flood(peers: list[Peer], channel_id: str, count: int) -> float:
    """The owner's CPU time for a burst that reaches all ``peers`` whole and in order, ms."""
    texts: dict[Peer, list[str]] = {peer: [] for peer in peers}
    turns = [Turn(peer, texts[peer].append) for peer in peers]
    by_descriptor = {peer.reader: peer for peer in peers}
    before = cpu_ms(peers[0].pid)
    peers[0].request("sidekicks/message/send", channelId=channel_id, text=f"burst {count}")
    while not all(turn.done for turn in turns):
        for descriptor in select.select(list(by_descriptor), [], [], PATIENCE)[0]:
            by_descriptor[descriptor].read()
    used = cpu_ms(peers[0].pid) - before
    whole = "".join(map(word, range(count)))
    assert all("".join(said) == whole for said in texts.values()), "chunks were lost or came in another order"
    return used


def fan_out(place: Home) -> Figure:
    """One client and eight, in turns, on the owner's socket."""
    with serving(place) as owner, ExitStack() as stack:
        channel_id = owner.open()
        warm_up(owner, channel_id)
        owner.request("sidekicks/channel/close", channelId=channel_id)
        peers = [stack.enter_context(attached(place)) for _ in range(CLIENTS)]
        peers[0].request("sidekicks/channel/open", channelId=channel_id)
        one: list[float] = []
        eight: list[float] = []
        for _ in range(ROUNDS):
            one.append(flood(peers[:1], channel_id, FLOOD))
            for peer in peers[1:]:
                peer.request("sidekicks/channel/open", channelId=channel_id)
            eight.append(flood(peers, channel_id, FLOOD))
            for peer in peers[1:]:
                peer.request("sidekicks/channel/close", channelId=channel_id)
            owner.drain()
        return compare("fanout8.cpu", "ms", eight, one)


def run() -> Iterator[Figure]:
    """All figures of this file."""
    with home() as place:
        yield relayed(place)
        yield fan_out(place)
