"""A Neovim screen as a PNG: one cell after the other, in the colours Neovim gave them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from tests.neovim.screen import Screen

FONTS = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono{}.ttf",
    "/Library/Fonts/DejaVuSansMono{}.ttf",
    "DejaVuSansMono{}.ttf",
)
STYLES = {(False, False): "", (True, False): "-Bold", (False, True): "-Oblique", (True, True): "-BoldOblique"}
SIZE = 15
WIDTH, HEIGHT = 9, 19
MARGIN = 12


def _font(bold: bool, italic: bool) -> ImageFont.FreeTypeFont:
    for pattern in FONTS:
        try:
            return ImageFont.truetype(pattern.format(STYLES[bold, italic]), SIZE)
        except OSError:
            continue
    sys.exit("The font DejaVu Sans Mono is needed: apt install fonts-dejavu")


def _in_mono(text: str) -> bool:
    """Whether the monospaced font has the character: it lacks Braille, a few symbols and all emoji."""
    return not ("\u2800" <= text <= "\u28ff" or "\u26a0" <= text <= "\u26ff" or text > "\uffff")


def _colour(value: int) -> str:
    return f"#{value:06x}"


def paint(screen: Screen, path: Path) -> None:
    """Write the screen to ``path``."""
    fonts = {style: _font(*style) for style in STYLES}
    size = (screen.columns * WIDTH + 2 * MARGIN, screen.lines * HEIGHT + 2 * MARGIN)
    image = Image.new("RGB", size, _colour(screen.background))
    draw = ImageDraw.Draw(image)
    for row, cells in enumerate(screen.rows):
        for column, (text, number) in enumerate(cells):
            _cell(draw, screen, fonts, (row, column), text, screen.attributes.get(number, {}))
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, optimize=True)


def _cell(
    draw: ImageDraw.ImageDraw,
    screen: Screen,
    fonts: dict[tuple[bool, bool], ImageFont.FreeTypeFont],
    place: tuple[int, int],
    text: str,
    style: dict[str, Any],
) -> None:
    row, column = place
    foreground = style.get("foreground", screen.foreground)
    background = style.get("background", screen.background)
    if style.get("reverse"):
        foreground, background = background, foreground
    left, top = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
    beam = screen.mode.startswith("insert")
    if place == screen.cursor and not beam:
        foreground, background = background, foreground
    if background != screen.background:
        draw.rectangle([left, top, left + WIDTH - 1, top + HEIGHT - 1], fill=_colour(background))
    if text.strip():
        font = fonts[bool(style.get("bold")), bool(style.get("italic"))] if _in_mono(text) else fonts[None]
        draw.text((left, top), text, font=font, fill=_colour(foreground))
    if style.get("underline") or style.get("undercurl"):
        line = style.get("special", foreground)
        draw.line([left, top + HEIGHT - 2, left + WIDTH - 1, top + HEIGHT - 2], fill=_colour(line))
    if place == screen.cursor and beam:
        draw.rectangle([left, top, left + 1, top + HEIGHT - 1], fill=_colour(screen.foreground))
