"""The dialects of model APIs that the agents speak: a request read into what `script` knows, its acts told as events.

Each dialect has ``read`` (turns, tools, a schema if structured output is wanted) and ``events`` (server-sent ones). Who
wants one object instead of a stream gets it from ``whole``. Owns shapes only; no connection.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from scripts.real_agents.script import Call, Tool, Turn, Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scripts.real_agents.script import JSON, Act

_ids = itertools.count(1)
_IN, _OUT = 100, 20
"""Tokens that every request is said to have taken."""


class Asked(NamedTuple):
    """A request to the model, in no dialect."""

    turns: list[Turn]
    tools: list[Tool]
    schema: JSON | None = None


class Event(NamedTuple):
    """A server-sent event, after ``pause`` seconds."""

    data: JSON | str
    name: str | None = None
    pause: float = 0

    def encode(self) -> bytes:
        """The event as it is sent."""
        data = self.data if isinstance(self.data, str) else json.dumps(self.data)
        return f"{f'event: {self.name}' + chr(10) if self.name else ''}data: {data}\n\n".encode()


def text_of(content: Any) -> str:
    """The text in a message's content, whatever its shape."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content"))
    return content if isinstance(content, str) else ""


def _new(prefix: str) -> str:
    return f"{prefix}_{next(_ids):08d}"


def _pieces(words: Words) -> list[str]:
    return [words.text] if words.text.startswith("{") else re.findall(r"\S+\s*", words.text)


_NOT_THE_USERS = ("<system-reminder>", "[Request interrupted")
"""How begins what agents add in the user's name."""
_DATE = re.compile(r"\A<current_datetime>.*</current_datetime>\s*")
"""Copilot puts it before the prompt."""


class Chat:
    """OpenAI's chat completions."""

    @staticmethod
    def read(body: JSON) -> Asked:
        """A request's contents."""
        turns = []
        for message in body.get("messages") or []:
            role = message.get("role")
            if role == "user":
                content = message.get("content")
                # A prompt that was never answered stands before the new one in one message.
                words = _DATE.sub("", text_of(content[-1:] if isinstance(content, list) else content))
                if not words.lstrip().startswith(_NOT_THE_USERS):
                    turns.append(Turn("user", words))
            elif role == "tool":
                turns.append(Turn("result", text_of(message.get("content"))))
            elif role == "assistant" and message.get("tool_calls"):
                turns.append(Turn("calls"))
        functions = [tool["function"] for tool in body.get("tools") or [] if "function" in tool]
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
        return Asked(turns, [Tool(one["name"], one.get("parameters") or {}) for one in functions], schema)

    @staticmethod
    def events(acts: list[Act], model: str) -> Iterator[Event]:
        """The answer as a stream."""
        base = {"id": _new("chatcmpl"), "object": "chat.completion.chunk", "created": int(time.time()), "model": model}

        def chunk(delta: JSON, finish: str | None = None, pause: float = 0) -> Event:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return Event({**base, "choices": [choice]}, pause=pause)

        calls = 0
        yield chunk({"role": "assistant", "content": ""})
        for act in acts:
            if isinstance(act, Words):
                key = "reasoning_content" if act.thought else "content"
                for piece in _pieces(act):
                    yield chunk({key: piece}, pause=act.pause)
            elif isinstance(act, Call):
                function = {"name": act.tool.name, "arguments": json.dumps(act.fields)}
                one = {"index": calls, "id": _new("call"), "type": "function", "function": function}
                calls += 1
                yield chunk({"tool_calls": [one]})
        yield chunk({}, "tool_calls" if calls else "stop")
        usage = {"prompt_tokens": _IN, "completion_tokens": _OUT, "total_tokens": _IN + _OUT}
        yield Event({**base, "choices": [], "usage": usage})
        yield Event("[DONE]")

    @staticmethod
    def whole(events: Iterable[Event]) -> JSON:
        """The answer as one object."""
        message: JSON = {"role": "assistant", "content": ""}
        finish, last = "stop", {}
        for event in events:
            if not isinstance(event.data, dict):
                continue
            last = event.data
            for choice in event.data["choices"]:
                finish = choice["finish_reason"] or finish
                message["content"] += choice["delta"].get("content") or ""
                if calls := choice["delta"].get("tool_calls"):
                    message.setdefault("tool_calls", []).extend(calls)
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return {**last, "object": "chat.completion", "choices": [choice]}


