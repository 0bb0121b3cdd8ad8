"""Completion in a composer with 200 agents, as an editor asks for it: over LSP, at each letter.

Figure: completion.p95 (ms, request to answer over stdio; baseline: a bare pygls server that answers 200 fixed items).
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from scripts.bench.harness import CHANNEL, HERE, figure, home, percentile, started
from scripts.bench.peer import Peer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.bench.harness import Figure

AGENTS = 200
ROUNDS = 12
URI = f"sidekicks:/{CHANNEL}/compose"
TEXT = "Could @agent-1"
"""Typed letter by letter, completed after each from the `@` on."""


def type_and_complete(peer: Peer, version: int) -> list[tuple[float, int]]:
    """Type the text, ask after each letter: ms and how many items came."""
    answers: list[tuple[float, int]] = []
    for length in range(TEXT.index("@") + 1, len(TEXT) + 1):
        version += 1
        change = [{"text": TEXT[:length]}]
        peer.send(
            {
                "method": "textDocument/didChange",
                "params": {"textDocument": {"uri": URI, "version": version}, "contentChanges": change},
            }
        )
        peer.drain()
        begin = time.perf_counter()
        position = {"line": 0, "character": length}
        found: Any = peer.request("textDocument/completion", textDocument={"uri": URI}, position=position)
        answers.append(((time.perf_counter() - begin) * 1e3, len(found["items"])))
    return answers


def open_document(peer: Peer) -> None:
    """`textDocument/didOpen`."""
    document = {"uri": URI, "languageId": "markdown", "version": 0, "text": ""}
    peer.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})


def run() -> Iterator[Figure]:
    """All figures of this file, both servers in turns."""
    bare = [sys.executable, str(HERE / "bare_server.py"), str(AGENTS)]
    with (
        home(others=AGENTS - 1) as place,
        serving(place) as ours,
        started(bare, place.environment, place.workspace, place.folder / "bare.log") as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        theirs = Peer(process.stdout.fileno(), process.stdin.fileno())
        theirs.shake_hands(place.workspace)
        ours.open()
        times: dict[Peer, list[float]] = {ours: [], theirs: []}
        for peer in times:
            open_document(peer)
        for number in range(ROUNDS):
            for peer, taken in times.items():
                answers = type_and_complete(peer, number * 100)
                assert max(count for _, count in answers) >= AGENTS, "the agents were not offered"
                taken += [ms for ms, _ in answers]
        yield figure("completion.p95", percentile(times[ours], 95), "ms", percentile(times[theirs], 95))
        theirs.leave()
