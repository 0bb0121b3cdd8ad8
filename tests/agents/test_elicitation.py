"""What agents ask the user for: forms of every shape, pages, how that ends; sessions; requests that are given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from sidekicks_bridge.agents.elicitation import checked, form_fields
from sidekicks_bridge.agents.errands import Errands
from sidekicks_bridge.protocol.errors import SidekicksError
from tests.agents.test_sessions import logged, received
from tests.agents.world import fake, world

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agents.world import World

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 4},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "ratio": {"type": "number"},
        "sure": {"type": "boolean", "default": True},
        "colour": {"type": "string", "enum": ["red", "green"], "enumNames": ["Red"]},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"title": "no const"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1},
        "slider": {"type": "slider"},
        "odd": 5,
    },
}


def test_the_fields_of_a_form() -> None:
    fields = {field.name: field for field in form_fields(SCHEMA)}
    kinds = [field.kind for field in fields.values()]
    assert kinds == ["string", "integer", "number", "boolean", "choice", "choice", "choices", "other", "string"]
    assert fields["name"].required
    assert not fields["count"].required
    assert [(one.value, one.title) for one in fields["colour"].choices] == [("red", "Red"), ("green", "green")]
    assert [(one.value, one.title) for one in fields["size"].choices] == [("s", "Small")]
    assert fields["sure"].default is True


@pytest.mark.parametrize("schema", [None, 5, [], {}, {"properties": []}, {"required": 5, "properties": None}])
def test_what_is_no_form_has_no_fields(schema: Any) -> None:
    assert form_fields(schema) == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({}, "Name is missing"),
        ({"name": "x"}, "length must be between 2 and 4"),
        ({"name": "xxxxx"}, "length must be between 2 and 4"),
        ({"name": 5}, "must be a string"),
        ({"name": "xx", "count": 0}, "must be between 1.0 and 9.0"),
        ({"name": "xx", "count": True}, "must be a integer"),
        ({"name": "xx", "count": 1.5}, "must be a integer"),
        ({"name": "xx", "sure": "yes"}, "must be a boolean"),
        ({"name": "xx", "colour": "blue"}, "none of red, green"),
        ({"name": "xx", "tags": ["a", "b"]}, "length must be between 0 and 1"),
        ({"name": "xx", "tags": ["c"]}, "none of a, b"),
    ],
)
def test_what_does_not_fit(content: dict[str, Any], problem: str) -> None:
    with pytest.raises(SidekicksError, match=problem) as caught:
        checked(form_fields(SCHEMA), content)
    assert caught.value.code == "invalidParams"


def test_what_fits_goes_and_nothing_else() -> None:
    content = {
        "name": "xx",
        "count": 9,
        "ratio": 1,
        "colour": "red",
        "tags": ["a"],
        "slider": 3,
        "more": 1,
        "size": None,
    }
    fitting = {key: value for key, value in content.items() if key not in ("more", "size")}
    assert checked(form_fields(SCHEMA), content) == fitting


async def ask(w: World, script: str, answer: Any) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(w.ask, script)
        await w.sink.until(lambda: w.sink.forms)
        answer(w.sink.forms[0])


@pytest.mark.anyio
async def test_a_form_is_filled_in(tmp_path: Path) -> None:
    async with world(tmp_path) as w:

        def answer(form: Any) -> None:
            with pytest.raises(SidekicksError, match="Name is missing"):
                form.answer("accept", {})
            form.answer("accept", {"name": "bob"})
            form.answer("decline")

        await ask(w, "!elicit form Who?", answer)
        assert w.sink.text() == 'elicit form: {"action": "accept", "content": {"name": "bob"}}\n'
        assert w.sink.forms[0].message == "Who?"
        assert not w.sink.forms_withdrawn


@pytest.mark.anyio
async def test_a_page_is_visited_or_not(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await ask(w, "!elicit url", lambda form: form.answer("decline"))
        assert w.sink.text() == 'elicit url: {"action": "decline"}\n'
        assert w.sink.forms[0].url == "https://example.com/sign-in?code=1"


@pytest.mark.anyio
async def test_a_cancelled_turn_cancels_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w, w.session() as session, anyio.create_task_group() as tasks:
        tasks.start_soon(session.prompt, session.blocks("!elicit form", []))
        await w.sink.until(lambda: w.sink.forms)
        session.cancel()
        await w.sink.until(lambda: w.sink.forms_withdrawn)


@pytest.mark.anyio
async def test_one_of_no_session_is_asked_where_the_agent_is_at_work(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        script = '!request elicitation/create {"requestId":1,"mode":"url","url":"https://x","message":"m"}'
        await ask(w, script, lambda form: form.answer("cancel"))
        assert w.sink.text() == 'elicitation/create: {"action": "cancel"}\n'


@pytest.mark.anyio
async def test_a_request_that_nobody_waits_for_is_cancelled(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(logged("--caps list --hang list", tmp_path))
        with anyio.move_on_after(1):
            await Errands(w.manager).sessions("fake", None)
        await w.ask("hi")
        (cancelled,) = received(tmp_path, "$/cancel_request")
        assert isinstance(cancelled["requestId"], int)


@pytest.mark.anyio
async def test_the_sessions_that_an_agent_remembers(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--caps list,delete,load --sessions a,b,c,d,e --page-size 2"))
        errands = Errands(w.manager)
        found = await errands.sessions("fake", None)
        assert [session.session_id for session in found] == ["a", "b", "c", "d", "e"]
        assert found[0].title == "Session a"
        await errands.delete_session("fake", "b")
        assert [one.session_id for one in await errands.sessions("fake", None)] == ["a", "c", "d", "e"]
        assert await errands.can_pick_up("fake")


@pytest.mark.anyio
@pytest.mark.parametrize("options", ["", "--caps list,delete --unserved list,delete"])
async def test_an_agent_that_remembers_none(tmp_path: Path, options: str) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(options))
        for attempt in (Errands(w.manager).sessions("fake", None), Errands(w.manager).delete_session("fake", "x")):
            with pytest.raises(SidekicksError) as caught:
                await attempt
            assert caught.value.code == "notSupported"