class Responses:
    """OpenAI's responses."""

    @staticmethod
    def read(body: JSON) -> Asked:
        """A request's contents."""
        given = body.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
        turns = []
        for item in items:
            kind = item.get("type", "message")
            if kind == "message" and item.get("role") == "user":
                turns.append(Turn("user", text_of(item.get("content"))))
            elif kind.endswith("_call"):
                turns.append(Turn("calls"))
            elif kind.endswith("_output"):
                turns.append(Turn("result", text_of(item.get("output"))))
        tools = [
            Tool(one.get("name") or one["type"], one.get("parameters") or {}, plain=one.get("type") == "custom")
            for one in body.get("tools") or []
        ]
        format_ = (body.get("text") or {}).get("format") or {}
        return Asked(turns, tools, format_.get("schema") if format_.get("type") == "json_schema" else None)

    @staticmethod
    def events(acts: list[Act], model: str) -> Iterator[Event]:
        """The answer as a stream."""
        base = {"id": _new("resp"), "object": "response", "created_at": int(time.time()), "model": model}
        numbers = itertools.count()
        output: list[JSON] = []

        def event(name: str, pause: float = 0, **fields: Any) -> Event:
            return Event({"type": name, "sequence_number": next(numbers), **fields}, name, pause)

        yield event("response.created", response={**base, "status": "in_progress", "output": []})
        for act in acts:
            at = len(output)
            if isinstance(act, Words) and not act.thought:
                part = {"type": "output_text", "text": act.text, "annotations": []}
                item: JSON = {"type": "message", "id": _new("msg"), "role": "assistant", "content": []}
                yield event("response.output_item.added", output_index=at, item={**item, "status": "in_progress"})
                where: JSON = {"item_id": item["id"], "output_index": at, "content_index": 0}
                yield event("response.content_part.added", part={**part, "text": ""}, **where)
                for piece in _pieces(act):
                    yield event("response.output_text.delta", act.pause, delta=piece, **where)
                yield event("response.output_text.done", text=act.text, **where)
                item |= {"status": "completed", "content": [part]}
            elif isinstance(act, Call):
                item = {"id": _new("fc"), "call_id": _new("call"), "name": act.tool.name, "status": "completed"}
                if act.tool.plain:
                    item |= {"type": "custom_tool_call", "input": act.fields.get("input", "")}
                else:
                    item |= {"type": "function_call", "arguments": json.dumps(act.fields)}
                yield event("response.output_item.added", output_index=at, item={**item, "status": "in_progress"})
            else:
                continue
            yield event("response.output_item.done", output_index=at, item=item)
            output.append(item)
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": _IN, "output_tokens": _OUT, "total_tokens": _IN + _OUT, **details}
        yield event("response.completed", response={**base, "status": "completed", "output": output, "usage": usage})

    @staticmethod
    def whole(events: Iterable[Event]) -> JSON:
        """The answer as one object."""
        *_, last = events
        assert isinstance(last.data, dict)
        response: JSON = last.data["response"]
        return response


