"""Reading and writing a client's descriptors: order is kept whichever way a frame goes, and nothing blocks the loop."""

from __future__ import annotations

import asyncio
import os
import select
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import pytest

from sidekicks_bridge.server.outbox import Outbox, SharedFrames
from sidekicks_bridge.server.stdio import StdinReader, StdoutWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.anyio

SMALL, LARGE = b"s" * 100, b"L" * 20_000
PATIENCE = 10.0


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        for descriptor in (reader, writer):
            try:
                os.close(descriptor)
            except OSError:
                pass  # the test closed it


def outbox_on(writer: int, broken: threading.Event | None = None) -> tuple[Outbox, StdoutWriter]:
    broken = broken or threading.Event()
    output = StdoutWriter(writer, broken.set)
    outbox = Outbox(output.wake, SharedFrames())
    output.start(outbox)
    return outbox, output


def read_exactly(descriptor: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        assert select.select([descriptor], [], [], PATIENCE)[0], f"only {len(data)} of {count} bytes came"
        data += os.read(descriptor, count - len(data))
    return data


def test_a_small_frame_is_written_before_put_returns() -> None:
    with pipe() as (reader, writer):
        outbox, output = outbox_on(writer)
        outbox.put_frame(SMALL)
        assert select.select([reader], [], [], 0)[0]
        assert read_exactly(reader, len(SMALL)) == SMALL
        output.close(PATIENCE)


def test_order_is_kept_between_what_is_written_at_once_and_by_the_thread() -> None:
    frames = [b"%06d" % number + (LARGE if number % 7 == 3 else SMALL) for number in range(400)]
    whole = b"".join(frames)
    with pipe() as (reader, writer):
        got: list[bytes] = []
        reading = threading.Thread(target=lambda: got.append(read_exactly(reader, len(whole))))
        reading.start()
        outbox, output = outbox_on(writer)
        for data in frames:
            outbox.put_frame(data)
        reading.join(PATIENCE)
        output.close(PATIENCE)
    assert got == [whole]


def test_a_client_that_does_not_read_blocks_nobody_and_gets_all_later() -> None:
    frames = [b"%06d" % number + SMALL for number in range(5_000)]  # several times what a pipe holds
    with pipe() as (reader, writer):
        outbox, output = outbox_on(writer)
        for data in frames:
            outbox.put_frame(data)
        assert outbox.waiting > 0
        whole = b"".join(frames)
        assert read_exactly(reader, len(whole)) == whole
        output.close(PATIENCE)


def test_what_waits_is_written_at_the_end() -> None:
    with pipe() as (reader, writer):
        outbox, output = outbox_on(writer)
        outbox.put_frame(LARGE)
        outbox.put_frame(SMALL)
        output.close(PATIENCE)
        assert read_exactly(reader, len(LARGE + SMALL)) == LARGE + SMALL


@pytest.mark.parametrize("data", [SMALL, LARGE])
def test_a_client_that_is_gone_is_reported(data: bytes) -> None:
    with pipe() as (reader, writer):
        broken = threading.Event()
        outbox, output = outbox_on(writer, broken)
        os.close(reader)
        outbox.put_frame(data)
        assert broken.wait(PATIENCE)
        output.close(PATIENCE)


class Taken:
    """What a reader hands over; `end` is its end."""

    def __init__(self) -> None:
        self.data = b""
        self.end = anyio.Event()

    def take(self, data: bytes | None) -> None:
        assert not self.end.is_set()
        self.data += data or b""
        if data is None:
            self.end.set()


async def test_input_is_handed_over_in_order_up_to_its_end() -> None:
    taken = Taken()
    whole = b"".join(b"%06d" % number for number in range(50_000))
    with pipe() as (reader, writer):
        StdinReader(asyncio.get_running_loop(), reader, taken.take)

        def write() -> None:
            view = memoryview(whole)
            while view:
                view = view[os.write(writer, view) :]
            os.close(writer)

        with anyio.fail_after(PATIENCE):
            await anyio.to_thread.run_sync(write)
            await taken.end.wait()
    assert taken.data == whole


async def test_a_file_will_do_as_input(tmp_path: Path) -> None:
    taken = Taken()
    (tmp_path / "input").write_bytes(SMALL + LARGE)
    descriptor = os.open(tmp_path / "input", os.O_RDONLY)
    StdinReader(asyncio.get_running_loop(), descriptor, taken.take)
    with anyio.fail_after(PATIENCE):
        await taken.end.wait()
    os.close(descriptor)
    assert taken.data == SMALL + LARGE


async def test_after_close_nothing_is_taken() -> None:
    taken = Taken()
    with pipe() as (reader, writer):
        input_ = StdinReader(asyncio.get_running_loop(), reader, taken.take)
        os.write(writer, SMALL)
        input_.close()
        input_.close()
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        assert os.read(reader, 200) == SMALL
    assert taken.data == b""
