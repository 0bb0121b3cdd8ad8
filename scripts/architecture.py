"""Draws docs/architecture.svg from the import graph: rooms in layer order, an arrow for every import between two.

``--check`` draws nothing and exits 1 when the picture is stale. The layers are those of the import contract in
pyproject.toml, the sentence in a box is the first of the room's docstring, so the picture cannot say anything else than
the code.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"
PACKAGE = "sidekicks_bridge"
COMMAND = "make gen"

LEFT, TOP, WIDTH, HEIGHT, GAP = 40, 92, 640, 54, 22
ARC, BESIDE = 34, 260
COLOURS = ("#3b6fb6", "#b4552d", "#2f855a", "#8a4fb0", "#a1761c", "#c0396b", "#1f7f8c", "#6b6f76")

LEGEND = "An arrow is an import; all point down. In small type: the libraries of a room."

STYLE = """
  .paper { fill: #ffffff } .box { fill: #f6f7f9; stroke: #c3c8d0 }
  .name { font: 600 16px ui-sans-serif, system-ui, sans-serif; fill: #1c2128 }
  .text { font: 12.5px ui-sans-serif, system-ui, sans-serif; fill: #57606a }
  .uses { font: 11.5px ui-monospace, monospace; fill: #6e7781 }
  .title { font: 600 20px ui-sans-serif, system-ui, sans-serif; fill: #1c2128 }
  path { fill: none; stroke-width: 1.6 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .box { fill: #161b22; stroke: #3d444d }
    .name, .title { fill: #e6edf3 } .text { fill: #9da7b1 } .uses { fill: #7d8590 }
  }
"""


@dataclass(frozen=True)
class Room:
    """A direct child of the package: what it is for, what it imports among the rooms and from outside."""

    name: str
    purpose: str
    imports: tuple[str, ...]
    uses: tuple[str, ...]


def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def contract() -> dict[str, Any]:
    """The import contract of the layers."""
    contracts: list[dict[str, Any]] = project()["tool"]["importlinter"]["contracts"]
    return next(one for one in contracts if one["id"] == "layers")


def floors() -> list[list[str]]:
    """The layers of the contract, top floor first; rooms not built yet are left out."""
    layers = [[name.strip(" ()") for name in layer.split(":")] for layer in contract()["layers"]]
    beside = list(contract()["exhaustive_ignores"])
    present = {path.stem for path in (ROOT / PACKAGE).iterdir()}
    return [floor for layer in [*layers, beside] if (floor := [name for name in layer if name in present])]


def rooms(names: list[str]) -> dict[str, Room]:
    """The rooms with their imports, from the import graph."""
    sys.path.insert(0, str(ROOT))  # this tree, also where another one is installed
    graph = grimp.build_graph(PACKAGE, include_external_packages=True, cache_dir=None)
    for exception in contract().get("ignore_imports", ()):
        importer, imported = exception.split(" -> ")
        graph.remove_import(importer=importer, imported=imported)
    known = third_party()
    found = {}
    for name in names:
        module = f"{PACKAGE}.{name}"
        inside = {module, *graph.find_descendants(module)}
        targets = {target for one in inside for target in graph.find_modules_directly_imported_by(one)} - inside
        found[name] = Room(
            name,
            purpose(name),
            tuple(other for other in names if any((t + ".").startswith(f"{PACKAGE}.{other}.") for t in targets)),
            tuple(sorted(target for target in targets if target in known)),
        )
    return found


def third_party() -> set[str]:
    """The outside modules worth naming: the dependencies by the names they are imported under, and SQLite."""
    names = {requirement.split(">")[0].replace("-", "_") for requirement in project()["project"]["dependencies"]}
    renamed = {"agent_client_protocol": "acp", "ruamel.yaml": "ruamel"}
    return {renamed.get(name, name) for name in names} | {"sqlite3"}


def purpose(name: str) -> str:
    """The first sentence of the room's docstring."""
    path = ROOT / PACKAGE / name
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = " ".join((ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "").split())
    return text.split(". ")[0].rstrip(".") + "."


def draw() -> str:
    """The picture as SVG text; the same for the same code."""
    stack = floors()
    by_name = rooms([name for floor in stack for name in floor])
    places = {name: place for row, floor in enumerate(stack) for name, place in _row(row, floor)}
    height = TOP + len(stack) * (HEIGHT + GAP) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + BESIDE} {height}" role="img">',
        "<!-- Drawn by scripts/architecture.py from the import graph; do not edit. -->",
        "<title>The rooms of Sidekicks Bridge and what they import</title>",
        f"<style>{STYLE}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
        f'<text class="title" x="{LEFT}" y="44">Rooms, top floor to ground</text>',
        f'<text class="text" x="{LEFT}" y="68">{LEGEND}</text>',
    ]
    for order, name in enumerate(by_name):
        lines += _arrows(order, by_name[name], places)
    for room in by_name.values():
        lines += _box(room, *places[room.name])
    return "\n".join([*lines, "</svg>"]) + "\n"


def _row(row: int, floor: list[str]) -> list[tuple[str, tuple[float, float, float]]]:
    """Left edge, upper edge and width of each room of a floor."""
    width = (WIDTH - GAP * (len(floor) - 1)) / len(floor)
    y = TOP + row * (HEIGHT + GAP)
    return [(name, (LEFT + column * (width + GAP), y, width)) for column, name in enumerate(floor)]


def _box(room: Room, x: float, y: float, width: float) -> list[str]:
    fits = int((width - 32) / 6.6)  # characters of the box, by their mean width
    uses = escape("  ".join(room.uses))
    text = room.purpose if len(room.purpose) <= fits else room.purpose[: fits - 1].rsplit(" ", 1)[0] + " …"
    return [
        f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="8"/>',
        f'<text class="name" x="{x + 16:g}" y="{y + 24:g}">{escape(room.name)}</text>',
        f'<text class="text" x="{x + 16:g}" y="{y + 43:g}">{escape(text)}</text>',
        f'<text class="uses" x="{x + width - 16:g}" y="{y + 24:g}" text-anchor="end">{uses}</text>',
    ]


def _arrows(order: int, room: Room, places: dict[str, tuple[float, float, float]]) -> list[str]:
    """Curves on the right side, one to each floor below, the wider the farther they reach."""
    colour = COLOURS[order % len(COLOURS)]
    edge = LEFT + WIDTH
    start = places[room.name][1] + HEIGHT / 2 + 6
    floors_below: dict[float, list[str]] = {}
    for target in room.imports:
        if (y := places[target][1]) != places[room.name][1]:
            floors_below.setdefault(y, []).append(target)
    lines = []
    for y, targets in floors_below.items():
        end = y + HEIGHT / 2 - 6
        reach = edge + ARC + 20 * (end - start) / (HEIGHT + GAP)
        curve = f"M{edge} {start:g} C{reach:g} {start:g} {reach:g} {end:g} {edge + 8} {end:g}"
        head = f"{edge},{end:g} {edge + 9},{end - 4:g} {edge + 9},{end + 4:g}"
        lines += [
            f'<path stroke="{colour}" d="{curve}"><title>{room.name} → {", ".join(targets)}</title></path>',
            f'<polygon fill="{colour}" points="{head}"/>',
        ]
    return lines


def main() -> int:
    """Returns the exit status: 1 when ``--check`` found the picture stale."""
    parser = argparse.ArgumentParser(description="Draw docs/architecture.svg from the import graph.")
    parser.add_argument("--check", action="store_true", help="draw nothing; exit 1 when the picture is stale")
    picture = draw()
    if not parser.parse_args().check:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(picture, encoding="utf-8", newline="\n")
        return 0
    if PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == picture:
        return 0
    sys.stderr.write(f"docs/architecture.svg is stale: run `{COMMAND}` and commit the result.\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
