"""Opening: on disk if possible, else in memory with a reason a person can act on; nothing is ever overwritten."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge import lock, paths
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store.contract import PutChannel, PutMessage, PutValue
from sidekicks_bridge.store.open import CONFIG_PATH, DATABASE, open_channel_preferences, open_store, use_journal
from tests.store.conftest import CONFIG
from tests.store.make import channel, text_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sidekicks_bridge.store.contract import Store

pytestmark = pytest.mark.anyio

NOBODY = 65534


async def works_in_memory(store: Store, *words: str) -> None:
    """It keeps what it is told until it is closed, and says why no longer."""
    assert not store.persistent
    assert store.reason is not None
    for word in words:
        assert word in store.reason
    await store.write(PutChannel(channel("c1")), PutMessage(text_message("m1", seq=1)))
    assert await store.channels() == [channel("c1")]
    assert len(await store.search("hello", channel_id=None, author=None, limit=5)) == 1
    await store.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Permissions hold for root too: for a moment it is somebody else."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
async def test_only_the_user_can_read_it(tmp_path: Path, mask: int) -> None:
    folder = tmp_path / "sidekicks" / "data" / "abc"
    with umask(mask):
        store = await open_store(CONFIG, folder=folder)
        await store.write(PutChannel(channel("c1")))
        assert store.persistent
        assert {path.name: oct(mode(path)) for path in folder.iterdir()} == dict.fromkeys(
            (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "bridge.lock", CONFIG_PATH), "0o600"
        )
        assert {oct(mode(each)) for each in (folder, folder.parent, folder.parent.parent)} == {"0o700"}
        await store.close()


async def test_what_was_open_to_others_is_closed_to_them(folder: Path) -> None:
    await (await open_store(CONFIG, folder=folder)).close()
    (folder / DATABASE).chmod(0o644)
    folder.chmod(0o755)
    await (await open_store(CONFIG, folder=folder)).close()
    assert (oct(mode(folder)), oct(mode(folder / DATABASE))) == ("0o700", "0o600")


async def test_the_configuration_is_noted_beside_its_history(folder: Path) -> None:
    await (await open_store(Path("/home/zoë/config.yaml"), folder=folder)).close()
    assert (folder / CONFIG_PATH).read_bytes() == os.fsencode("/home/zoë/config.yaml\n")


async def test_each_configuration_has_its_own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("one", "two"):
        store = await open_store(Path(f"/{name}.yaml"))
        assert store.persistent
        await store.write(PutValue("name", name))
        await store.close()
    store = await open_store(Path("/one.yaml"))
    assert await store.value("name") == "one"
    await store.close()
    notes = sorted(path.read_text(encoding="utf-8") for path in tmp_path.glob(f"sidekicks/data/*/{CONFIG_PATH}"))
    assert notes == ["/one.yaml\n", "/two.yaml\n"]


async def test_a_second_bridge_runs_in_memory_and_names_the_first(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    held = lock.take(paths.lock_path(folder), lock.Holder(socket="/run/bridge.sock"))
    first = await open_store(CONFIG, folder=folder, held=held)
    second = await open_store(CONFIG, folder=folder)
    await works_in_memory(second, f"process {os.getpid()}", str(CONFIG), "Close it")
    holder = lock.read_holder(paths.lock_path(folder))
    assert holder == lock.Holder(socket="/run/bridge.sock")
    assert await first.channels() == []
    await first.close()
    third = await open_store(CONFIG, folder=folder)
    assert third.persistent
    await third.close()


@pytest.mark.parametrize("garbage", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5_000])
async def test_a_database_that_cannot_be_read_is_set_aside(folder: Path, garbage: bytes) -> None:
    folder.mkdir()
    (folder / DATABASE).write_bytes(garbage)
    (folder / f"{DATABASE}-wal").write_bytes(b"wal")
    store = await open_store(CONFIG, folder=folder)
    assert store.persistent
    (aside,) = folder.glob(f"{DATABASE}.unreadable-*[0-9]")
    assert aside.read_bytes() == garbage
    assert aside.with_name(aside.name + "-wal").read_bytes() == b"wal"
    assert store.reason is not None
    assert str(aside) in store.reason
    await store.write(PutValue("k", 1))
    await store.close()
    store = await open_store(CONFIG, folder=folder)
    assert (store.reason, await store.value("k")) == (None, 1)
    await store.close()


async def test_a_database_damaged_where_it_is_opened_is_set_aside(folder: Path) -> None:
    store = await open_store(CONFIG, folder=folder)
    await store.write(PutValue("k", 1))
    await store.close()
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'search_state'").fetchone()
    damaged = bytearray((folder / DATABASE).read_bytes())
    damaged[(root - 1) * size : root * size] = b"\xff" * size
    (folder / DATABASE).write_bytes(damaged)
    store = await open_store(CONFIG, folder=folder)
    (aside,) = folder.glob(f"{DATABASE}.unreadable-*[0-9]")
    assert aside.read_bytes() == damaged
    assert store.persistent
    assert str(aside) in (store.reason or "")
    await store.close()


async def test_damage_inside_is_an_error_with_a_reason_and_the_rest_goes_on(folder: Path) -> None:
    store = await open_store(CONFIG, folder=folder)
    await store.write(*(PutMessage(text_message(f"m{seq:03}", "x" * 3_000, seq=seq)) for seq in range(1, 200)))
    await store.write(PutValue("k", 1))
    await store.close()
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        (page_size,) = database.execute("PRAGMA page_size").fetchone()
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()
    with (folder / DATABASE).open("r+b") as file:
        file.seek((root - 1) * page_size)
        file.write(b"\xff" * page_size)
    store = await open_store(CONFIG, folder=folder)
    with pytest.raises(SidekicksError, match="damaged") as caught:
        await store.page("c1")
    assert caught.value.code == "storeUnavailable"
    assert caught.value.details["path"] == str(folder / DATABASE)
    assert await store.value("k") == 1
    await store.close()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder that belongs to the ordinary user."""
    own = tmp_path / "own"
    own.mkdir()
    if os.geteuid() == 0:
        for parent in (tmp_path, *tmp_path.parents[:3]):
            parent.chmod(0o755)
        os.chown(own, NOBODY, -1)
    return own


