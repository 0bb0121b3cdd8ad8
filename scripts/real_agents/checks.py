"""What is checked of each agent, one function a check: it says in few words what the agent did, or raises `Finding`."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from scripts.real_agents.talk import SECONDS, Desk, Talk, need
from tests.support.conditions import Answered, streaming
from tests.support.room import text_of

if TYPE_CHECKING:
    from tests.support.room import Room

    JSON = dict[str, Any]

Check = Callable[[Desk], Awaitable[str]]


async def turn(desk: Desk) -> str:
    """A full turn: it starts, answers, ends."""
    talk = await desk.ask(await desk.room(), "hello")
    need(f"{desk.agent} has answered" in talk.text, f"it said: {talk.stop}, {talk.text[:200]!r}")
    need(talk.stop == "end_turn", f"the turn ended as {talk.stop}")
    return f"answered, {talk.seconds:.1f} s with its start"


async def shell_allowed(desk: Desk) -> str:
    """The shell tool, allowed."""
    talk = await desk.ask(await desk.room(), "@@shell: echo yes > shell-allowed.txt; cat shell-allowed.txt")
    return _ran(desk, talk, "shell-allowed.txt")


async def shell_rejected(desk: Desk) -> str:
    """The shell tool, rejected."""
    talk = await desk.ask(await desk.room(), "@@shell: echo no > shell-rejected.txt", "reject")
    return _did_not(desk, talk, "shell-rejected.txt")


async def write_allowed(desk: Desk) -> str:
    """Writing a file, allowed."""
    talk = await desk.ask(await desk.room(), f"@@write: {desk.folder / 'write-allowed.txt'}|yes")
    return _ran(desk, talk, "write-allowed.txt")


async def write_rejected(desk: Desk) -> str:
    """Writing a file, rejected."""
    talk = await desk.ask(await desk.room(), f"@@write: {desk.folder / 'write-rejected.txt'}|no", "reject")
    return _did_not(desk, talk, "write-rejected.txt")


def _ran(desk: Desk, talk: Talk, name: str) -> str:
    need(talk.stop == "end_turn", f"the turn ended as {talk.stop}: {talk.text[:200]!r}")
    path = desk.folder / name
    need(path.exists(), f"there is no {name}; it said: {talk.text[:200]!r}")
    need(path.read_text(encoding="utf-8").strip() == "yes", f"{name} holds something else")
    need(talk.tools, "no tool call was shown")
    open_ = [tool["title"] for tool in talk.tools if tool["status"] not in ("completed", "failed", "cancelled")]
    need(not open_, f"tool calls that never ended: {open_}")
    if not talk.questions:
        return "done without asking"
    titles = [question["toolCall"]["title"] for question in talk.questions]
    need(all(titles), "a question without a title")
    return f"asked ({', '.join(option['kind'] for option in talk.questions[0]['options'])}), done"


def _did_not(desk: Desk, talk: Talk, name: str) -> str:
    path = desk.folder / name
    if not talk.questions:
        need(path.exists(), f"it neither asked nor did it: {talk.stop}, {talk.text[:200]!r}")
        return "done without asking"
    need(not path.exists(), f"{name} was written although that was rejected")
    ended = {tool["status"] for tool in talk.tools}
    need(ended <= {"completed", "failed", "cancelled"}, f"tool calls that never ended: {ended}")
    return f"not done, turn ended as {talk.stop}"


async def cancel_streaming(desk: Desk) -> str:
    """Cancel while it streams."""
    room = await desk.room()
    sent = await room.send("@@slow: 60")
    await desk.client.until(streaming(desk.agent, "tick2", channel=room.id), seconds=SECONDS)
    seconds, answer = await _cancel(desk, room, sent)
    need("tick2" in text_of(answer), "what it had said was lost")
    await desk.still_answers(room)
    return f"ended after {seconds:.1f} s, text kept, answers again"


async def cancel_asking(desk: Desk) -> str:
    """Cancel while a permission is open."""
    room = await desk.room()
    sent = await room.send("@@shell: echo no > cancelled.txt")
    kind, _ = await desk.client.until(desk.answered_or_asked(room, sent), seconds=SECONDS)
    if kind == "answer":
        return "does not ask"
    seconds, _ = await _cancel(desk, room, sent)
    need(not (desk.folder / "cancelled.txt").exists(), "the command ran all the same")
    need(not (await desk.client.state())["permissions"], "the question is still open")
    await desk.still_answers(room)
    return f"ended after {seconds:.1f} s, not done, answers again"


async def _cancel(desk: Desk, room: Room, sent: JSON) -> tuple[float, JSON]:
    began = time.monotonic()
    await room.cancel()
    answer = await desk.client.until(Answered(room.id, sent["messageId"], desk.agent), seconds=SECONDS)
    error = answer["turn"].get("error") or {}
    need(answer["turn"]["stopReason"] == "cancelled", f"it ended as {answer['turn']['stopReason']}: {error}")
    return time.monotonic() - began, answer


async def model_error(desk: Desk) -> str:
    """The model refuses the request."""
    room = await desk.room()
    talk = await desk.ask(room, "@@error: 400")
    await desk.still_answers(room)
    if talk.stop == "failed":
        return f"turn failed after {talk.seconds:.0f} s: {_short(talk.text)}"
    return f"{talk.stop} after {talk.seconds:.0f} s: {_short(talk.text)}"


async def slash_command(desk: Desk) -> str:
    """A slash command of its own."""
    room = await desk.room()
    await desk.ask(room, "hello")
    commands = (await room.request("channel/prepare"))["commands"]
    names = [command["name"] for command in commands]
    if not names:
        return "announces none"
    harmless = ("status", "context", "about", "stats", "compact", "init")
    name = next((name for name in harmless if name in names), names[0])
    talk = await desk.ask(room, f"/{name}", "reject")
    prompts = await desk.client.request("message/prompt", messageId=talk.answer["id"])
    sent = "".join(block.get("text", "") for block in prompts["blocks"])
    need(sent == f"/{name}", f"it was sent {sent!r}")
    said = _short(talk.text.replace(str(desk.folder), "…"))
    return f"{len(names)} announced; `/{name}`: {talk.stop}, {said}"


async def settings(desk: Desk) -> str:
    """Its modes or options: another one, and back."""
    room = await desk.room()
    await desk.ask(room, "hello")
    member = room.member(desk.agent)
    found = []
    for option in member.get("options", []):
        found.append(option["id"])
        before = option.get("value")
        other = next((value for value in _values(option) if value != before), None)
        if other is None:
            continue
        now = await _set_option(desk, room, option["id"], other)
        if before in _values(now):
            await _set_option(desk, room, option["id"], before)
    for kind in ("modes", "models"):
        offered = member.get(kind)
        found += [kind] if offered else []
    await desk.still_answers(room)
    return ", ".join(found) or "offers none"


def _values(option: JSON) -> list[Any]:
    return [False, True] if option["kind"] == "boolean" else [one["value"] for one in option["choices"]]


async def _set_option(desk: Desk, room: Room, name: str, value: Any) -> JSON:
    await room.request("session/setOption", agent=desk.agent, optionId=name, value=value)
    now = next((one for one in room.member(desk.agent)["options"] if one["id"] == name), None)
    need(now and now.get("value") == value, f"{name} was set to {value!r}, and then it said {now}")
    return now or {}


async def sessions(desk: Desk) -> str:
    """The sessions it remembers."""
    from tests.support.client import RefusedError

    await desk.ask(await desk.room(), "hello")
    try:
        listed = await desk.client.request("agent/sessions", agent=desk.agent)
    except RefusedError as refusal:
        need(refusal.kind == "notSupported", refusal.message)
        return "does not tell"
    need(listed["sessions"], "it lists none, though one is open")
    return "listed"


async def two_channels(desk: Desk) -> str:
    """Two channels at once: one after the other, nothing leaks."""
    rooms = [await desk.room() for _ in range(2)]
    for room, word in zip(rooms, ("apricot", "blackberry"), strict=True):
        await desk.ask(room, f"remember {word}")
    since = len(desk.model.requests)
    sent = [await room.send(f"hello number {number}") for number, room in enumerate(rooms)]
    for room, message in zip(rooms, sent, strict=True):
        answer = await desk.client.until(Answered(room.id, message["messageId"], desk.agent), seconds=SECONDS)
        need(f"{desk.agent} has answered" in text_of(answer), f"it said {text_of(answer)[:200]!r}")
    for number, own, other in ((0, "apricot", "blackberry"), (1, "blackberry", "apricot")):
        bodies = [request.body for request in desk.asked(since) if f"hello number {number}" in request.body]
        need(bodies, f"its model never heard of message {number}")
        need(any(own in body for body in bodies), f"it forgot {own}")
        need(not any(other in body for body in bodies), f"it mixed {other} into the other channel")
    return "both answered, nothing leaks"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:80]}{'…' if len(line) > 80 else ''}”" if line else "not a word"


CHECKS: dict[str, tuple[str, Check]] = {
    "turn": ("Full turn", turn),
    "shell-allowed": ("Shell, allowed", shell_allowed),
    "shell-rejected": ("Shell, rejected", shell_rejected),
    "write-allowed": ("Write, allowed", write_allowed),
    "write-rejected": ("Write, rejected", write_rejected),
    "cancel-streaming": ("Cancel while it streams", cancel_streaming),
    "cancel-asking": ("Cancel while a permission is open", cancel_asking),
    "model-error": ("Model error", model_error),
    "slash": ("Slash command", slash_command),
    "settings": ("Modes and options", settings),
    "sessions": ("Its sessions", sessions),
    "two-channels": ("Two channels at once", two_channels),
}
"""Name → title and function, in the order in which they are done in one bridge."""


# Checks over more than one bridge, or with more than one agent


async def remember(desk: Desk) -> Room:
    """Before a restart: a channel where the agent was told a word."""
    room = await desk.room()
    await desk.ask(room, "remember cranberry")
    return room


async def remembered(desk: Desk, channel_id: str) -> str:
    """After the restart of bridge and agent: the channel's history goes on."""
    room = await desk.client.open_id(channel_id)
    since = len(desk.model.requests)
    talk = await desk.ask(room, "what was the word?")
    need(talk.stop == "end_turn", f"the turn ended as {talk.stop}: {talk.text[:200]!r}")
    bodies = [request.body for request in desk.asked(since) if "what was the word?" in request.body]
    need(any("cranberry" in body for body in bodies), "its model was not told what had been said before")
    prompt = await desk.client.request("message/prompt", messageId=talk.answer["id"])
    said = room.said()
    need(len([line for line in said if "remember cranberry" in line]) == 1, f"the history is doubled: {said}")
    return f"goes on, session {prompt['session']}"


