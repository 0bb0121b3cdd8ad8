"""Which file answers a question first: on a project made for it, and on this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidekicks_bridge.builtin.files import Workspace
from sidekicks_bridge.builtin.search import answer_question
from tests.builtin.project import FILES, NOTES, make_project

REPOSITORY = Path(__file__).resolve().parents[2]


def answers(root: Path, question: str) -> list[str]:
    """The files that a question finds, best first."""
    workspace = Workspace(str(root))
    answer = answer_question(workspace, question, workspace.files(lambda: None), lambda: None)
    return [passage.path for passage in answer.passages]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("parcels"))


@pytest.mark.parametrize(
    ("question", "expected", "among"),
    [
        ("where are routes decided?", "parcels/dispatch.py", 1),
        ("who decides the route?", "parcels/dispatch.py", 1),
        ("where are addresses parsed?", "parcels/addresses.py", 1),
        ("where is an address found in a text?", "parcels/addresses.py", 1),
        ("where is the configuration loaded?", "parcels/config/load.py", 1),
        ("where are labels printed?", "labels/worker.go", 1),
        ("how is a label queued?", "labels/worker.go", 1),
        ("where is the depot map drawn?", "web/map.ts", 1),
        ("how does the client show a route?", "web/route.ts", 3),
        ("which test covers the dispatch?", "tests/test_dispatch.py", 1),
        ("where are the screenshots played?", "scripts/screenshots/play.py", 1),
        ("what is a round?", "docs/explanation/rounds.md", 1),
        ("how do I add a courier?", "docs/how-to/add-a-courier.md", 1),
        ("what is the build system?", "pyproject.toml", 1),
        ("explain the architecture", "docs/architecture.md", 1),
        ("what changed in the changelog?", "CHANGELOG.md", 1),
        ("DepotMap", "web/map.ts", 1),
        ("find_addresses", "parcels/addresses.py", 1),
    ],
)
def test_the_file_that_answers_is_among_the_first(project: Path, question: str, expected: str, among: int) -> None:
    assert expected in answers(project, question)[:among]


@pytest.mark.parametrize("question", ["where are routes decided?", "where are addresses parsed?"])
def test_what_only_repeats_the_question_comes_after_what_answers_it(project: Path, question: str) -> None:
    found = answers(project, question)
    assert "package-lock.json" not in found
    assert not {"web/protocol.gen.ts", "scripts/screenshots/play.py", "CHANGELOG.md"} & set(found[:2])
    assert max(found.count(path) for path in found) <= 2


def test_notes_of_what_was_said_are_no_answer_unless_notes_are_asked_for(project: Path) -> None:
    for question in ("where are routes decided?", "what did scout say?", "parsed addresses"):
        assert "NOTES.md" not in answers(project, question)
    assert "NOTES.md" in answers(project, "what do the notes say of routes?")


def test_answers_stay_the_same_while_notes_are_kept(tmp_path: Path) -> None:
    root = make_project(tmp_path)
    before = answers(root, "where are routes decided?")
    entry = NOTES.removeprefix("# Notes\n\n")
    (root / "NOTES.md").write_text(NOTES + f"\n{entry}" * 20, encoding="utf-8")
    assert answers(root, "where are routes decided?") == before


def test_a_notes_file_of_the_users_own_is_searched_up_to_the_first_entry(tmp_path: Path) -> None:
    root = make_project(tmp_path)
    own = "# Ideas\n\nA zeppelin could carry parcels.\n\n"
    (root / "NOTES.md").write_text(own + NOTES.removeprefix("# Notes\n\n"), encoding="utf-8")
    assert answers(root, "where is the zeppelin?") == ["NOTES.md"]
    assert "NOTES.md" not in answers(root, "where are routes decided?")


def test_the_order_does_not_hang_on_the_order_of_the_files(project: Path) -> None:
    workspace = Workspace(str(project))
    found = [
        [passage.path for passage in answer_question(workspace, "routes of parcels", paths, lambda: None).passages]
        for paths in (sorted(FILES), sorted(FILES, reverse=True))
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("question", "expected", "among"),
    [
        ("where are routes decided?", "sidekicks_bridge/channels/routing.py", 1),
        ("where are mentions parsed?", "sidekicks_bridge/channels/mentions.py", 1),
        ("what is a cursor?", "docs/explanation/context.md", 3),
    ],
)
def test_this_repository(question: str, expected: str, among: int) -> None:
    assert expected in answers(REPOSITORY, question)[:among]