class Messages:
    """Anthropic's messages."""

    @staticmethod
    def read(body: JSON) -> Asked:
        """A request's contents."""
        turns = []
        for message in body.get("messages") or []:
            content = message.get("content")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
            if message.get("role") != "user":
                if any(block.get("type") == "tool_use" for block in blocks):
                    turns.append(Turn("calls"))
                continue
            results = [block for block in blocks if block.get("type") == "tool_result"]
            turns += [Turn("result", text_of(block.get("content"))) for block in results]
            # Beside what the user wrote stand reminders of the agent's own.
            texts = [block["text"] for block in blocks if block.get("type") == "text"]
            own = [text for text in texts if not text.lstrip().startswith(_NOT_THE_USERS)]
            if own:
                turns.append(Turn("user", own[-1]))  # before it may stand one that was never answered
        tools = [Tool(one["name"], one.get("input_schema") or {}) for one in body.get("tools") or [] if "name" in one]
        format_ = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
        return Asked(turns, tools, format_.get("schema"))

    @staticmethod
    def events(acts: list[Act], model: str) -> Iterator[Event]:
        """The answer as a stream."""
        usage = {"input_tokens": _IN, "output_tokens": _OUT}
        ends = {"stop_reason": None, "stop_sequence": None}

        def event(name: str, pause: float = 0, **fields: Any) -> Event:
            return Event({"type": name, **fields}, name, pause)

        message = {"id": _new("msg"), "type": "message", "role": "assistant", "model": model, "content": []}
        yield event("message_start", message={**message, **ends, "usage": usage})
        for index, act in enumerate(acts):
            if isinstance(act, Words):
                kind, delta = ("thinking", "thinking_delta") if act.thought else ("text", "text_delta")
                yield event("content_block_start", index=index, content_block={"type": kind, kind: ""})
                for piece in _pieces(act):
                    yield event("content_block_delta", act.pause, index=index, delta={"type": delta, kind: piece})
            elif isinstance(act, Call):
                block = {"type": "tool_use", "id": _new("toolu"), "name": act.tool.name, "input": {}}
                yield event("content_block_start", index=index, content_block=block)
                delta_ = {"type": "input_json_delta", "partial_json": json.dumps(act.fields)}
                yield event("content_block_delta", index=index, delta=delta_)
            yield event("content_block_stop", index=index)
        reason = "tool_use" if any(isinstance(act, Call) for act in acts) else "end_turn"
        yield event("message_delta", delta={**ends, "stop_reason": reason}, usage=usage)
        yield event("message_stop")

    @staticmethod
    def whole(events: Iterable[Event]) -> JSON:
        """The answer as one object."""
        message: JSON = {}
        blocks: list[JSON] = []
        for event in events:
            data = event.data
            assert isinstance(data, dict)
            match data["type"]:
                case "message_start":
                    message = data["message"]
                case "content_block_start":
                    blocks.append(dict(data["content_block"]))
                case "content_block_delta":
                    for key in ("text", "thinking"):
                        if key in data["delta"]:
                            blocks[-1][key] += data["delta"][key]
                    if "partial_json" in data["delta"]:
                        blocks[-1]["input"] = json.loads(data["delta"]["partial_json"])
                case "message_delta":
                    message |= data["delta"]
        return {**message, "content": blocks}


class Gemini:
    """Google's generateContent."""

    @staticmethod
    def read(body: JSON) -> Asked:
        """A request's contents."""
        turns = []
        for content in body.get("contents") or []:
            parts = content.get("parts") or []
            if content.get("role") == "model":
                if any("functionCall" in part for part in parts):
                    turns.append(Turn("calls"))
                continue
            results = [part["functionResponse"] for part in parts if "functionResponse" in part]
            turns += [Turn("result", json.dumps(result.get("response"))) for result in results]
            if words := [part["text"] for part in parts if "text" in part]:
                turns.append(Turn("user", words[-1]))
        offered = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
        tools = [Tool(one["name"], one.get("parametersJsonSchema") or one.get("parameters") or {}) for one in offered]
        settings = body.get("generationConfig") or {}
        return Asked(turns, tools, settings.get("responseJsonSchema") or settings.get("responseSchema"))

    @staticmethod
    def events(acts: list[Act], model: str) -> Iterator[Event]:
        """The answer as a stream."""
        usage = {"promptTokenCount": _IN, "candidatesTokenCount": _OUT, "totalTokenCount": _IN + _OUT}

        def event(part: JSON, pause: float = 0, **ends: Any) -> Event:
            candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, **ends}
            return Event({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}, pause=pause)

        for act in acts:
            if isinstance(act, Words):
                for piece in _pieces(act):
                    yield event({"text": piece, **({"thought": True} if act.thought else {})}, act.pause)
            elif isinstance(act, Call):
                yield event({"functionCall": {"name": act.tool.name, "args": act.fields, "id": _new("call")}})
        yield event({"text": ""}, finishReason="STOP")

    @staticmethod
    def whole(events: Iterable[Event]) -> JSON:
        """The answer as one object."""
        answers = [event.data for event in events if isinstance(event.data, dict)]
        parts = [part for answer in answers for part in answer["candidates"][0]["content"]["parts"]]
        candidate = {**answers[-1]["candidates"][0], "content": {"role": "model", "parts": parts}}
        return {**answers[-1], "candidates": [candidate]}


DIALECTS: dict[str, type[Chat | Responses | Messages | Gemini]] = {
    "/chat/completions": Chat,
    "/responses": Responses,
    "/messages": Messages,
    ":generateContent": Gemini,
    ":streamGenerateContent": Gemini,
}
"""How a request's path ends → its dialect."""
