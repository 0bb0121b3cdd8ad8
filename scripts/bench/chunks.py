"""What an agent says, on its way to the client: how late it comes at a reader's pace, what a flood costs.

Figures: chunk.p50 and chunk.p99 (ms, from the agent's stdout to the client's stdin, 200 a second, medians of rounds;
baseline: to the callback of the ACP SDK alone), chunks20k.cpu (ms of the bridge's CPU for 20,000 chunks; baseline: the
SDK alone).
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from scripts.bench.harness import HERE, compare, cpu_ms, home, percentile
from scripts.bench.peer import Turn, serving, warm_up
from scripts.bench.stream_agent import word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.bench.harness import Figure
    from scripts.bench.peer import Peer

RATE = 200
PACED = 300
PACED_ROUNDS = 5
FLOOD = 20_000
ROUNDS = 3


def sdk_alone(*words: str) -> Any:
    """What `sdk_alone` prints."""
    command = [sys.executable, str(HERE / "sdk_alone.py"), *words]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def sdk_cpu(count: int) -> float:
    """The CPU time that the SDK alone takes for a flood, ms."""
    return float(sdk_alone("burst", str(count)))


def paced(peer: Peer, channel_id: str, count: int) -> list[float]:
    """The latencies of ``count`` chunks at 200 a second, ms."""
    late: list[float] = []

    def arrived(text: str) -> None:
        for line in text.splitlines():
            late.append((peer.read_at - int(line.split()[1])) / 1e6)

    Turn(peer, arrived).ask(channel_id, f"paced {count} {RATE}")
    assert len(late) == count, f"{len(late)} of {count} chunks came"
    return late


def flood(peer: Peer, channel_id: str, count: int) -> float:
    """The CPU time of the bridge for ``count`` chunks, all of which came and in order, ms."""
    texts: list[str] = []
    turn = Turn(peer, texts.append)
    before = cpu_ms(peer.pid)
    turn.ask(channel_id, f"burst {count}")
    used = cpu_ms(peer.pid) - before
    assert "".join(texts) == "".join(map(word, range(count))), "chunks were lost or came in another order"
    return used


def run() -> Iterator[Figure]:
    """All figures of this file, bridge and baseline in turns."""
    with home() as place, serving(place) as peer:
        channel_id = peer.open()
        warm_up(peer, channel_id)
        ours: list[list[float]] = []
        theirs: list[list[float]] = []
        for _ in range(PACED_ROUNDS):
            ours.append(paced(peer, channel_id, PACED))
            theirs.append(sdk_alone("paced", str(PACED), str(RATE)))
        for percent in (50, 99):
            mine, sdk = ([percentile(late, percent) for late in rounds] for rounds in (ours, theirs))
            yield compare(f"chunk.p{percent}", "ms", mine, sdk)
        floods = [(flood(peer, channel_id, FLOOD), sdk_cpu(FLOOD)) for _ in range(ROUNDS)]
        yield compare("chunks20k.cpu", "ms", [mine for mine, _ in floods], [sdk for _, sdk in floods])
