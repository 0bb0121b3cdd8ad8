"""What scout finds: words, ranking, excerpts, and the questions it must be honest about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.builtin.files import Workspace
from sidekicks_bridge.builtin.search import Answer, answer_question
from sidekicks_bridge.builtin.words import question_words, stem, tokens
from tests.builtin.harness import framed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.builtin.harness import AgentClient


def look_up(root: Path, question: str) -> Answer:
    workspace = Workspace(str(root))
    return answer_question(workspace, question, workspace.files(lambda: None), lambda: None)


@pytest.mark.parametrize(
    "family",
    [
        ("route", "routes", "router", "routing", "routed"),
        ("decide", "decides", "decided", "deciding"),
        ("entry", "entries"),
        ("stop", "stops", "stopped", "stopping"),
        ("class", "classes"),
        ("parse", "parser", "parsed", "parsing"),
        ("message", "messages"),
    ],
)
def test_forms_of_a_word_meet(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


def test_identifiers_are_split() -> None:
    assert tokens("HTTPServer.parse_userId2") == ["http", "serv", "pars", "user", "id", "2"]
    assert tokens("路由决定") == ["路由", "由决", "决定"]


def test_question_words_are_left_out() -> None:
    assert list(question_words("Where are the routes decided, please?").values()) == ["routes", "decided"]
    assert question_words("what is this?") == {}
    assert list(question_words("use").values()) == ["use"]


def test_the_definition_comes_first(root: Path) -> None:
    best = look_up(root, "where are routes decided?").passages[0]
    assert (best.path, best.line, best.defines) == ("server/router.py", 9, "decide_route")
    assert best.excerpt[0] == "def decide_route(self, message: str) -> list[str]:"


def test_ignored_binary_and_secret_files_are_not_searched(root: Path) -> None:
    (root / ".env").write_text("ROUTE_TOKEN=decide", encoding="utf-8")
    (root / "package-lock.json").write_text("route decide " * 50, encoding="utf-8")
    answer = look_up(root, "decide route")
    assert {passage.path for passage in answer.passages} <= {"server/router.py", "server/keep.log"}


def test_a_file_is_found_by_its_name(root: Path) -> None:
    (root / "web/telescope.html").write_text("<p>stars</p>\n", encoding="utf-8")
    assert [passage.path for passage in look_up(root, "the telescope").passages] == ["web/telescope.html"]


def test_code_beats_its_tests_and_copies_are_shown_once(root: Path) -> None:
    source = (root / "server/router.py").read_text(encoding="utf-8")
    (root / "tests").mkdir()
    (root / "tests/test_router.py").write_text("def test_decide_route():\n    decide_route('x')\n", encoding="utf-8")
    (root / "copy.py").write_text(source, encoding="utf-8")
    found = look_up(root, "where are routes decided?").passages
    assert len({passage.excerpt for passage in found}) == len(found)
    assert "tests/test_router.py" in {passage.path for passage in found[1:]}
    asked_for = look_up(root, "which test decides routes?").passages
    assert asked_for[0].path == "tests/test_router.py"


def test_a_longer_word_finds_the_shorter_and_the_other_way(root: Path) -> None:
    (root / "settings.py").write_text("def load_config():\n    pass\n", encoding="utf-8")
    assert look_up(root, "how is the configuration loaded?").passages[0].path == "settings.py"
    (root / "settings.py").write_text("def load_configuration():\n    pass\n", encoding="utf-8")
    assert look_up(root, "where is the config?").passages[0].path == "settings.py"


def test_one_strange_word_does_not_hide_the_rest(root: Path) -> None:
    (root / "odd.txt").write_text("the route of the zeppelin\n", encoding="utf-8")
    found = [passage.path for passage in look_up(root, "zeppelin route").passages]
    assert found[0] == "odd.txt"
    assert "server/router.py" in found


def test_words_found_nowhere_are_named(root: Path) -> None:
    answer = look_up(root, "where does the router handle zeppelins")
    assert answer.missing == ["handle", "zeppelins"]
    assert answer.passages[0].path == "server/router.py"


def test_the_answer_in_words(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    said = scout.ask(session_id, "@scout where are routes decided? @scribe keep that")
    assert said.startswith("The best answer I found is `decide_route` in `server/router.py`")
    assert "`server/router.py:9`\n```python\ndef decide_route(self, message: str) -> list[str]:\n" in said
    tool = scout.tool()
    assert [update.get("status") for update in scout.tool_updates()] == ["pending", "in_progress", "completed"]
    assert (tool["kind"], tool["title"]) == ("search", "Search for routes, decided")
    assert tool["locations"][0] == {"path": str(root / "server/router.py"), "line": 9}
    chunks = [update for update in scout.updates if update["sessionUpdate"] == "agent_message_chunk"]
    assert len(chunks) > 5


def test_the_question_is_taken_out_of_the_frame(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    scout.ask(session_id, framed("user: tell me of zeppelins", "alice: No.", text="@scout and the store @alice hm"))
    assert scout.tool()["rawInput"] == {"query": "and the store"}


def test_nothing_found_says_what_to_try(scout: AgentClient, root: Path) -> None:
    said = scout.ask(scout.open(root), "what about zeppelins?")
    assert said == (
        "I found nothing about `zeppelins` in 7 text files. Try another word for it, `/find (?i)zeppelins` "
        "for exact text, `/files zeppelins` for a name."
    )


def test_an_empty_workspace_is_no_error(scout: AgentClient, tmp_path: Path) -> None:
    assert "no text file here" in scout.ask(scout.open(tmp_path), "where are routes decided?")


def test_attached_files_narrow_the_question(scout: AgentClient, root: Path) -> None:
    uri = (root / "web/view.ts").as_uri()
    said = scout.ask(scout.open(root), "where is the message decided?", uri=uri, name="view.ts")
    assert "web/view.ts:1" in said
    assert "router.py" not in said


def test_fences_in_a_file_do_not_end_the_excerpt(scout: AgentClient, root: Path) -> None:
    (root / "zeppelin.py").write_text(
        'def zeppelin():\n    """\n    ```\n    land()\n    ```\n    """\n', encoding="utf-8"
    )
    assert "````python\ndef zeppelin():\n" in scout.ask(scout.open(root), "zeppelin")


def test_a_document_is_quoted(scout: AgentClient, root: Path) -> None:
    text = "# Zeppelin guide\n\n```\nzeppelin\n```\n\nMore.\n"
    (root / "guide.md").write_text(text, encoding="utf-8")
    said = scout.ask(scout.open(root), "zeppelin guide")
    assert said.endswith("`guide.md:1`\n\n> # Zeppelin guide\n>\n> ```\n> zeppelin\n> ```")


def test_an_unknown_command_names_the_known(scout: AgentClient, root: Path) -> None:
    said = scout.ask(scout.open(root), "/serch x")
    assert (
        said == "I have no command `/serch`. Mine are `/find`, `/files`, `/outline`, `/todo`; anything else, just ask."
    )
