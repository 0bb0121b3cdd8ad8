"""The terminal client when its bridge dies, stops, speaks another version, or serves another client too."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.cli.terminal import with_peer

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


def after(text: str, mark: str) -> str:
    return text[text.rindex(mark) :]


def test_a_bridge_that_dies_is_followed_by_another_one(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("hello")
    chat.wait_for("I heard: hello")
    chat.send("slow")
    chat.wait_for("is writing")
    chat.type("not yet sent")
    chat.wait_for("› not yet sent")
    [first] = chat.children()
    chat.kill_children(signal.SIGKILL)
    shown = after(chat.wait_for("• The bridge ended with exit code -9; nothing finished is lost."), "slow")
    assert shown.index("Let me think about it") < shown.index("• The bridge ended")
    chat.wait_for(lambda shown: "is writing" not in shown and "Attaching again" not in shown)
    assert chat.children() != [first]
    chat.wait_for("› not yet sent")
    chat.key("enter")
    chat.wait_for("I heard: not yet sent")
    assert chat.text().count("I heard: hello") == 1


def test_a_bridge_that_dies_again_and_again_is_given_up(desk: Desk) -> None:
    chat = desk.chat()
    chat.type("not yet sent")
    for _ in range(2):
        chat.wait_for("→ 🔎 Scout")
        chat.kill_children(signal.SIGKILL)
        chat.wait_for("Attaching again")
        chat.wait_for(lambda shown: "Attaching again" not in shown)
        chat.type("!")
    chat.wait_for("→ 🔎 Scout")
    chat.kill_children(signal.SIGKILL)
    assert chat.wait_for_end() == 3
    shown = chat.text()
    assert "sidekicks chat: The bridge ended with exit code -9; nothing finished is lost." in shown
    assert "Not sent: not yet sent!!" in shown


def test_a_bridge_that_was_stopped_is_started_anew_when_somebody_types(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("stop")
    chat.wait_for("■ The bridge was stopped. Type, and it is started anew.")
    assert not chat.children()
    chat.type("hello")
    chat.wait_for("→ 🔎 Scout")
    chat.key("enter")
    chat.wait_for("I heard: hello")
    assert "Type, and it" not in chat.on_screen()


def test_what_another_client_writes_is_shown_where_nobody_writes(desk: Desk) -> None:
    chat = desk.chat()
    chat.type("drafts")
    chat.wait_for("› drafts")
    chat.key("enter")
    chat.wait_for("› written elsewhere")
    chat.type("!")
    chat.wait_for("› written elsewhere!")
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.type("edit drafts")
    chat.wait_for("› edit drafts")
    chat.key("enter")
    chat.wait_for("3 Reject")
    chat.wait_for("F1 keys")
    chat.wait_a_moment(0.6)
    chat.type("1")
    chat.wait_for("You said yes.")


def test_a_closed_terminal_ends_the_client_and_its_bridge(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("slow")
    chat.wait_for("is writing")
    bridge = chat.children()
    assert bridge
    chat.process.send_signal(signal.SIGHUP)
    assert chat.wait_for_end() == 0
    assert not chat.children()


@pytest.mark.parametrize("verb", ["chat", "say"])
def test_another_protocol_version_is_a_sentence(desk: Desk, verb: str) -> None:
    terminal = desk.open(with_peer(verb, "general", *(["hi"] if verb == "say" else []), peer=["--version", "2"]))
    assert terminal.wait_for_end() == 3
    assert "This client speaks protocol version 1, the bridge 2." in " ".join(terminal.text().split())


def test_a_message_that_was_on_its_way_is_sent_again_as_the_same_one(desk: Desk) -> None:
    chat = desk.chat()
    chat.type("vanish")
    chat.wait_for("› vanish")
    chat.key("enter")
    chat.wait_for("The bridge ended with exit code 9")
    chat.wait_for(lambda shown: "› vanish" in shown and "Attaching again" not in shown)
    chat.key("enter")
    chat.wait_for("I heard: vanish")
    first, second = (desk.folder / "vanished").read_text(encoding="utf-8").split()
    assert first == second
    chat.send("vanish")
    chat.wait_for(lambda _: chat.text().count("I heard: vanish") == 2)
    assert len(set((desk.folder / "vanished").read_text(encoding="utf-8").split())) == 2
