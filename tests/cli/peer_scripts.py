"""What the scripted peer plays in a turn: one method for each first word of a message. Standard library only."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

NOW = "2026-11-30T12:00:00.000Z"
Json = dict[str, Any]


class Scripts:
    """The scripts; the peer gives them what they work on."""

    stubborn: bool
    answered_elsewhere: bool
    open_permission: Json | None
    root: str | None
    turns: dict[str, list[Json]]
    log: dict[str, list[Json]]

    def new_id(self) -> str:
        raise NotImplementedError

    def tell(self, name: str, **params: Any) -> None:
        raise NotImplementedError

    def tell_turns(self, channel: str) -> None:
        raise NotImplementedError

    def grow(self, channel: str, part: int, **what: Any) -> None:
        raise NotImplementedError

    def finish(self, message: Json) -> None:
        raise NotImplementedError

    def act(self, channel: str, text: str) -> None:
        words = re.sub(r"@\w+ ?", "", text).split(" ", 1)
        verb, rest = words[0], words[1] if len(words) > 1 else ""
        script = getattr(self, f"do_{verb}", None)
        if script is not None:
            script(channel, rest)
            return
        self.grow(channel, 0, value={"type": "text", "text": f"I heard: {text}"})
        self.end_turn(channel, "end_turn")

    def end_turn(self, channel: str, reason: str, error: Json | None = None) -> None:
        turn = self.turns[channel].pop(0)
        answer = turn["answer"]
        answer["turn"] |= {"stopReason": reason, "endedAt": NOW, **({"error": error} if error else {})}
        self.finish(answer)
        self.tell_turns(channel)

    def do_long(self, channel: str, rest: str) -> None:
        self.grow(channel, 0, value={"type": "text", "text": ""})
        for number in range(int(rest)):
            self.grow(channel, 0, text=f"token {number} ")
        self.end_turn(channel, "end_turn")

    def do_slow(self, channel: str, rest: str) -> None:
        self.turns[channel][0]["state"] = "writing"
        self.tell_turns(channel)
        self.grow(channel, 0, value={"type": "text", "text": "Let me think about it"})

    def do_stubborn(self, channel: str, rest: str) -> None:
        self.stubborn = True
        self.do_slow(channel, rest)

    def do_raw(self, channel: str, rest: str) -> None:
        self.grow(channel, 0, value={"type": "text", "text": json.loads(rest)})
        self.end_turn(channel, "end_turn")

    def do_fail(self, channel: str, rest: str) -> None:
        self.grow(channel, 0, value={"type": "text", "text": "I was about to"})
        self.end_turn(channel, "failed", {"code": "agentExited", "message": "Exit code 3.\nboom on stderr"})

    def do_lost(self, channel: str, rest: str) -> None:
        """Ends while the client is too slow for the events: it has to open again."""
        self.grow(channel, 0, value={"type": "text", "text": "first half"})
        answer = self.turns[channel].pop(0)["answer"]
        answer["parts"] = [{"type": "text", "text": "first half, second half"}]
        answer["turn"] |= {"stopReason": "end_turn", "endedAt": NOW}
        self.log[channel].append(answer | {"state": "finished", "seq": len(self.log[channel]) + 1})
        self.tell("channel/desynced", channelId=channel)

    def do_die(self, channel: str, rest: str) -> None:
        sys.stdout.buffer.flush()
        sys.stderr.write("Fatal: the peer was told to die\n")
        sys.exit(7)

    def vanish(self, token: str) -> None:
        """Note the token; the first time, die before anything is answered."""
        noted = Path("vanished")
        again = noted.exists()
        with noted.open("a", encoding="utf-8") as file:
            file.write(f"{token}\n")
        if not again:
            sys.stdout.buffer.flush()
            sys.exit(9)

    def do_stop(self, channel: str, rest: str) -> None:
        self.tell("bridge/stopping")
        sys.stdout.buffer.flush()
        sys.exit(0)

    def do_drafts(self, channel: str, rest: str) -> None:
        self.end_turn(channel, "end_turn")
        self.tell("draft/changed", channelId=channel, text="written elsewhere")

    def do_notes(self, channel: str, rest: str) -> None:
        tool: Json = {
            "type": "toolCall",
            "id": "t1",
            "kind": "search",
            "title": "Search routes",
            "status": "in_progress",
        }
        tool |= {"content": [], "locations": [{"path": (self.root or "") + "/src/router.py", "line": 12}]}
        entries = [{"content": "Look", "priority": "high", "status": "completed"}]
        self.grow(channel, 0, value={"type": "thought", "text": "Where could it be?\nProbably in the router."})
        self.grow(channel, 1, value={"type": "plan", "entries": entries})
        self.grow(channel, 2, value=tool)
        self.grow(channel, 2, value={**tool, "status": "completed"})
        self.grow(channel, 3, value={"type": "text", "text": "# Found\n\nIt is **here**: `router.py`\n"})
        self.grow(channel, 4, value={"type": "hologram", "data": 1})
        self.end_turn(channel, "end_turn")

    def do_edit(self, channel: str, rest: str) -> None:
        turn = self.turns[channel][0]
        diff = {"type": "diff", "path": (self.root or "") + "/NOTES.md", "oldText": "a\nb\n", "newText": "a\nc\n"}
        tool: Json = {"id": "t9", "kind": "edit", "title": "Write NOTES.md", "status": "pending"}
        tool |= {"content": [diff], "locations": []}
        options = [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]
        turn["state"] = "awaitingPermission"
        self.grow(channel, 0, value={"type": "toolCall", **tool})
        self.open_permission = {
            "requestId": self.new_id(),
            "channelId": channel,
            "agent": turn["agent"],
            "turnId": turn["id"],
            "toolCall": {"type": "toolCall", **tool},
            "options": options,
            "requestedAt": NOW,
        }
        self.tell_turns(channel)
        self.tell("permission/requested", **self.open_permission)
        self.answered_elsewhere = rest == "elsewhere"
        if rest == "drafts":
            self.tell("draft/changed", channelId=channel, text="written elsewhere")
