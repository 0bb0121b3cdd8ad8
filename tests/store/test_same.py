"""On disk and in memory: after any changes, in any order, restarts included, both answer every question alike."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from sidekicks_bridge.protocol.parts import TextContent, TextPart, ToolCallPart
from sidekicks_bridge.protocol.requests import Prompt
from sidekicks_bridge.store.contract import (
    Change,
    DeleteChannel,
    DeleteMember,
    EndTurn,
    PutChannel,
    PutMember,
    PutMessage,
    PutPrompt,
    PutTurn,
    PutValue,
    RemoveMessage,
    Store,
)
from sidekicks_bridge.store.open import memory_store, open_store
from tests.store.conftest import CONFIG
from tests.store.make import channel, member, message, turn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

channels = st.sampled_from(["c1", "c2"])
agents = st.sampled_from(["alice", "bob", "user"])
ids = st.sampled_from([f"m{number}" for number in range(6)])
texts = st.sampled_from(["apple pie", "Apple tree", "pear 梨の木", "梨の花", "", "x" * 50]) | st.text(max_size=12)
queries = st.sampled_from(["apple", "PIE", "梨の", "梨", "pear 梨", "xxx", "p", "nothing"])


class SameStores(RuleBasedStateMachine):
    """Every rule does the same to both; `ask` compares."""

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._folder = Path(tempfile.mkdtemp(prefix="sidekicks-store-"))
        self._memory: Store = self._run(self._open_memory())
        self._disk: Store = self._run(open_store(CONFIG, folder=self._folder))
        assert self._disk.persistent

    async def _open_memory(self) -> Store:
        return memory_store()

    def _run(self, work: Awaitable[T]) -> T:
        async def run() -> T:
            return await work

        return self._runner.run(run())

    def _write(self, *changes: Change) -> None:
        for store in (self._disk, self._memory):
            self._run(store.write(*changes))

    def _ask(self, question: Callable[[Store], Awaitable[Any]]) -> Any:
        disk, memory = (self._run(question(store)) for store in (self._disk, self._memory))
        assert disk == memory
        return memory

    @initialize()
    def start(self) -> None:
        self._write(PutChannel(channel("c1")), PutMember(member("alice", "c1")))

    @rule(name=channels, agent=agents, cursor=st.integers(0, 9))
    def put_members(self, name: str, agent: str, cursor: int) -> None:
        self._write(PutChannel(channel(name, agent)), PutMember(member(agent, name, cursor)))

    @rule(name=channels, agent=agents)
    def end_membership(self, name: str, agent: str) -> None:
        self._write(DeleteMember(name, agent))

    @rule(name=channels)
    def delete_channel(self, name: str) -> None:
        self._write(DeleteChannel(name))

    @rule(message_id=ids, name=channels, author=agents, text=texts, finished=st.booleans(), long=st.booleans())
    def put_message(self, message_id: str, name: str, author: str, text: str, finished: bool, long: bool) -> None:
        old = self._ask(lambda store: store.message(message_id))
        if old is not None:
            name = old.channel_id
        seq = old.seq if old is not None else None
        if seq is None and finished:
            seq = self._ask(lambda store: store.last_seq(name)) + 1
        call = ToolCallPart(
            id="t",
            kind="read",
            title=text,
            status="completed",
            content=[TextContent(text="long" * 5_000 if long else "")],
            locations=[],
        )
        put = message(message_id, [TextPart(text=text), call], channel=name, seq=seq, author=author)
        self._write(PutMessage(put), PutTurn(turn(f"t{message_id}", name, message_id)))

    @rule(message_id=ids)
    def put_back(self, message_id: str) -> None:
        kept = self._ask(lambda store: store.message(message_id))
        if kept is not None:
            self._write(PutMessage(kept), EndTurn(f"t{message_id}"))

    @rule(message_id=ids)
    def remove_message(self, message_id: str) -> None:
        self._write(RemoveMessage(message_id))

    @rule(message_id=ids, day=st.integers(10, 30))
    def prompt(self, message_id: str, day: int) -> None:
        prompt = Prompt(blocks=[{"day": day}], session="fresh", unseen=0, cut=0)
        self._write(PutPrompt(message_id, f"2026-01-{day}", prompt), PutValue(f"k{day}", day if day % 2 else None))
        self._ask(lambda store: store.drop_prompts("2026-01-20"))

    @rule()
    def restart(self) -> None:
        self._run(self._disk.close())
        self._disk = self._run(open_store(CONFIG, folder=self._folder))
        assert (self._disk.persistent, self._disk.reason) == (True, None)

    @rule(name=channels, message_id=ids, seq=st.integers(0, 6), limit=st.integers(1, 4))
    def ask(self, name: str, message_id: str, seq: int, limit: int) -> None:
        questions: list[Callable[[Store], Awaitable[Any]]] = [
            lambda store: store.channels(),
            lambda store: store.members(name),
            lambda store: store.page(name, limit=limit),
            lambda store: store.page(name, before=seq, limit=limit),
            lambda store: store.page(name, after=seq, limit=limit),
            lambda store: store.queued(name),
            lambda store: store.turns(),
            lambda store: store.part(message_id, seq),
            lambda store: store.prompt(message_id),
            lambda store: store.unread(name, seq),
            lambda store: store.values("k"),
        ]
        for question in questions:
            self._ask(question)

    @rule(query=queries, name=channels | st.none(), author=agents | st.none(), limit=st.integers(1, 4))
    def search(self, query: str, name: str | None, author: str | None, limit: int) -> None:
        hits = self._ask(lambda store: store.search(query, channel_id=name, author=author, limit=limit))
        for hit in hits:
            text = " ".join(part.text if isinstance(part, TextPart) else part.title for part in hit.message.parts)
            assert all(word in text.casefold() for word in query.casefold().split())

    def teardown(self) -> None:
        for store in (self._disk, self._memory):
            self._run(store.close())
        self._runner.close()
        shutil.rmtree(self._folder)


TestSameStores = SameStores.TestCase
TestSameStores.settings = settings(max_examples=12, stateful_step_count=30, deadline=None)
