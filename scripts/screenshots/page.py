"""A terminal screen as a PNG: the cells as HTML, photographed by a headless Chromium, which has every glyph."""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

COLOURS = {
    "black": "#1e2127",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#abb2bf",
    "brightblack": "#7f848e",
    "brightred": "#ff7b86",
    "brightgreen": "#b5e890",
    "brightbrown": "#f5d78e",
    "brightblue": "#7cc3ff",
    "brightmagenta": "#dd95f0",
    "brightcyan": "#73d5e0",
    "brightwhite": "#ffffff",
}
FOREGROUND, BACKGROUND = "#d7dae0", "#16181d"
WIDTH, HEIGHT = 9, 20
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: {back}; }}
pre {{ margin: 14px 16px; color: {front}; font: 15px/20px "DejaVu Sans Mono", "Noto Color Emoji", monospace; }}
span.w {{ display: inline-block; width: {double}px; overflow: hidden; vertical-align: top; height: 20px; }}
</style><pre>{rows}</pre>"""


def paint(screen: Any, path: Path) -> None:
    """Photograph a pyte screen."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium is needed: apt install chromium fonts-dejavu-core fonts-noto-color-emoji")
    shown = max(row + 1 for row, text in enumerate(screen.display) if text.strip())
    rows = "\n".join(_row(screen, row) for row in range(shown))
    page = PAGE.format(front=FOREGROUND, back=BACKGROUND, double=2 * WIDTH, rows=rows)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "screen.html"
        source.write_text(page, encoding="utf-8")
        size = f"{screen.columns * WIDTH + 40},{shown * HEIGHT + 28}"
        subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={folder}/profile",
                f"--window-size={size}",
                f"--screenshot={path}",
                source.as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=60,
        )


def _row(screen: Any, row: int) -> str:
    cells: list[str] = []
    column = 0
    while column < screen.columns:
        cell = screen.buffer[row][column]
        wide = column + 1 < screen.columns and screen.buffer[row][column + 1].data == ""
        cells.append(_cell(cell, wide=wide))
        column += 2 if wide else 1
    return "".join(cells)


def _cell(cell: Any, *, wide: bool) -> str:
    front, back = _colour(cell.fg, FOREGROUND), _colour(cell.bg, BACKGROUND)
    if cell.reverse:
        front, back = back, front
    styles = [f"color:{front}"] if front != FOREGROUND else []
    if back != BACKGROUND:
        styles.append(f"background:{back}")
    if cell.bold:
        styles.append("font-weight:bold")
    if cell.italics:
        styles.append("font-style:italic")
    if cell.underscore:
        styles.append("text-decoration:underline")
    text = html.escape(cell.data or " ")
    if wide:
        return f'<span class="w" style="{";".join(styles)}">{text}</span>'
    return f'<span style="{";".join(styles)}">{text}</span>' if styles else text


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return COLOURS.get(name, f"#{name}" if len(name) == 6 else default)
