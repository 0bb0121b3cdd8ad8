"""What the composer makes of the bridge's completions."""

from __future__ import annotations

import pytest
from prompt_toolkit.formatted_text import to_plain_text

from sidekicks_bridge.cli.composer import completion


@pytest.mark.parametrize(
    ("label", "detail", "about", "shown"),
    [
        ("@scout", "scout", "Finds things", "Finds things"),
        ("@scout", "Scout (will be invited)", "Finds things", "(will be invited) · Finds things"),
        ("@sc", "Scout", None, "Scout"),
        ("/note", "@scribe text", "Keeps a note", "Keeps a note · text"),
        ("/scribe:note", "@scribe", None, ""),
    ],
)
def test_what_stands_beside_an_item(label: str, detail: str, about: str | None, shown: str) -> None:
    item = {"label": label, "detail": detail, **({"documentation": about} if about else {})}
    assert to_plain_text(completion(item, label, len(label)).display_meta) == shown


def test_a_blank_comes_with_it_where_none_follows() -> None:
    assert completion({"label": "@scout"}, "@s", 2).text == "@scout "
    assert completion({"label": "@scout"}, "@s here", 2).text == "@scout"
