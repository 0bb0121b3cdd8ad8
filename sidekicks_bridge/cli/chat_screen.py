"""The screen of `sidekicks chat`: finished lines go into the terminal's own scrollback, a few live rows stand below.

Owns the prompt_toolkit application and its layout; what is shown comes from the model, what keys do from `chat_keys`.
No alternate screen, no mouse: scrolling, searching and copying are the terminal's.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prompt_toolkit.application import Application
from prompt_toolkit.filters import Condition
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import AfterInput, ConditionalProcessor
from prompt_toolkit.output import ColorDepth, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from sidekicks_bridge.cli.style import DIM, Line, to_ansi

if TYPE_CHECKING:
    from collections.abc import Callable

    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.output import Output

    from sidekicks_bridge.cli.composer import Composer
    from sidekicks_bridge.cli.picker import Picker

_COMPOSER_ROWS = 10
_MENU_ROWS = 8
_BEGIN_FRAME, _END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronised output: a terminal that knows it shows a frame whole; all others ignore it."""

_STYLE = Style.from_dict(
    {
        "completion-menu": "noinherit",
        "completion-menu.completion": "",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "dim",
        "completion-menu.meta.completion.current": "reverse dim",
    }
)


class Screen:
    """What is drawn. ``live``, ``route`` and ``footer`` are set before each drawing by whoever knows them."""

    def __init__(self, composer: Composer, picker: Picker, keys: KeyBindings, placeholder: Callable[[], str]) -> None:
        self.live: list[Line] = []
        self.route: Line = []
        self.footer: list[Line] = []
        self._picker = picker
        self._colours = not os.environ.get("NO_COLOR")
        self._composer_window = self._window_of(composer, placeholder)
        self._picker_window = Window(
            BufferControl(picker.buffer), height=1, get_line_prefix=lambda number, wrapped: [("bold", picker.prompt)]
        )
        self.app: Application[None] = Application(
            layout=Layout(self._layout(), focused_element=self._composer_window),
            key_bindings=keys,
            style=_STYLE,
            output=_output(),
            color_depth=None if self._colours else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
            include_default_pygments_style=False,
            before_render=lambda app: self._before(),
            after_render=lambda app: self._after(),
        )
        self.app.ttimeoutlen = 0.05
        self.app.timeoutlen = 0.3

    @property
    def columns(self) -> int:
        """The terminal's width."""
        return self.app.output.get_size().columns

    @property
    def rows(self) -> int:
        """The terminal's height."""
        return self.app.output.get_size().rows

    def focus(self, *, picker: bool) -> None:
        """Let the keys go to the picker or to the composer."""
        self.app.layout.focus(self._picker_window if picker else self._composer_window)

    def draw(self, final: list[Line]) -> None:
        """Write ``final`` above the live rows, then draw these again."""
        if final:
            self.app.output.write_raw(_BEGIN_FRAME)
            self.app.renderer.erase()
            self.app.output.write_raw(to_ansi(final, colours=self._colours).replace("\n", "\r\n"))
            self.app.output.flush()
        self.app.invalidate()

    def _window_of(self, composer: Composer, placeholder: Callable[[], str]) -> Window:
        empty = Condition(lambda: not composer.text)
        control = BufferControl(
            composer.buffer,
            input_processors=[ConditionalProcessor(AfterInput(lambda: [(DIM, placeholder())]), empty)],
        )
        return Window(
            control,
            wrap_lines=True,
            dont_extend_height=True,
            height=lambda: _height(composer.text),
            get_line_prefix=lambda number, wrapped: [("bold", "› " if number == 0 and not wrapped else "  ")],
        )

    def _layout(self) -> HSplit:
        picking = Condition(lambda: self._picker.question is not None)
        return HSplit(
            [
                self._rows_of(lambda: self.live),
                self._rows_of(lambda: [[(DIM, "─" * (self.columns - 1))]]),
                ConditionalContainer(
                    HSplit([self._rows_of(lambda: self._picker.lines(self.columns - 1)), self._picker_window]), picking
                ),
                ConditionalContainer(self._composer_window, ~picking),
                CompletionsMenu(max_height=_MENU_ROWS),
                self._rows_of(lambda: [self.route] if self.route else []),
                self._rows_of(lambda: self.footer),
            ]
        )

    def _rows_of(self, lines: Callable[[], list[Line]]) -> ConditionalContainer:
        window = Window(FormattedTextControl(lambda: _fragments(lines())), dont_extend_height=True)
        return ConditionalContainer(window, Condition(lambda: bool(lines())))

    def _before(self) -> None:
        """Give rows back that are no longer needed: the renderer itself never shrinks."""
        output, renderer = self.app.output, self.app.renderer
        output.write_raw(_BEGIN_FRAME)
        last = renderer.last_rendered_screen
        size = output.get_size()
        wanted = self.app.layout.container.preferred_height(size.columns, size.rows).preferred
        if last is not None and wanted < last.height:
            renderer.erase()

    def _after(self) -> None:
        self.app.output.write_raw(_END_FRAME)
        self.app.output.flush()


def _fragments(lines: list[Line]) -> StyleAndTextTuples:
    fragments: StyleAndTextTuples = []
    for number, line in enumerate(lines):
        if number:
            fragments.append(("", "\n"))
        fragments += line
    return fragments


def _height(text: str) -> int | None:
    return _COMPOSER_ROWS if text.count("\n") >= _COMPOSER_ROWS else None


def _output() -> Output:
    """The terminal, never asked where its cursor is: answers would come between the keys."""
    output = create_output()
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output
