"""The screen of a Neovim as its user interface protocol describes it: characters, colours, the cursor. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Cell = tuple[str, int]


@dataclass
class Screen:
    """The main grid. ``rows`` holds cells of a text and the id of its attributes in ``attributes``."""

    columns: int
    lines: int
    rows: list[list[Cell]] = field(default_factory=list)
    attributes: dict[int, dict[str, Any]] = field(default_factory=dict)
    foreground: int = 0xE0E2EA
    background: int = 0x14161B
    cursor: tuple[int, int] = (0, 0)
    mode: str = "normal"

    def __post_init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Empty every cell."""
        self.rows = [[(" ", 0)] * self.columns for _ in range(self.lines)]

    def take(self, events: list[Any]) -> None:
        """Take the parameters of one `redraw` notification."""
        for name, *calls in events:
            handler = getattr(self, f"_{name}", None)
            if handler is not None:
                for call in calls:
                    handler(*call)

    def text(self) -> str:
        """The rows as text, without blanks at their ends."""
        return "\n".join("".join(text for text, _ in row).rstrip() for row in self.rows)

    def _grid_resize(self, _grid: int, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self.clear()

    def _grid_clear(self, _grid: int) -> None:
        self.clear()

    def _grid_cursor_goto(self, _grid: int, row: int, column: int) -> None:
        self.cursor = (row, column)

    def _grid_line(self, _grid: int, row: int, column: int, cells: list[list[Any]], _wrap: bool = False) -> None:
        attribute = 0
        for cell in cells:
            text = cell[0]
            attribute = cell[1] if len(cell) > 1 else attribute
            for _ in range(cell[2] if len(cell) > 2 else 1):
                self.rows[row][column] = (text, attribute)
                column += 1

    def _grid_scroll(self, _grid: int, top: int, bottom: int, left: int, right: int, rows: int, _columns: int) -> None:
        order = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in order:
            self.rows[row][left:right] = self.rows[row + rows][left:right]

    def _hl_attr_define(self, number: int, rgb: dict[str, Any], _cterm: dict[str, Any], _info: list[Any]) -> None:
        self.attributes[number] = rgb

    def _default_colors_set(self, foreground: int, background: int, *_: int) -> None:
        self.foreground = foreground if foreground >= 0 else self.foreground
        self.background = background if background >= 0 else self.background

    def _mode_change(self, mode: str, _index: int) -> None:
        self.mode = mode
