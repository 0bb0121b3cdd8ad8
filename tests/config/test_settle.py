"""Design invariant 8: what is in force after a file changed, as a table of before, text and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.config.load import parse, settle

if TYPE_CHECKING:
    from sidekicks_bridge.config.model import Config

BEFORE = """
agents:
  - {name: alice, command: old-a}
  - {name: bob, command: old-b}
  - {name: carol, command: old-c}
channels:
  - {name: general, members: [alice]}
  - {name: dev, members: [bob]}
limits: {idleStop: 1m, maxHops: 7}
messaging: {agents: "on"}
"""
SAME = "alice=old-a bob=old-b carol=old-c | general:alice dev:bob | 60 7 on"
CASES = {
    # nothing as a whole: everything stays
    "": SAME,
    "# all commented out": SAME,
    "- a": SAME,
    "agents:\n\t- x": SAME,
    BEFORE[:70] + '"': SAME,
    # a good file is what holds
    "agents: []": " |  | 600 3 ask",
    "agents: [{name: alice, command: new}]": "alice=new |  | 600 3 ask",
    # one bad entry stays as it was, the rest applies
    "agents: [{name: alice, command: 5}, {name: bob, command: new}]": "alice=old-a bob=new |  | 600 3 ask",
    "agents: [{name: bob, command: new}, {name: ALICE}]": "bob=new alice=old-a |  | 600 3 ask",
    "agents: [{name: dave}, {name: bob, command: new}]": "bob=new |  | 600 3 ask",
    # the second entry of a name is ignored, also when the first is bad
    "agents: [{name: bob, command: new}, {name: Bob, command: newer}]": "bob=new |  | 600 3 ask",
    "agents: [{name: bob}, {name: Bob, command: newer}]": "bob=old-b |  | 600 3 ask",
    # an entry whose name cannot be read may be any that is missing
    "agents: [{name: a--, command: x}, {name: bob, command: new}]": "bob=new alice=old-a carol=old-c |  | 600 3 ask",
    "agents: [alice, {name: bob, command: new}]": "bob=new alice=old-a carol=old-c |  | 600 3 ask",
    # a whole section
    "agents:": "alice=old-a bob=old-b carol=old-c |  | 600 3 ask",
    "agents: {alice: {}}\nlimits: 3": "alice=old-a bob=old-b carol=old-c |  | 60 7 ask",
    "agents: []\nchannels: none": " | general:alice dev:bob | 600 3 ask",
    "agents: []\nagents: []": "alice=old-a bob=old-b carol=old-c |  | 600 3 ask",
    # channels
    "agents: [{name: bob, command: b}]\nchannels: [{name: dev, members: 5}, {name: new, members: [bob, zoe]}]": (
        "bob=b | dev:bob new:bob | 600 3 ask"
    ),
    "agents: [{name: bob}]\nchannels: [{name: new, members: [bob]}]": "bob=old-b | new:bob | 600 3 ask",
    # single settings
    "agents: []\nlimits: {idleStop: soon, maxHops: 1}": " |  | 60 1 ask",
    "agents: []\nlimits: {idleStop: 2m, maxHops: -1}": " |  | 120 7 ask",
    "agents: []\nlimits: {idleStop: 99999d}\nmessaging: {agents: maybe}": " |  | 60 3 on",
    # unknown keys are warnings
    "agents: [{name: bob, command: new, comand: x}]\nfoo: 1": "bob=new |  | 600 3 ask",
}
AT_START = {
    "": " |  | 600 3 ask",
    "- a": " |  | 600 3 ask",
    "agents: [{name: alice, command: 5}, {name: bob, command: new}]": "bob=new |  | 600 3 ask",
    "agents: [{name: al--ice, command: x}]\nlimits: {idleStop: soon, maxHops: 1}": " |  | 600 1 ask",
    "agents: 5\nchannels: [{name: new, members: [bob]}]": " | new:bob | 600 3 ask",
}


def read(text: str, previous: Config | None) -> Config:
    return settle(previous, parse(text, Path("/x/config.yaml"), {}))


def told(config: Config) -> str:
    agents = " ".join(f"{agent.name}={agent.command}" for agent in config.agents)
    channels = " ".join(f"{channel.name}:{','.join(channel.members)}" for channel in config.channels)
    return f"{agents} | {channels} | {config.limits.idle_stop:g} {config.limits.max_hops} {config.messaging.agents}"


@pytest.mark.parametrize(("text", "after"), CASES.items(), ids=lambda value: repr(value)[:40])
def test_after_a_change(text: str, after: str) -> None:
    before = read(BEFORE, None)
    assert told(before) == SAME
    assert told(read(text, before)) == after


@pytest.mark.parametrize(("text", "after"), AT_START.items(), ids=lambda value: repr(value)[:40])
def test_at_start(text: str, after: str) -> None:
    assert told(read(text, None)) == after


def test_a_bad_entry_stays_over_several_changes() -> None:
    config = read(BEFORE, None)
    config = read(BEFORE.replace("old-a", "[]"), config)
    config = read(BEFORE.replace("old-a", "{}").replace("old-b", "new"), config)
    assert told(config) == SAME.replace("old-b", "new")
    assert told(read(BEFORE, config)) == SAME
