"""Preferences: at hand at once, in the file soon, merged with what others wrote, never lost to a broken file."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest

from sidekicks_bridge import lock
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.store import preferences
from sidekicks_bridge.store.open import open_channel_preferences, open_global_preferences
from sidekicks_bridge.store.preferences import RECENT_LIMIT, ChannelPreferences, GlobalPreferences, Preferences
from sidekicks_bridge.store.tables import AtomicStorage, read_tables
from tests.store.conftest import CONFIG

if TYPE_CHECKING:
    from pathlib import Path

    from sidekicks_bridge.store.contract import Store

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sidekicks" / "preferences.json"


async def test_what_is_set_is_there_at_once_and_after_a_restart(path: Path) -> None:
    kept = await Preferences.open(path)
    kept.put("drafts", "c1", "half a thought")
    kept.put("drafts", "c2", "gone")
    kept.put("drafts", "c2", None)
    kept.put("read", "c1", 7)
    assert kept.get("drafts", "c1") == "half a thought"
    assert kept.all("drafts") == {"c1": "half a thought"}
    assert kept.get("nothing", "at all") is None
    await kept.close()
    again = await Preferences.open(path)
    assert (again.all("drafts"), again.all("read"), again.problem) == ({"c1": "half a thought"}, {"c1": 7}, None)
    await again.close()


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> SimpleQueue[str]:
    """Gets the name of the writing thread after each write."""
    writes: SimpleQueue[str] = SimpleQueue()
    write = AtomicStorage.write

    def noted(storage: AtomicStorage, data: dict[str, dict[str, Any]]) -> None:
        write(storage, data)
        writes.put(threading.current_thread().name)

    monkeypatch.setattr(AtomicStorage, "write", noted)
    return writes


async def test_the_file_follows_without_being_told_and_off_the_loop(path: Path, writes: SimpleQueue[str]) -> None:
    kept = await Preferences.open(path)
    kept.put("drafts", "c1", "typed")
    thread = await anyio.to_thread.run_sync(lambda: writes.get(timeout=10))
    assert thread.startswith("preferences")
    assert read_tables(path) == {"drafts": {"c1": "typed"}}
    await kept.close()


async def test_typing_does_not_write_a_file_for_each_key(
    path: Path, writes: SimpleQueue[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preferences, "COALESCE_SECONDS", 60)
    kept = await Preferences.open(path)
    for length in range(1, 200):
        kept.put("drafts", "c1", "x" * length)
    await kept.flush()
    assert writes.qsize() == 1
    kept.put("drafts", "c1", "x" * 199)
    await kept.close()
    assert writes.qsize() == 1, "what has not changed is not written"


async def test_people_can_read_it(path: Path) -> None:
    kept = GlobalPreferences(await Preferences.open(path))
    kept.note_recent("/home/zoë/über.yaml", "2026-11-30")
    await kept.close()
    text = path.read_text(encoding="utf-8")
    assert "/home/zoë/über.yaml" in text
    assert json.loads(text) == {"recent": {"1": {"key": "/home/zoë/über.yaml", "value": "2026-11-30"}}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_what_a_person_or_another_bridge_wrote_meanwhile_stays(path: Path) -> None:
    first, second = await Preferences.open(path), await Preferences.open(path)
    first.put("recent", "/a", "1")
    await first.flush()
    second.put("recent", "/b", "2")
    await second.flush()
    written = json.loads(path.read_text(encoding="utf-8"))
    written["mine"] = {"1": {"hello": "there"}}
    path.write_text(json.dumps(written), encoding="utf-8")
    first.put("recent", "/c", "3")
    await first.close()
    await second.close()
    assert read_tables(path)["recent"] == {"/a": "1", "/b": "2", "/c": "3"}
    assert json.loads(path.read_text(encoding="utf-8"))["mine"] == {"1": {"hello": "there"}}


BROKEN = [
    b'{"drafts": {"1": {"key": "c1", "val',
    b"\xff\xfe\x00",
    b"",
    b"[1, 2]",
    b'{"drafts": 7}',
    b'{"drafts": {"one": {}}}',
    b'{"drafts": {"1": 7}}',
]


@pytest.mark.parametrize("broken", BROKEN)
async def test_a_file_that_cannot_be_read_is_set_aside_and_reported(path: Path, broken: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(broken)
    kept = await Preferences.open(path)
    (aside,) = path.parent.glob("preferences.json.unreadable-*")
    assert aside.read_bytes() == broken
    assert kept.problem is not None
    assert str(aside) in kept.problem
    kept.put("read", "c1", 1)
    await kept.close()
    assert read_tables(path) == {"read": {"c1": 1}}
    assert aside.read_bytes() == broken


async def test_a_file_broken_while_it_is_open_is_set_aside_and_written_anew_whole(path: Path) -> None:
    kept = await Preferences.open(path)
    kept.put("read", "c1", 1)
    await kept.flush()
    path.write_bytes(b"{ oops")
    kept.put("read", "c2", 2)
    await kept.close()
    assert read_tables(path) == {"read": {"c1": 1, "c2": 2}}
    (aside,) = path.parent.glob("preferences.json.unreadable-*")
    assert aside.read_bytes() == b"{ oops"


async def test_a_folder_where_the_file_should_be(path: Path) -> None:
    path.mkdir(parents=True)
    kept = await Preferences.open(path)
    assert kept.problem is not None
    kept.put("read", "c1", 1)
    assert kept.get("read", "c1") == 1
    await kept.close()


async def test_what_could_not_be_written_is_written_the_next_time(path: Path) -> None:
    kept = await Preferences.open(path)
    path.parent.write_text("in the way", encoding="utf-8")
    kept.put("read", "c1", 1)
    kept.put("read", "c2", 1)
    await kept.flush()
    assert kept.problem is not None
    assert "cannot be written" in kept.problem
    path.parent.unlink()
    kept.put("read", "c2", 2)
    await kept.close()
    assert read_tables(path) == {"read": {"c1": 1, "c2": 2}}


async def test_a_lock_that_stays_taken_delays_nobody_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preferences, "LOCK_SECONDS", 0.05)
    path.parent.mkdir()
    held = lock.take(path.with_name(path.name + ".lock"))
    kept = await Preferences.open(path)
    kept.put("read", "c1", 1)
    with anyio.fail_after(5):
        await kept.flush()
    assert kept.problem is not None
    assert not path.exists()
    held.release()
    await kept.close()
    assert read_tables(path) == {"read": {"c1": 1}}


async def test_without_a_path_nothing_is_kept() -> None:
    kept = await Preferences.open(None)
    kept.put("read", "c1", 1)
    assert kept.get("read", "c1") == 1
    await kept.close()


async def test_after_close_everything_says_so(path: Path) -> None:
    kept = await Preferences.open(path)
    await kept.close()
    await kept.close()
    for call in (lambda: kept.get("a", "b"), lambda: kept.all("a"), lambda: kept.put("a", "b", 1)):
        with pytest.raises(SidekicksError) as caught:
            call()
        assert caught.value.code == "storeClosed"
    with pytest.raises(SidekicksError):
        await kept.flush()


async def test_recent_configurations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    kept = await open_global_preferences()
    for number in range(RECENT_LIMIT + 5):
        kept.note_recent(f"/{number}.yaml", f"2026-01-{number + 1:02}")
    kept.note_recent("/7.yaml", "2026-02-01")
    assert kept.recent()[:3] == ["/7.yaml", "/24.yaml", "/23.yaml"]
    assert len(kept.recent()) == RECENT_LIMIT
    await kept.close()
    again = await open_global_preferences()
    assert again.recent()[0] == "/7.yaml"
    assert len(again.recent()) == RECENT_LIMIT
    await again.close()


async def test_drafts_and_read_marks_of_channels(disk: Store, folder: Path) -> None:
    kept = await open_channel_preferences(CONFIG, disk, folder=folder)
    assert (kept.draft("c1"), kept.read_mark("c1")) == (None, 0)
    kept.set_draft("c1", "hello @al")
    kept.set_read_mark("c1", 4)
    kept.set_draft("c2", "x")
    kept.set_draft("c2", "")
    await kept.close()
    kept = await open_channel_preferences(CONFIG, disk, folder=folder)
    assert (kept.draft("c1"), kept.read_mark("c1"), kept.draft("c2")) == ("hello @al", 4, None)
    kept.forget("c1")
    assert (kept.draft("c1"), kept.read_mark("c1")) == (None, 0)
    await kept.close()


async def test_values_of_a_wrong_type_count_as_none(path: Path) -> None:
    path.parent.mkdir()
    AtomicStorage(path).write(
        {"drafts": {"1": {"key": "c1", "value": 7}, "2": {"odd": 1}}, "read": {"1": {"key": "c1", "value": "x"}}}
    )
    kept = ChannelPreferences(await Preferences.open(path))
    assert (kept.draft("c1"), kept.read_mark("c1"), kept.file.problem) == (None, 0, None)
    await kept.close()


ALTERNATE = """
import sys
from pathlib import Path
from sidekicks_bridge.store.tables import update_tables
for number in range(10 ** 9):
    update_tables(Path(sys.argv[1]), {"t": {"big": "x" * 200_000 if number % 2 else "small", "number": number}})
    print(number, flush=True)
"""


@pytest.mark.parametrize("after", [3, 8, 13])
def test_a_kill_leaves_the_old_or_the_new_content(path: Path, after: int) -> None:
    """Growing and shrinking in turns: what TinyDB's own storage does not survive."""
    path.parent.mkdir()
    with subprocess.Popen([sys.executable, "-c", ALTERNATE, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(after)][-1]
        os.kill(process.pid, signal.SIGKILL)
        acknowledged = max([acknowledged, *map(int, process.stdout.read().split())])
    kept = read_tables(path)["t"]
    assert kept["number"] in {acknowledged, acknowledged + 1}
    assert len(kept["big"]) == (200_000 if kept["number"] % 2 else 5)
