"""What the keys of `sidekicks chat` do. The table for people (`HELP`) and the bindings stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, Filter, has_completions
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys

from sidekicks_bridge.cli.style import BOLD, Line, wrap

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyPressEvent

    from sidekicks_bridge.cli.chat_app import ChatApp

HELP = (
    ("Enter", "send"),
    ("Alt+Enter, Ctrl+J", "new line"),
    ("Tab", "complete @ and /, or mend a name that is wrong"),
    ("↑ ↓", "what you sent before"),
    ("Ctrl+C", "cancel the running turn; twice, or when nothing runs: leave"),
    ("Ctrl+D", "leave"),
    ("Ctrl+O", "go to another channel, or to a question that waits there"),
    ("Ctrl+N", "new channel"),
    ("Ctrl+T", "this channel: invite and remove agents, rename it, delete it"),
    ("Ctrl+F", "attach a file by its path; or paste the path of an image"),
    ("Ctrl+G", "the agents: what they ask for, sign in, ask again, settings, sessions, restart, stop"),
    ("Ctrl+Q", "take back a queued message"),
    ("F2", "what did they see? What an agent was sent for an answer"),
    ("PageUp", "earlier messages"),
    ("1 … 9, 0, Esc", "answer a permission question, show all of it, answer it later (composer empty)"),
    ("Ctrl+L, Ctrl+Z", "clear the screen; go to the shell, and back with `fg`"),
    ("F1", "these keys"),
)
_KEY_COLUMNS = 18
_INSTEAD_OF_BLANK = " ,.:;!?)"
"""What takes the place of the blank that a completion adds."""


def help_lines(columns: int) -> list[Line]:
    """The table, at most ``columns`` wide."""
    hanging: Line = [("", " " * _KEY_COLUMNS)]
    return [row for key, what in HELP for row in wrap([(BOLD, f"{key:<{_KEY_COLUMNS}}"), ("", what)], columns, hanging)]


def bindings(app: ChatApp) -> KeyBindings:
    """All bindings of the application."""
    keys = KeyBindings()
    picking = Condition(lambda: app.picker.question is not None)
    _composer_keys(keys, app, ~picking)
    _picker_keys(keys, app, picking)
    _permission_keys(keys, app, ~picking)
    for key, act in (
        ("c-o", app.questions.pick_channel),
        ("c-n", app.questions.new_channel),
        ("c-t", app.questions.this_channel),
        ("c-f", app.files.menu),
        ("c-g", app.agents.menu),
        ("c-q", app.questions.unqueue),
        ("pageup", app.earlier),
        ("f1", app.help),
        ("f2", app.prompts.menu),
    ):
        keys.add(key)(lambda event, act=act: act())
    keys.add("c-z")(lambda event: event.app.suspend_to_background())
    keys.add("c-l")(lambda event: event.app.renderer.clear())
    return keys


def _composer_keys(keys: KeyBindings, app: ChatApp, here: Filter) -> None:
    empty = Condition(lambda: not app.composer.text)

    @keys.add("enter", filter=here)
    def _(event: KeyPressEvent) -> None:
        buffer = app.composer.buffer
        if event.key_processor.input_queue:  # more has arrived with it: pasted, by a terminal that does not mark it
            buffer.insert_text("\n")
        elif buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            app.composer.take_completion()
        else:
            app.send()

    @keys.add(Keys.BracketedPaste, filter=here)
    def _(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        if not app.files.pasted(text):
            app.composer.buffer.insert_text(text)

    @keys.add("escape", "enter", filter=here)
    @keys.add("c-j", filter=here)
    def _(event: KeyPressEvent) -> None:
        app.composer.buffer.insert_text("\n")

    @keys.add("tab", filter=here)
    def _(event: KeyPressEvent) -> None:
        buffer = app.composer.buffer
        if buffer.complete_state is not None:
            buffer.complete_next()
        elif not app.accept_suggestion():
            buffer.start_completion(select_first=False)

    for key in _INSTEAD_OF_BLANK:

        @keys.add(key, filter=here & Condition(lambda: app.composer.completed))
        def _(event: KeyPressEvent, key: str = key) -> None:
            app.composer.buffer.delete_before_cursor()
            app.composer.buffer.insert_text(key)

    @keys.add("escape", filter=here & has_completions)
    def _(event: KeyPressEvent) -> None:
        app.composer.buffer.cancel_completion()

    @keys.add("c-c", filter=here)
    def _(event: KeyPressEvent) -> None:
        app.cancel_or_leave()

    @keys.add("c-d", filter=here & empty)
    def _(event: KeyPressEvent) -> None:
        app.leave()


def _picker_keys(keys: KeyBindings, app: ChatApp, picking: Filter) -> None:
    keys.add("up", filter=picking)(lambda event: app.picker.move(-1))
    keys.add("down", filter=picking)(lambda event: app.picker.move(1))
    keys.add("tab", filter=picking)(lambda event: app.picker.move(1))
    keys.add("enter", filter=picking)(lambda event: app.picked())
    for key in ("escape", "c-c", "c-d"):
        keys.add(key, filter=picking)(lambda event: app.close_picker())


def _permission_keys(keys: KeyBindings, app: ChatApp, here: Filter) -> None:
    asked = here & Condition(lambda: not app.composer.text and app.question_open())
    for digit in range(10):

        @keys.add(str(digit), filter=asked)
        def _(event: KeyPressEvent, digit: int = digit) -> None:
            if not app.answer(digit):  # it was meant for the composer
                app.composer.buffer.insert_text(str(digit))

    keys.add("escape", filter=asked)(lambda event: app.question_later())
