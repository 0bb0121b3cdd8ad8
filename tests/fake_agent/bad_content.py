"""Bad behaviours in well-formed frames: updates and requests with wrong, unknown or hostile contents.

The wire itself and the answer are spoilt in `bad`, which also holds the table of kinds.
"""

from __future__ import annotations

from tests.fake_agent.bad import bad, update_frame

TYPE_CHECKING = False  # `typing` alone costs an agent 8 ms at start
if TYPE_CHECKING:
    from typing import Any

    from tests.fake_agent.turn import Turn

    JSON = dict[str, Any]

# --- updates


@bad("unknown-update")
def unknown_update(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "notice", "text": "hi"})
    turn.update({"sessionUpdate": "some_future_kind", "x": 1})
    turn.say("after")


@bad("odd-updates")
def odd_updates(turn: Turn, _rest: str) -> None:
    odd: list[Any] = [None, "text", [], 7, {}, {"sessionUpdate": None}, {"sessionUpdate": ["plan"]}]
    for update in odd:
        turn.wire.send(update_frame(turn, update))
    turn.say("after")


@bad("bad-kind")
def bad_kind(turn: Turn, _rest: str) -> None:
    kept = {"type": "content", "content": {"type": "text", "text": "kept"}}
    turn.tool(
        turn.session.next_id("t"),
        title="T",
        kind="frobnicate",
        status="cancelled",
        content=[{"type": "hologram"}, kept],
        locations=[{"path": 1}],
    )


@bad("no-title")
def no_title(turn: Turn, _rest: str) -> None:
    turn.tool(turn.session.next_id("t"))
    turn.say("after")


@bad("no-id")
def no_id(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "tool_call", "title": "no id", "status": "pending"})
    turn.update({"sessionUpdate": "tool_call_update", "status": "completed"})
    turn.say("after")


@bad("same-tool")
def same_tool(turn: Turn, _rest: str) -> None:
    call_id = turn.session.next_id("t")
    for title in ("first", "second", "third"):
        turn.tool(call_id, title=title, kind="read", status="in_progress")
    turn.tool_update(call_id, status="completed")
    turn.say("after")


@bad("newline-title")
def newline_title(turn: Turn, _rest: str) -> None:
    turn.tool(turn.session.next_id("t"), title="rm\n-rf \x1b[31m/\r\u202eevil", kind="execute", status="completed")
    turn.say("after")


@bad("bad-content")
def bad_content(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "agent_message_chunk", "content": "plain string"})
    turn.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}})
    turn.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}})
    turn.say("after")


@bad("bad-usage")
def bad_usage(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "usage_update", "used": 300, "size": 200})
    turn.update({"sessionUpdate": "usage_update", "used": 10})
    turn.update({"sessionUpdate": "usage_update", "used": -1, "size": 0, "cost": {"amount": "much"}})
    turn.say("after")


@bad("bad-lists")
def bad_lists(turn: Turn, _rest: str) -> None:
    turn.update({"sessionUpdate": "available_commands_update", "availableCommands": [1, {"name": "ok"}, {}, None]})
    turn.update({"sessionUpdate": "plan", "entries": [{"content": "kept", "status": "paused"}, 4, None]})
    turn.update({"sessionUpdate": "config_option_update", "configOptions": {"id": "x"}})
    turn.update({"sessionUpdate": "current_mode_update"})
    turn.say("after")


@bad("order")
def order(turn: Turn, _rest: str) -> None:
    for n in range(50):
        turn.say(f"{n} ")


@bad("unknown-session")
def unknown_session(turn: Turn, _rest: str) -> None:
    turn.wire.send(update_frame(turn, turn.chunk("for nobody"), session="no-such-session"))
    turn.say("after")


# --- requests of the agent


@bad("ext")
def ext(turn: Turn, _rest: str) -> None:
    turn.wire.notify("_foo/bar", {"a": 1})
    turn.wire.notify("foo/bar", {})
    schema = {"type": "object", "properties": {}}
    form = {"sessionId": turn.session.id, "mode": "form", "message": "M", "requestedSchema": schema}
    for method, params in (("_foo/req", {"b": 2}), ("cursor/ask", {}), ("elicitation/create", form)):
        turn.wire.ask(method, params).wait()
    turn.wire.notify("$/cancel_request", {"requestId": "zz"})
    turn.say("after")


@bad("meta-perm")
def meta_perm(turn: Turn, _rest: str) -> None:
    turn.request(
        "session/request_permission",
        toolCall={"toolCallId": turn.session.next_id("t"), "title": "rm -rf", "kind": "execute"},
        options=[{"optionId": "no", "name": "No", "kind": "reject_once"}],
        _meta={"session_id": "HIJACK", "options": "HIJACK"},
    )


@bad("perm-badkind")
def perm_badkind(turn: Turn, _rest: str) -> None:
    turn.request(
        "session/request_permission",
        toolCall={"toolCallId": turn.session.next_id("t")},
        options=[{"optionId": "x", "name": "X", "kind": "allow_session"}],
    )


@bad("perm-twins")
def perm_twins(turn: Turn, _rest: str) -> None:
    turn.request(
        "session/request_permission",
        toolCall={"toolCallId": turn.session.next_id("t"), "title": "twins"},
        options=[{"optionId": i, "name": f"Always {i}", "kind": "allow_always"} for i in ("here", "everywhere")],
    )


@bad("perm-empty")
def perm_empty(turn: Turn, _rest: str) -> None:
    turn.request("session/request_permission", toolCall={"toolCallId": turn.session.next_id("t")}, options=[])
    turn.say("after")


@bad("perm-texts")
def perm_texts(turn: Turn, _rest: str) -> None:
    options = ["yes", "no", {"optionId": "yes", "name": "the same again"}, {"name": "without an id"}]
    reply = turn.request(
        "session/request_permission", toolCall={"toolCallId": turn.session.next_id("t")}, options=options
    )
    turn.say(reply.get("result", {"outcome": {}})["outcome"].get("optionId", "none"))


@bad("perm-malformed")
def perm_malformed(turn: Turn, _rest: str) -> None:
    for params in ({}, {"toolCall": None, "options": "all"}, {"options": [1, None]}):
        turn.request("session/request_permission", **params)
    turn.say("after")


@bad("perm-unknown-session")
def perm_unknown_session(turn: Turn, _rest: str) -> None:
    options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
    call = {"toolCallId": "sub-1", "title": "sub-agent's call"}
    params = {"sessionId": "no-such-session", "toolCall": call, "options": options}
    turn.wire.ask("session/request_permission", params).wait()
    turn.say("after")
