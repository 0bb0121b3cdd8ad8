"""A Neovim screen as a PNG: one cell after the other, in the colours Neovim gave them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from pathlib import Path

    from tests.neovim.screen import Screen

FOLDERS = ("/usr/share/fonts/truetype/dejavu/", "/Library/Fonts/", "")
STYLES = {(False, False): "", (True, False): "-Bold", (False, True): "-Oblique", (True, True): "-BoldOblique"}
SIZE = 15
WIDTH, HEIGHT = 9, 19
MARGIN = 12


def _load(name: str) -> ImageFont.FreeTypeFont:
    for folder in FOLDERS:
        try:
            return ImageFont.truetype(f"{folder}{name}.ttf", SIZE)
        except OSError:
            continue
    sys.exit(f"The font {name} is needed: apt install fonts-dejavu-extra")


def _only_in_sans(text: str) -> bool:
    """Whether the monospaced font lacks the character: Braille, and a few symbols."""
    return "\u2800" <= text <= "\u28ff" or text in "∴⋯"


class Painter:
    """Paints screens; loads the fonts once."""

    def __init__(self) -> None:
        self._mono = {style: _load(f"DejaVuSansMono{suffix}") for style, suffix in STYLES.items()}
        self._sans = _load("DejaVuSans")

    def paint(self, screen: Screen, path: Path) -> None:
        """Write the screen to ``path``."""
        size = (screen.columns * WIDTH + 2 * MARGIN, screen.lines * HEIGHT + 2 * MARGIN)
        image = Image.new("RGB", size, _colour(screen.background))
        draw = ImageDraw.Draw(image)
        for row, cells in enumerate(screen.rows):
            for column, (text, number) in enumerate(cells):
                self._cell(draw, screen, (row, column), text, screen.attributes.get(number, {}))
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(path, optimize=True)

    def _cell(
        self, draw: ImageDraw.ImageDraw, screen: Screen, place: tuple[int, int], text: str, style: dict[str, Any]
    ) -> None:
        row, column = place
        foreground = style.get("foreground", screen.foreground)
        background = style.get("background", screen.background)
        beam = screen.mode.startswith("insert")
        if bool(style.get("reverse")) != (place == screen.cursor and not beam):
            foreground, background = background, foreground
        left, top = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
        if background != screen.background:
            draw.rectangle([left, top, left + WIDTH - 1, top + HEIGHT - 1], fill=_colour(background))
        if text.strip():
            mono = self._mono[bool(style.get("bold")), bool(style.get("italic"))]
            draw.text((left, top), text, font=self._sans if _only_in_sans(text) else mono, fill=_colour(foreground))
        if style.get("underline") or style.get("undercurl"):
            line = _colour(style.get("special", foreground))
            draw.line([left, top + HEIGHT - 2, left + WIDTH - 1, top + HEIGHT - 2], fill=line)
        if place == screen.cursor and beam:
            draw.rectangle([left, top, left + 1, top + HEIGHT - 1], fill=_colour(screen.foreground))


def _colour(value: int) -> str:
    return f"#{value:06x}"
