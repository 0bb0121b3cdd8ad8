"""`sidekicks chat` in a real pseudo-terminal, against the scripted peer: what a person sees and can do."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.cli.terminal import with_peer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk


def after(text: str, mark: str) -> str:
    return text[text.rindex(mark) :]


def test_a_message_and_its_answers_in_the_order_of_the_log(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("@bob @scout hello")
    shown = chat.wait_for(lambda text: text.count("I heard: @bob @scout hello") == 2)
    names = re.findall(r"^(❯ You|🦊 +Bob|🔎 +Scout) · \d\d", shown, re.MULTILINE)
    assert [name.split()[-1] for name in names] == ["You", "Bob", "Scout"]
    chat.wait_for(lambda text: bool(re.search(r"#general  🔎 *Scout  🦊 *Bob$", text.strip())))


def test_every_kind_of_part(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("notes")
    shown = after(chat.wait_for("It is here: router.py"), "Scout ·")
    rows = [row.strip() for row in shown.split("\n") if row.strip()]
    assert rows[1:6] == [
        "∴ Where could it be? …",
        "☑ Look",
        "✓ Search routes  src/router.py:12",
        "Found",
        "It is here: router.py",
    ]


def test_agent_text_cannot_touch_the_terminal(desk: Desk) -> None:
    chat = desk.chat()
    evil = "\x1b]0;owned\x07a\x1b[2Jb\rc\u202ed \x9b31m ❯ You · 12:00\n❯ You · 12:00\n**bold**"
    chat.send("raw " + json.dumps(evil))
    shown = chat.wait_for("bold")
    assert b"\x1b]0;owned" not in chat.raw
    assert b"\x1b[2J" not in chat.raw
    assert "␛]0;owned␇a␛[2Jb" in shown
    assert "c‹U+202E›d ‹9B›31m" in shown
    assert re.search(r"\n❯ You · (\S+ )?12:00\n  raw", shown)  # with its date, where that is not today's
    assert after(shown, "Scout ·").count("\n❯ You") == 0  # indented: no message can forge another speaker


def test_an_open_fence_does_not_leak(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("raw " + json.dumps("```python\nx = 1"))
    chat.wait_for("    x = 1")
    chat.send("raw " + json.dumps("# Title **two**"))
    assert "\n  Title two\n" in after(chat.wait_for("Title two"), "Scout ·")


def test_cancel_then_leave(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("slow")
    chat.wait_for("is writing")
    chat.wait_for("Let me think about it")
    chat.key("ctrl-c")
    chat.wait_for("■ cancelled")
    chat.wait_for("F1 keys")
    chat.key("ctrl-d")
    assert chat.wait_for_end() == 0
    assert "■ cancelled" in chat.text()  # the conversation stays in the scrollback
    assert "F1 keys" not in chat.on_screen()


def test_control_c_twice_leaves_while_an_agent_runs(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("stubborn")
    chat.wait_for("is writing")
    chat.key("ctrl-c")
    chat.key("ctrl-c")
    assert chat.wait_for_end() == 0


def test_control_c_empties_the_composer_first(desk: Desk) -> None:
    chat = desk.chat()
    chat.type("half a thought")
    chat.wait_for("half a thought")
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.key("ctrl-c")
    assert chat.wait_for_end() == 0


def test_permission_is_answered_by_its_digit_only_after_a_moment_and_with_an_empty_composer(desk: Desk) -> None:
    chat = desk.chat()
    chat.type("edit")
    chat.wait_for("› edit")
    chat.type("\r")
    chat.wait_for("asks for permission: Write NOTES.md")
    chat.type("3")  # typed at the very moment the card appeared: text, no answer
    chat.wait_for("› 3")
    shown = chat.wait_for("2 Always allow   3 Reject")
    assert "- b" in shown
    assert "+ c" in shown
    chat.wait_a_moment(0.6)
    chat.type("1")  # the composer is not empty
    chat.wait_for("› 31")
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.type("1")
    assert "✓ Write NOTES.md" in chat.wait_for("You said yes.")
    assert "asks for permission" not in chat.on_screen()


def test_a_permission_can_be_left_open_and_taken_up_again(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("edit")
    chat.wait_for("3 Reject")
    chat.key("esc")
    chat.wait_for("Scout waits: Write NOTES.md  Esc answers")
    chat.type("3")
    chat.wait_for("› 3")  # put aside: no key answers it
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.key("esc")
    chat.wait_for("3 Reject")
    chat.wait_a_moment(0.6)
    chat.type("3")
    chat.wait_for("You said no.")


def test_an_answer_of_another_client_closes_the_card(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("edit elsewhere")
    chat.wait_for("3 Reject")
    chat.type("meanwhile")
    chat.wait_for("You said always.")
    assert "asks for permission" not in chat.on_screen()


def test_a_client_that_was_too_slow_opens_again(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("lost")
    shown = chat.wait_for("first half, second half")
    assert shown.count("❯ You") == shown.count("Scout ·") == 1
    chat.send("hello")
    chat.wait_for("I heard: hello")


def test_a_failed_turn_says_why_and_what_to_do(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("fail")
    shown = after(chat.wait_for("Send again"), "Scout ·")
    assert "I was about to" in shown
    assert "■ Exit code 3." in shown
    assert "boom on stderr" in shown


def test_the_route_is_shown_while_typing_and_a_slip_is_mended_by_tab(desk: Desk) -> None:
    chat = desk.chat()
    chat.type("@bob hi")
    chat.wait_for(lambda text: bool(re.search(r"→ 🦊 *Bob \(3 unseen\)", text)))
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.type("@bbo nobody")
    chat.wait_for("Did you mean @bob?  Tab: @bob")
    chat.key("tab")
    chat.wait_for("› @bob nobody")


def test_a_message_with_a_problem_says_so_in_the_log(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("nobody")
    chat.wait_for("• No agent is named @bbo. Did you mean @bob?")


def test_completion_of_agents_and_commands(desk: Desk) -> None:
    chat = desk.chat()
    chat.type("hi @s")
    chat.wait_for("@scout  an agent")
    chat.key("tab")
    chat.wait_for("› hi @scout")
    chat.key("enter")  # takes the completion, sends nothing
    chat.wait_for(lambda shown: "an agent" not in shown)
    chat.type(" ok @b")  # the blank that came with it is not doubled
    chat.wait_for("› hi @scout ok @b")
    chat.wait_for("@bob   an agent")
    chat.key("tab")
    chat.wait_for("› hi @scout ok @bob")
    chat.type("too, @s")
    chat.wait_for("› hi @scout ok @bob too, @s")
    chat.wait_for("@scout  an agent")
    chat.key("tab")
    chat.type(", all")
    chat.wait_for("› hi @scout ok @bob too, @scout, all")
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.type("/")
    chat.wait_for(" /files")


def test_lines_pastes_and_history(desk: Desk) -> None:
    chat = desk.chat()
    chat.type("one")
    chat.wait_for("› one")
    chat.key("alt-enter")
    chat.type("two")
    chat.wait_for("  two")
    chat.key("ctrl-j")
    chat.type("three")
    chat.wait_for("  three")
    chat.key("enter")
    chat.wait_for("I heard: one")
    chat.type("\x1b[200~pasted a\nb\n\x1b[201~")  # as terminals mark it
    chat.wait_for("› pasted a\n  b")
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.type("list a\rb\r")  # as others do: nothing is sent by its line ends but the last
    chat.wait_for("I heard: list a")
    assert chat.text().count("❯ You") == 2
    chat.key("up")
    chat.wait_for("› list a\n  b")


def test_going_to_another_channel_and_making_one(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("hello general")
    chat.wait_for("I heard: hello general")
    chat.type("a draft")
    chat.wait_for("› a draft")
    chat.key("ctrl-o")
    chat.wait_for("Go to")
    chat.type("revi")
    chat.wait_for("❯ #review")
    chat.key("enter")
    chat.wait_for("message #review")
    chat.key("ctrl-n")
    chat.wait_for("New channel")
    chat.type("ideas")
    chat.wait_for("make the channel #ideas")
    chat.key("enter")
    chat.wait_for("message #ideas")
    chat.key("ctrl-o")
    chat.wait_for("Go to")
    chat.type("gener")
    chat.wait_for("❯ #general")
    chat.key("enter")
    chat.wait_for("› a draft")  # what was being written there is there again
    chat.wait_for(lambda _: chat.text().count("I heard: hello general") == 2)  # the last ones are shown again


def test_a_name_that_is_refused_leaves_the_list_open(desk: Desk) -> None:
    chat = desk.chat()
    chat.key("ctrl-n")
    chat.wait_for("name ›")
    chat.type("no good")
    chat.wait_for("no good")
    chat.key("enter")
    chat.type("!")
    chat.wait_for("name › no good!")
    chat.key("ctrl-c")
    chat.wait_for("F1 keys")
    chat.key("ctrl-n")
    chat.wait_for("name ›")
    chat.type("general")
    chat.wait_for("make the channel #general")
    chat.key("enter")
    chat.wait_for("Another channel is called #general.")
    chat.type("2")
    chat.wait_for(lambda shown: "name › general2" in shown and "Another" not in shown)
    chat.key("enter")
    chat.wait_for("message #general2")
    assert "I heard" not in chat.text()


def test_inviting_and_removing(desk: Desk) -> None:
    chat = desk.chat("review")
    chat.key("ctrl-t")
    chat.wait_for("#review:")
    chat.type("scout")
    chat.wait_for("❯ invite")
    chat.key("enter")
    chat.wait_for(lambda text: bool(re.search(r"#review  🦊 *Bob  🔎 *Scout", text)))
    chat.key("ctrl-t")
    chat.wait_for("❯ rename it")  # what costs nothing comes first
    chat.type("remove bob")
    chat.wait_for("❯ remove")
    chat.key("enter")
    chat.wait_for("Remove Bob from #review?")
    chat.wait_for("❯ no, leave it")
    chat.key("down")
    chat.wait_for("❯ yes, remove it")
    chat.key("enter")
    chat.wait_for(lambda text: bool(re.search(r"#review  🔎 *Scout", text)))


def test_a_queued_message_is_shown_and_can_be_taken_back(desk: Desk) -> None:
    chat = desk.chat()
    chat.send("slow")
    chat.wait_for("is writing")
    chat.send("for later")
    chat.wait_for("⧗ queued: for later")
    chat.wait_for(lambda shown: bool(re.search("next: 🔎 *Scout\n", shown)))
    chat.key("ctrl-q")
    chat.wait_for(lambda text: "⧗ queued" not in text)
    assert "❯ You" in chat.text()
    assert "\n  for later" not in chat.text()


def test_another_folder_is_asked_about_before_anything_is_sent(desk: Desk, tmp_path: Path) -> None:
    chat = desk.open(with_peer("chat", "general", peer=["--root", str(tmp_path / "other")]))
    chat.wait_for("• #general works in")
    chat.wait_for("F1 keys")
    chat.type("hello")  # nothing stands before the composer
    chat.wait_for("› hello")
    chat.key("enter")
    chat.wait_for("❯ make a channel for this folder")
    chat.key("esc")
    chat.wait_for("› hello")
    assert "I heard" not in chat.text()
    chat.key("enter")
    chat.wait_for("❯ make a channel for this folder")
    chat.key("enter")
    chat.wait_for("── #project · ")
    chat.wait_for("I heard: hello")  # sent there, once it was decided
    assert chat.text().count("I heard: hello") == 1


def test_earlier_messages(desk: Desk) -> None:
    chat = desk.open(with_peer("chat", "general", "--history", "4", peer=["--log", "12"]))
    chat.wait_for("PageUp shows earlier messages")
    chat.wait_for("old message 12")
    assert "old message 8" not in chat.text()
    chat.key("pageup")
    chat.wait_for("── end of the earlier messages")
    shown = chat.text()
    assert [number for number in range(1, 13) if f"old message {number}\n" in shown] == [5, 6, 7, 8, 9, 10, 11, 12]


def test_the_keys_are_explained(desk: Desk) -> None:
    chat = desk.chat(columns=80)
    chat.key("f1")
    shown = chat.wait_for("  F1                these keys")
    rows = shown[shown.index("  Enter   ") :].split("\n")
    assert "  Enter             send" in chat.on_screen()  # all of it fits
    words = " ".join(" ".join(rows).split())
    assert "sign in, ask again, settings, sessions, restart, stop Ctrl+Q" in words
    assert all(row.startswith("  ") for row in rows[: next(at for at, row in enumerate(rows) if "these keys" in row)])


def test_an_unknown_channel_can_be_made(desk: Desk) -> None:
    chat = desk.open(with_peer("chat", "#genral"))
    chat.wait_for("Did you mean '#general'?")
    chat.wait_for("❯ #general")
    chat.key("down")
    chat.wait_for("❯ make the channel #genral")
    chat.key("up")
    chat.wait_for("❯ #general")
    chat.key("enter")
    chat.wait_for("message #general")


def test_a_window_that_changes_its_size(desk: Desk) -> None:
    chat = desk.chat()
    chat.resize(60, 15)
    chat.send("long 40")
    shown = chat.wait_for("token 39")
    assert max(len(row) for row in after(shown, "Scout ·").split("\n")) <= 60
