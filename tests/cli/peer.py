"""A small bridge of the other kind: speaks the protocol and does what the message says, step by step.

For what a real bridge does not do on demand: dying in the middle, another protocol version, exact chunks, another
client's answer to a permission. Standard library only; run as ``python -m tests.cli.peer [options]``:
``--version N`` the protocol version it claims, ``--root DIR`` where #general works, ``--log N`` so many old messages.

Messages: ``long N`` N chunks · ``slow`` streams until cancelled · ``stubborn`` does not even end then ·
``edit`` asks permission with a diff (``edit elsewhere``: another client answers it at the next key;
``edit drafts``: another client writes meanwhile) · ``drafts`` another client writes ·
``lost`` ends while the client is too slow · ``die`` ends the process · ``stop`` says so before ·
``raw TEXT`` answers TEXT (JSON string) · ``nobody`` a route with a problem · ``notes`` thought, plan, tools ·
anything else is echoed by every agent it mentions (else by scout).
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

from tests.cli.peer_scripts import NOW, Json, Scripts

AGENTS = {"scout": ("Scout", "🔎"), "bob": ("Bob", "🦊")}


class Refusal(Exception):
    """What the bridge refuses: a code, a sentence."""


class Peer(Scripts):
    """The whole state of the scripted bridge."""

    def __init__(self, options: dict[str, str]) -> None:
        self.version = int(options.get("--version", "1"))
        self.drafts: dict[str, str] = {}
        self.ids = 0
        self.channels: Json = {}
        self.log: dict[str, list[Json]] = {}
        self.turns: dict[str, list[Json]] = {}
        self.stubborn = False
        self.answered_elsewhere = False
        self.open_permission: Json | None = None
        self.waiting: list[tuple[str, str, Json]] = []
        self.root: str | None = None
        root = options.get("--root")
        general = self.make("general", ["scout", "bob"], **({"root": root} if root else {}))
        self.make("review", ["bob"])
        for number in range(int(options.get("--log", "0"))):
            text = {"type": "text", "text": f"old message {number + 1}"}
            old = self.message(general["id"], {"kind": "user"}, [text])
            self.log[general["id"]].append({**old, "state": "finished", "seq": number + 1})

    def new_id(self) -> str:
        self.ids += 1
        return f"01{os.getpid():010d}{self.ids:014d}"

    def make(self, name: str | None, members: list[str], **more: Any) -> Json:
        channel = {
            "id": f"00{len(self.channels):024d}",  # the next peer has the same channels, but other messages
            "kind": "named" if name else "direct",
            "createdAt": NOW,
            "updatedAt": NOW,
            "members": [{"name": member, "kind": "agent", "joinedAt": NOW} for member in members],
            "unread": 0,
            **({"name": name} if name else {}),
            **more,
        }
        self.channels[channel["id"]] = channel
        self.log[channel["id"]] = []
        self.turns[channel["id"]] = []
        return channel

    # -- the wire -----------------------------------------------------------------------------------------------

    def write(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def tell(self, name: str, **params: Any) -> None:
        self.write({"method": f"sidekicks/{name}", "params": params})

    def serve(self) -> None:
        stdin = sys.stdin.buffer
        while header := stdin.readline():
            length = int(header.split(b":")[1])
            stdin.readline()
            frame = json.loads(stdin.read(length))
            if frame["method"] == "exit":
                return
            if "id" in frame:
                answer = self.answer(frame["method"], frame.get("params") or {}, frame["id"])
                if answer is not None:
                    self.write({"id": frame["id"], **answer})
            sys.stdout.buffer.flush()

    def answer(self, method: str, params: Json, number: int) -> Json | None:
        handler = getattr(self, "on_" + method.removeprefix("sidekicks/").replace("/", "_"), None)
        if handler is None:
            return {"error": {"code": -32601, "message": f"no {method}"}}
        try:
            result = handler(params)
        except Refusal as refused:
            data = {"code": refused.args[0], "retryable": False, "details": {}}
            return {"error": {"code": -32803, "message": refused.args[1], "data": data}}
        except KeyError as missing:
            data = {"code": "channelNotFound", "retryable": False, "details": {}}
            return {"error": {"code": -32803, "message": f"no such thing: {missing}", "data": data}}
        if method != "sidekicks/message/send":
            return {"result": result}
        self.write({"id": number, "result": {"messageId": result["id"], "route": result["route"]}})
        sys.stdout.buffer.flush()
        self.run_turns(params["channelId"])
        return None

    # -- requests -----------------------------------------------------------------------------------------------

    def on_initialize(self, params: Json) -> Json:
        folders = params.get("workspaceFolders")
        self.root = folders[0]["uri"].removeprefix("file://") if folders else None
        spoken = {"protocolVersion": self.version, "bridgeVersion": "test"}
        return {"capabilities": {"experimental": {"sidekicks": spoken}}}

    def on_shutdown(self, params: Json) -> None:
        return None

    def on_state_get(self, params: Json) -> Json:
        agents = [
            {"name": name, "title": title, "icon": icon, "state": "ready", "origin": "config", "commands": []}
            for name, (title, icon) in AGENTS.items()
        ]
        return {
            "agents": agents,
            "channels": list(self.channels.values()),
            "permissions": [],
            "turns": [],
            "storage": {"persistent": True},
            "config": {"path": "/nowhere/config.yaml", "problems": []},
        }

    def on_channel_open(self, params: Json) -> Json:
        channel = self.channels[params["channelId"]]
        if channel.get("root") is None and self.root:
            channel["root"] = self.root
        other = channel.get("root") if self.root and channel.get("root") != self.root else None
        snapshot = {
            "channel": channel,
            "messages": self.log[channel["id"]][-params.get("limit", 50) :],
            "hasMore": len(self.log[channel["id"]]) > params.get("limit", 50),
            "turns": self.turns[channel["id"]],
            "permissions": [],
        }
        draft = self.drafts.get(channel["id"])
        return {**snapshot, **({"otherRoot": other} if other else {}), **({"draft": draft} if draft else {})}

    def on_channel_create(self, params: Json) -> Json:
        if any(channel.get("name") == params["name"] for channel in self.channels.values()):
            raise Refusal("channelExists", f"Another channel is called #{params['name']}.")
        channel = self.make(params["name"], params.get("members", []), root=params.get("root"))
        self.tell("channels/changed", channels=list(self.channels.values()))
        return channel

    def on_channel_direct(self, params: Json) -> Json:
        for channel in self.channels.values():
            if channel.get("agent") == params["agent"]:
                return channel  # type: ignore[no-any-return]
        return self.make(None, [params["agent"]], agent=params["agent"])

    def on_channel_update(self, params: Json) -> Json:
        channel: Json = self.channels[params["channelId"]]
        channel |= {key: value for key, value in params.items() if key != "channelId"}
        return channel

    def on_channel_invite(self, params: Json) -> Json:
        channel: Json = self.channels[params["channelId"]]
        channel["members"].append({"name": params["agent"], "kind": "agent", "joinedAt": NOW})
        self.tell("channels/changed", channels=list(self.channels.values()))
        return channel

    def on_channel_remove(self, params: Json) -> Json:
        channel: Json = self.channels[params["channelId"]]
        channel["members"] = [member for member in channel["members"] if member["name"] != params["agent"]]
        self.tell("channels/changed", channels=list(self.channels.values()))
        return channel

    def on_channel_close(self, params: Json) -> Json:
        return {}

    on_channel_markRead = on_channel_close  # noqa: N815

    def on_draft_set(self, params: Json) -> Json:
        self.drafts[params["channelId"]] = params["text"]
        return {}

    def on_message_remove(self, params: Json) -> Json:
        for at, (_, channel, message) in enumerate(self.waiting):
            if message["id"] == params["messageId"]:
                del self.waiting[at]
                self.turns[channel] = [turn for turn in self.turns[channel] if turn["inReplyTo"] != message["id"]]
                self.tell("message/removed", channelId=channel, messageId=message["id"])
                self.tell_turns(channel)
        return {}

    def on_channel_prepare(self, params: Json) -> Json:
        return {"commands": []}

    def on_message_list(self, params: Json) -> Json:
        before = params.get("before", 10**9)
        found = [message for message in self.log[params["channelId"]] if message["seq"] < before]
        limit = params.get("limit", 50)
        return {"messages": found[-limit:], "hasMore": len(found) > limit}

    def on_message_preview(self, params: Json) -> Json:
        if self.answered_elsewhere and self.open_permission is not None:
            self.on_permission_answer({"requestId": self.open_permission["requestId"], "optionId": "always"})
        return self.route(params["text"])

    def on_message_complete(self, params: Json) -> Json:
        text = params["text"][: params["offset"]]
        found = re.search(r"[@/](\w*)$", text)
        if found is None:
            return {"items": []}
        start = {"line": 0, "character": found.start()}
        end = {"line": 0, "character": params["offset"]}
        names = ["@" + name for name in AGENTS] if found[0][0] == "@" else ["/find", "/files"]
        items = [
            {"label": name, "detail": "an agent", "textEdit": {"range": {"start": start, "end": end}, "newText": name}}
            for name in names
            if name.startswith(found[0])
        ]
        return {"items": items}

    def on_message_send(self, params: Json) -> Json:
        if params["text"] == "vanish":
            self.vanish(params["clientToken"])
        channel, text = params["channelId"], params["text"]
        route = self.route(text)
        message = self.message(channel, {"kind": "user"}, [{"type": "text", "text": text}])
        if route.get("problem"):
            self.finish(message)
            notice = {"type": "notice", "code": "unknownAgent", "text": route["problem"]["text"]}
            self.finish(self.message(channel, {"kind": "system"}, [notice]))
            return {"id": message["id"], "route": route}
        message["state"] = "queued"
        self.tell("message/updated", channelId=channel, message=message)
        for target in route["to"]:
            turn = {"id": self.new_id(), "channelId": channel, "agent": target["agent"], "state": "queued"}
            if self.turns[channel]:
                turn["waitsFor"] = {"reason": "channel", "agent": self.turns[channel][-1]["agent"]}
            self.turns[channel].append({**turn, "inReplyTo": message["id"]})
            self.waiting.append((text, channel, message))
        self.tell_turns(channel)
        return {"id": message["id"], "route": route}

    def on_turn_cancel(self, params: Json) -> Json:
        channel = params["channelId"]
        if self.turns[channel] and self.turns[channel][0].get("messageId") and not self.stubborn:
            self.open_permission = None
            self.end_turn(channel, "cancelled")
            self.run_turns(channel)
        return {}

    def on_permission_answer(self, params: Json) -> Json:
        asked = self.open_permission
        if asked is None or asked["requestId"] != params["requestId"]:
            return {"accepted": False}
        self.open_permission = None
        option = params.get("optionId")
        outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
        self.tell("permission/resolved", requestId=asked["requestId"], channelId=asked["channelId"], **outcome)
        tool = {**asked["toolCall"], "status": "failed" if option == "no" else "completed"}
        self.grow(asked["channelId"], 0, value=tool)
        self.grow(asked["channelId"], 1, value={"type": "text", "text": f"You said {option}."})
        self.end_turn(asked["channelId"], "end_turn")
        self.run_turns(asked["channelId"])
        return {"accepted": True}

    # -- what happens -------------------------------------------------------------------------------------------

    def tell_turns(self, channel: str) -> None:
        turns = [{key: value for key, value in turn.items() if key != "answer"} for turn in self.turns[channel]]
        self.tell("turn/changed", channelId=channel, turns=turns)

    def route(self, text: str) -> Json:
        if "nobody" in text:
            problem = {"code": "unknownAgent", "text": "No agent is named @bbo. Did you mean @bob?"}
            start = text.find("@bbo")
            place = {"suggestion": "@bob", "start": start, "end": start + 4} if start >= 0 else {}
            return {"to": [], "problem": {**problem, **place}}
        names = [name for name in re.findall(r"@(\w+)", text) if name in AGENTS] or ["scout"]
        return {"to": [{"agent": name, "invited": False, "unseen": 3, "cut": 0, "fresh": False} for name in names]}

    def message(self, channel: str, author: Json, parts: list[Json], **more: Any) -> Json:
        return {
            "id": self.new_id(),
            "channelId": channel,
            "author": author,
            "parts": parts,
            "createdAt": NOW,
            "state": "streaming",
            **more,
        }

    def finish(self, message: Json) -> None:
        log = self.log[message["channelId"]]
        message |= {"state": "finished", "seq": len(log) + 1}
        log.append(message)
        self.tell("message/updated", channelId=message["channelId"], message=message)

    def grow(self, channel: str, part: int, **what: Any) -> None:
        turn = self.turns[channel][0]
        parts = turn["answer"]["parts"]
        if "value" in what:
            parts[part:] = [what["value"]]
        else:
            text = parts[part].pop("text")  # taken out: a text that nothing else refers to grows in place
            text += what["text"]
            parts[part]["text"] = text
        self.tell("message/delta", channelId=channel, messageId=turn["messageId"], part=part, **what)

    def run_turns(self, channel: str) -> None:
        while self.turns[channel] and not self.turns[channel][0].get("messageId"):
            text, _, asked = self.waiting.pop(0)
            turn = self.turns[channel][0]
            if asked["state"] == "queued":
                self.finish(asked)
            more = {"turn": {"id": turn["id"], "startedAt": NOW}, "inReplyTo": asked["id"]}
            answer = self.message(channel, {"kind": "agent", "name": turn["agent"]}, [], **more)
            turn.pop("waitsFor", None)
            turn |= {"state": "thinking", "messageId": answer["id"]}
            self.tell_turns(channel)
            turn["answer"] = answer
            self.tell("message/updated", channelId=channel, message=answer)
            self.act(channel, text)


if __name__ == "__main__":
    Peer(dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))).serve()