async def asks(desk: Desk, other: str) -> str:
    """It asks another agent with its tool in the middle of its turn, and uses the answer."""
    arguments = json.dumps({"peer": other, "message": "hello"})
    talk = await desk.ask(await desk.room(), f"@@tool: ask {arguments}")
    need(talk.stop == "end_turn", f"the turn ended as {talk.stop}: {talk.text[:200]!r}")
    if talk.text.startswith("No tool ask is among"):
        search = "search" in talk.text.lower()
        return "keeps the tools behind a search of its own" if search else "gives its model no MCP tools"
    need(f"{other} has answered" in talk.text, f"it was told {talk.text[:300]!r}")
    channels = (await desk.client.state())["channels"]
    need(sorted([desk.agent, other]) in [one.get("peers") for one in channels], "there is no channel of the two")
    return f"{other} answered in the middle of its turn"


async def in_turn(desk: Desk, agents: list[str]) -> dict[str, str]:
    """All in one channel, twice: each answers in its turn and is shown what the others said. Agent → what was found."""
    room = await desk.room(*agents)
    found = dict.fromkeys(agents, "")
    for round_ in (1, 2):
        sent = await room.send(f"{' '.join(f'@{agent}' for agent in agents)} hello, round {round_}")
        for at, agent in enumerate(agents):
            answer = await desk.client.until(Answered(room.id, sent["messageId"], agent), seconds=SECONDS)
            told = text_of(answer).partition("It was shown: ")[2].rstrip(".").split(", ")
            others = agents[:at] if round_ == 1 else [one for one in agents if one != agent]
            shown = [one for one in told if one not in ("nobody", agent)]  # its own answer: in a fresh session
            need(shown == sorted(others), f"{agent} said in round {round_}: {text_of(answer)[:300]!r}")
            prompt = await desk.client.request("message/prompt", messageId=answer["id"])
            found[agent] += f"{', then ' if found[agent] else ''}{len(others)} shown ({prompt['session']})"
    return found