async def test_a_read_only_data_folder(own: Path) -> None:
    with ordinary_user():
        own.chmod(0o500)
        store = await open_store(CONFIG, folder=own)
        await works_in_memory(store, str(own), "Permission denied", "Put that right")
        preferences = await open_channel_preferences(CONFIG, store, folder=own)
        preferences.set_draft("c1", "kept while it runs")
        assert preferences.draft("c1") == "kept while it runs"
        await preferences.close()
        assert mode(own) == 0o500, "what a person has made read-only stays so"
        own.chmod(0o700)
    assert list(own.iterdir()) == []


async def test_a_read_only_folder_above(own: Path) -> None:
    with ordinary_user():
        own.chmod(0o500)
        await works_in_memory(await open_store(CONFIG, folder=own / "data" / "abc"), str(own), "Permission denied")
        own.chmod(0o700)


async def test_a_read_only_database(own: Path) -> None:
    with ordinary_user():
        await (await open_store(CONFIG, folder=own)).close()
        (own / DATABASE).chmod(0o400)
        await works_in_memory(await open_store(CONFIG, folder=own), "Permission denied")


async def test_a_folder_of_somebody_else(tmp_path: Path, own: Path) -> None:
    if os.geteuid() == 0:
        os.chown(own, 0, -1)
        own.chmod(0o755)
        with ordinary_user():
            await works_in_memory(await open_store(CONFIG, folder=own), "not permitted")
    else:
        await works_in_memory(await open_store(CONFIG, folder=Path("/")), "not permitted")


async def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "sidekicks").write_text("a file", encoding="utf-8")
    store = await open_store(CONFIG, folder=tmp_path / "sidekicks" / "data")
    await works_in_memory(store, "is no folder: move it away")
    assert (tmp_path / "sidekicks").read_text(encoding="utf-8") == "a file"


async def test_a_folder_where_the_database_should_be(folder: Path) -> None:
    (folder / DATABASE).mkdir(parents=True)
    await works_in_memory(await open_store(CONFIG, folder=folder), "Is a directory")


async def test_in_memory_the_folder_stays_ours(folder: Path) -> None:
    """A second bridge would take our socket away, and each would have a history of its own."""
    (folder / DATABASE).mkdir(parents=True)
    store = await open_store(CONFIG, folder=folder)
    assert lock.holder(paths.lock_path(folder)) is not None
    await store.close()
    assert lock.holder(paths.lock_path(folder)) is None


async def test_a_database_that_another_program_holds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sidekicks_bridge.store.open._BUSY_SECONDS", 0.05)
    await (await open_store(CONFIG, folder=folder)).close()
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        await works_in_memory(await open_store(CONFIG, folder=folder), "locked")
    assert not list(folder.glob("*unreadable*")), "a locked database is not a broken one"


async def test_a_disk_that_fills_up_and_gets_space_again(folder: Path) -> None:
    """A file size limit stands for the full disk: the write is refused by the system itself, half way."""
    import resource

    store = await open_store(CONFIG, folder=folder)
    await store.write(PutValue("k", 1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        with pytest.raises(SidekicksError, match="then try again") as caught:
            await store.write(PutValue("k", 2), PutMessage(text_message("m1", "x" * 1_000_000, seq=1)))
        assert caught.value.code == "storeUnavailable"
        assert caught.value.retryable
        assert await store.value("k") == 1
        await store.write(PutValue("fits", True))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await store.write(PutMessage(text_message("m1", "x" * 1_000_000, seq=1)))
    await store.close()
    store = await open_store(CONFIG, folder=folder)
    assert (await store.value("fits"), await store.last_seq("c1")) == (True, 1)
    await store.close()


def test_where_a_write_ahead_log_is_refused_there_is_a_slower_journal_and_a_notice(tmp_path: Path) -> None:
    """SQLite's dotfile locking has no shared memory, like a network folder."""
    uri = f"file:{tmp_path / 'history.db'}?vfs=unix-dotfile"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as refusing:
        notice = use_journal(refusing)
        assert notice is not None
        assert "slower" in notice
        assert refusing.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert refusing.execute("PRAGMA synchronous").fetchone() == (2,)
    with closing(sqlite3.connect(tmp_path / "other.db", isolation_level=None)) as ordinary:
        assert use_journal(ordinary) is None
        assert ordinary.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ordinary.execute("PRAGMA synchronous").fetchone() == (2,)


async def test_the_database_itself_is_never_locked_by_us(disk: Store, folder: Path) -> None:
    """A program that reads the database meanwhile neither fails nor breaks our locks."""
    await disk.write(PutValue("k", 1))
    with closing(sqlite3.connect(folder / DATABASE)) as other:
        assert other.execute("SELECT count(*) FROM key_values").fetchone() == (1,)
    await disk.write(PutValue("k", 2))
    assert await disk.value("k") == 2


def test_opening_imports_nothing_heavy() -> None:
    import subprocess

    code = "import sys, sidekicks_bridge.store.open; print(*{'tinydb', 'acp', 'jsonschema'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "\n"
