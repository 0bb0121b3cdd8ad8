"""A route is explained while the user types: its time grows with the text, whatever the text is made of."""

from __future__ import annotations

import time

import pytest

from sidekicks_bridge.channels.routing import Prospect, RoutingView, explain


def route(text: str, agents: list[str]) -> list[str]:
    """Who answers in a channel whose only member is the first agent."""
    view = RoutingView(agents=agents, members=agents[:1], prospect=lambda _: Prospect())
    return [target.agent for target in explain(text, view).to]


SHAPES = {
    "prose": "Some words, by a@b.c with `code` and @bob.py, that say nothing much. ",
    "lines": "\n",
    "e-mail": "a@b ",
    "one code span": "`",
    "code spans that never close": "`` ` ``` ",
    "escapes": "\\`",
    "fences": "> ```\n> ```\n",
    "emphasis": "*",
    "at signs": "@",
    "long words": "@" + "a" * 64 + " ",
    "mentions": "@bob ",
    "unknown words": "@zz ",
    "quotes": "> ",
    "list items": "\n- `",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_long_text_is_read_in_linear_time(shape: str) -> None:
    """Eight times the text takes about eight times the time (processor time, the best of three), never 64 times."""
    agents = ["bob", *(f"agent-{number}" for number in range(200))]

    def seconds(size: int) -> float:
        text = f"@bob\n{SHAPES[shape] * (size // len(SHAPES[shape]))}\n@bob ` ```"
        taken = []
        for _ in range(3):
            began = time.process_time()
            route(text, agents)
            taken.append(time.process_time() - began)
        return min(taken)

    assert seconds(240_000) < 0.05 + 20 * seconds(30_000)


def test_code_spans_of_every_length_do_not_slow_down_the_next() -> None:
    text = "@bob " + " ".join("`" * length for length in range(2, 1000)) + " `x`" * 50_000
    began = time.process_time()
    route(text, ["bob"])
    assert time.process_time() - began < 2


def test_a_long_slip_is_compared_with_every_name_quickly() -> None:
    agents = ["x" * 30 + f"{number:03}" + "y" * 31 for number in range(200)]
    began = time.process_time()
    assert route("@" + "x" * 30 + "z" * 34 + " hi", agents) == agents[:1]
    assert time.process_time() - began < 0.5
