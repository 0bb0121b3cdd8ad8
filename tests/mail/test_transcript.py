"""The transcript: files and commits from the log, what is proved by them, and what may go wrong with git."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from sidekicks_bridge.cli.mail_socket import signed
from sidekicks_bridge.mail.signing import PrivateKey
from sidekicks_bridge.mail.transcript.page import Page, is_signed, parse
from sidekicks_bridge.mail.transcript.verify import verify
from sidekicks_bridge.protocol.mail import AskPeer, Post, Tell
from sidekicks_bridge.store.open import memory_store
from tests.mail.world import office

if TYPE_CHECKING:
    from sidekicks_bridge.mail.callers import Caller
    from sidekicks_bridge.store.contract import Store
    from tests.mail.world import Office

FULL = "/dev/full" if Path("/dev/full").exists() else "/tmp"
"""What cannot be written: a full disk where the system has one to try with, else a folder."""
GAP = "sidekicks_bridge.mail.transcript.projector.GAP_SECONDS"
pytestmark = pytest.mark.anyio

BODIES = ["plain", "---\nseq: 9\nfrom: x\n---\n", "a\u2028b\r\nc\rd\n\n", "é😀 \x00 \t", " lead and trail "]


@pytest.fixture(autouse=True)
def no_gap(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """One commit follows the other at once, except where the gap between them is what is tried."""
    if "real_gap" not in request.fixturenames:
        monkeypatch.setattr(GAP, 0.01)


@pytest.fixture
def real_gap() -> None:
    """The gap is as users have it."""


def key_of(name: str) -> PrivateKey:
    return PrivateKey(name.encode().ljust(32)[:32])


async def tell(world: Office, name: str, peer: str, body: str, spelt: str | None = None) -> None:
    """A tell as it comes over the wire, signed."""
    params = signed("sidekicks/mail/tell", {"peer": peer, "body": body}, spelt or name, key_of(name).sign)
    caller = await world.mail.callers.identify("sidekicks/mail/tell", msgspec.convert(params, Tell))
    await world.mail.pairs.tell(caller, peer, body)


async def settled(world: Office) -> None:
    assert world.mail.transcript is not None
    assert await world.mail.transcript.settled(), world.mail.transcript.problem


async def findings(store: Store, folder: Path, wanted: str | None = None) -> list[tuple[str, str]]:
    found = await verify(store, folder, wanted)
    assert found is not None
    return [(finding.path, finding.what) for finding in found.findings]


def git(folder: Path, *words: str) -> str:
    """Run git on the transcript in a data folder."""
    return run_git(folder / "transcript", *words)


def run_git(folder: Path, *words: str) -> str:
    run = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout + run.stderr


async def two(world: Office) -> tuple[Caller, Caller]:
    return await world.peer("ann"), await world.peer("ben")


async def test_what_is_written(tmp_path: Path) -> None:
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        ann, _ = await two(world)
        for body in BODIES:
            await tell(world, "ann", "ben", body)
        await tell(world, "ann", "BEN", "spelt", spelt="Ann")
        await world.mail.rooms.create(ann, "dev", "ours")
        params = signed("sidekicks/mail/post", {"room": "DEV", "body": "hello"}, "ann", key_of("ann").sign)
        caller = await world.mail.callers.identify("sidekicks/mail/post", msgspec.convert(params, Post))
        await world.mail.rooms.post(caller, "DEV", "hello")
        await settled(world)
        root = tmp_path / "transcript"
        pages = [parse((root / f"peers/ann--ben/{n:06d}-ann.md").read_bytes()) for n in range(1, 7)]
        assert [page.body for page in pages if page] == [*BODIES, "spelt"]
        assert all(page is not None and is_signed(page) for page in pages)
        assert pages[0] is not None
        assert list(pages[0].fields) == ["seq", "from", "ts", "nonce", "method", "to", "key", "sig"]
        assert pages[0].fields["key"] == key_of("ann").public
        assert (root / "rooms/dev/MEMBERS.md").read_text() == "count: 1\n\n- ann\n"
        assert "ours" in (root / "rooms/dev/ROOM.md").read_text()
        assert sorted(path.name for path in (root / "rooms/dev").iterdir()) == [
            "000002-ann.md",
            "MEMBERS.md",
            "ROOM.md",
        ]
        assert await findings(store, tmp_path) == []
        assert git(tmp_path, "status", "--porcelain") == ""
        git(tmp_path, "fsck", "--strict")
        assert await verify(store, tmp_path, "nobody") is None


async def test_an_ask_is_proved_too(tmp_path: Path) -> None:
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        await two(world)
        given = {"peer": "ben", "body": "?", "timeout": 0}
        params = signed("sidekicks/mail/ask", given, "ann", key_of("ann").sign)
        caller = await world.mail.callers.identify("sidekicks/mail/ask", msgspec.convert(params, AskPeer))
        await world.mail.pairs.ask(caller, "ben", "?", 0)
        await settled(world)
        assert await findings(store, tmp_path) == []


@pytest.mark.usefixtures("real_gap")
async def test_everything_that_waits_is_one_commit(tmp_path: Path) -> None:
    async with office(folder=tmp_path) as world:
        await two(world)
        for number in range(100):
            await tell(world, "ann" if number % 2 else "ben", "ben" if number % 2 else "ann", str(number))
        await settled(world)
        assert int(git(tmp_path, "rev-list", "--count", "HEAD")) <= 10
        assert len(git(tmp_path, "ls-files").splitlines()) == 100


async def test_what_was_changed_moved_or_taken_away(tmp_path: Path) -> None:
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        await two(world)
        for number in range(5):
            await tell(world, "ann", "ben", f"m{number}")
        await settled(world)
    pair = tmp_path / "transcript" / "peers" / "ann--ben"
    first = pair / "000001-ann.md"
    first.write_bytes(first.read_bytes().replace(b"m0", b"m9"))
    (pair / "000002-ann.md").rename(pair / "000009-ann.md")
    (pair / "000003-ann.md").unlink()
    page = parse((pair / "000004-ann.md").read_bytes())
    assert page is not None
    stranger = key_of("mallory")
    (pair / "000004-ann.md").write_bytes(Page({**page.fields, "key": stranger.public}, page.body).encode())
    (pair / "notes.txt").write_text("hand-made")
    (tmp_path / "transcript" / "rooms" / "made-up").mkdir(parents=True)
    name = "peers/ann--ben"
    assert sorted(await findings(store, tmp_path)) == [
        (f"{name}/000001-ann.md", "changed"),
        (f"{name}/000001-ann.md", "unsigned"),
        (f"{name}/000002-ann.md", "moved"),
        (f"{name}/000003-ann.md", "missing"),
        (f"{name}/000004-ann.md", "changed"),
        (f"{name}/000004-ann.md", "unsigned"),
        (f"{name}/notes.txt", "unknown"),
        ("rooms/made-up", "unknown"),
    ]
    assert len(await findings(store, tmp_path, "ben")) == 7


async def test_a_restart_goes_on_and_overwrites_nothing(tmp_path: Path) -> None:
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        await two(world)
        await tell(world, "ann", "ben", "before")
        await settled(world)
        await tell(world, "ann", "ben", "not committed yet")
    async with office(store, folder=tmp_path) as world:
        await tell(world, "ann", "ben", "after")
        await settled(world)
    names = sorted(path.name for path in (tmp_path / "transcript/peers/ann--ben").iterdir())
    assert names == ["000001-ann.md", "000002-ann.md", "000003-ann.md"]
    assert await findings(store, tmp_path) == []


async def test_a_lock_in_the_way_is_shown_and_waited_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sidekicks_bridge.mail.transcript.projector.RETRY_SECONDS", 0.05)
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        await two(world)
        await tell(world, "ann", "ben", "one")
        await settled(world)
        lock = tmp_path / "transcript/.git/index.lock"
        lock.touch()
        await tell(world, "ann", "ben", "two")
        transcript = world.mail.transcript
        assert transcript is not None
        assert not await transcript.settled()
        assert "index.lock" in (transcript.problem or "")
        await tell(world, "ann", "ben", "mail goes on")
        old = time.time() - 3600
        os.utime(lock, (old, old))  # left by one that was killed
        await transcript.settled()
        await settled(world)
        assert transcript.problem is None
        assert await findings(store, tmp_path) == []


async def test_without_git_mail_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sidekicks_bridge.mail.transcript.projector.RETRY_SECONDS", 0.05)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        ann, ben = await two(world)
        await tell(world, "ann", "ben", "one")
        assert world.mail.transcript is not None
        assert not await world.mail.transcript.settled()
        assert "not installed" in (world.mail.transcript.problem or "")
        assert [one.body for one in (await world.mail.reading.read(ben, "ann", None, 0)).messages] == ["one"]
        monkeypatch.setenv("PATH", path)
        await world.mail.transcript.settled()
        await settled(world)
        assert await findings(store, tmp_path) == []
        assert ann.name == "ann"


async def test_a_full_disk_is_shown_and_waited_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sidekicks_bridge.mail.transcript.projector.RETRY_SECONDS", 0.05)
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        _, ben = await two(world)
        await tell(world, "ann", "ben", "one")
        await settled(world)
        page = tmp_path / "transcript/peers/ann--ben/000002-ann.md"
        page.symlink_to(FULL)
        await tell(world, "ann", "ben", "two")
        transcript = world.mail.transcript
        assert transcript is not None
        assert not await transcript.settled()
        assert "No space left" in (transcript.problem or "") or "Is a directory" in (transcript.problem or "")
        bodies = [(await world.mail.reading.read(ben, "ann", None, 0)).messages[0].body for _ in range(2)]
        assert bodies == ["one", "two"]
        page.unlink()
        await transcript.settled()
        await settled(world)
        assert transcript.problem is None
        assert await findings(store, tmp_path) == []


async def test_a_deleted_channel_goes_and_purging_forgets_it(tmp_path: Path) -> None:
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        ann, _ = await two(world)
        await tell(world, "ann", "ben", "kept")
        await world.mail.rooms.create(ann, "secret", None)
        await world.mail.rooms.post(ann, "secret", "the password")
        await settled(world)
        channel = world.directory.named("secret")
        assert channel is not None
        await world.directory.delete(channel, "secret")
        world.mail.touched(channel.id)
        await settled(world)
        assert not (tmp_path / "transcript/rooms/secret").exists()
        assert "the password" in git(tmp_path, "log", "-p")
        assert world.mail.transcript is not None
        await world.mail.transcript.purge()
        assert "the password" not in git(tmp_path, "log", "-p")
        assert "kept" in git(tmp_path, "log", "-p")
        assert await findings(store, tmp_path) == []


async def test_a_renamed_room_moves(tmp_path: Path) -> None:
    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        ann, _ = await two(world)
        await world.mail.rooms.create(ann, "dev", None)
        await world.mail.rooms.post(ann, "dev", "before")
        await settled(world)
        channel = world.directory.named("dev")
        assert channel is not None
        await world.directory.update(channel, "team", None, None)
        world.mail.touched(channel.id)
        await world.mail.rooms.post(ann, "team", "after")
        await settled(world)
        assert not (tmp_path / "transcript/rooms/dev").exists()
        assert len(list((tmp_path / "transcript/rooms/team").glob("0*.md"))) == 2
        assert git(tmp_path, "status", "--porcelain") == ""
        assert await findings(store, tmp_path) == []


async def test_a_lost_repository_is_written_anew(tmp_path: Path) -> None:
    import shutil

    store = memory_store()
    async with office(store, folder=tmp_path) as world:
        await two(world)
        await tell(world, "ann", "ben", "one")
        await settled(world)
        shutil.rmtree(tmp_path / "transcript")
        await tell(world, "ann", "ben", "two")
        await settled(world)
        assert await findings(store, tmp_path) == []


async def test_the_users_own_git_takes_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n[commit]\n\tgpgSign = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    async with office(folder=tmp_path) as world:
        await two(world)
        await tell(world, "ann", "ben", "line\r\n")
        await settled(world)
    monkeypatch.delenv("GIT_DIR")
    assert "Sidekicks Bridge" in git(tmp_path, "log", "--format=%an")


async def test_a_damaged_repository_is_mended_and_none_above_is_touched(tmp_path: Path) -> None:
    above = tmp_path / "above"
    above.mkdir()
    run_git(above, "init", "-q", "-b", "main")
    data = above / "data"
    store = memory_store()
    async with office(store, folder=data) as world:
        await two(world)
        await tell(world, "ann", "ben", "one")
        await settled(world)
        (data / "transcript/.git/HEAD").unlink()
        await tell(world, "ann", "ben", "two")
        await settled(world)
        assert await findings(store, data) == []
        assert git(data, "log", "-1", "--format=%s") != ""
    assert run_git(above, "ls-files") == ""


async def test_what_git_could_not_take_yet_is_counted(tmp_path: Path) -> None:
    store = memory_store()
    (tmp_path / "transcript").write_text("no folder", encoding="utf-8")
    async with office(store, folder=tmp_path) as world:
        await two(world)
        await tell(world, "ann", "ben", "hello")
        assert world.mail.transcript is not None
        assert not await world.mail.transcript.settled()
        found = await verify(store, tmp_path, None)
        assert found is not None
        assert (found.messages, found.findings, found.waiting) == (0, [], 1)
