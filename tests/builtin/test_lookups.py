"""Scout's commands, as a client sees them, and outlines of every language they know."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sidekicks_bridge.builtin import find as find_module
from sidekicks_bridge.builtin.files import Workspace
from sidekicks_bridge.builtin.find import Found, find
from sidekicks_bridge.builtin.languages import language_of
from sidekicks_bridge.builtin.outline import outline
from sidekicks_bridge.builtin.rpc import Wire
from sidekicks_bridge.builtin.turn import ClientFiles, Turn, TurnCancelledError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.builtin.harness import AgentClient


def test_find(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    said = scout.ask(session_id, r"/find def \w+_(route|store)\b")
    assert said == (
        "2 matches of `def \\w+_(route|store)\\b` in 2 files:\n\n"
        "- `server/router.py:9` `def decide_route(self, message: str) -> list[str]:`\n"
        "- `server/store.py:1` `def open_store(path: str) -> None:`"
    )
    tool = scout.tool()
    assert (tool["kind"], tool["status"]) == ("search", "completed")
    assert tool["locations"][1] == {"path": str(root / "server/store.py"), "line": 1}


def test_find_nothing_and_bad_patterns(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    assert scout.ask(session_id, "/find zeppelin").startswith("Nothing matches `zeppelin` in 7 files")
    assert "is not a regular expression that Python understands: missing )" in scout.ask(session_id, "/find (")
    assert "Say what to look for" in scout.ask(session_id, "/find")
    assert not scout.tool_updates()
    assert "Nothing matches" in scout.ask(session_id, "/find [[a]zz")  # a FutureWarning is nobody's business


def test_many_matches_are_cut_and_counted(scout: AgentClient, root: Path) -> None:
    (root / "many.txt").write_text(("x" * 500 + "needle" + "y" * 500 + "\n") * 70, encoding="utf-8")
    said = scout.ask(scout.open(root), "/find needle")
    lines = said.splitlines()
    assert lines[0] == "70 matches of `needle` in 1 file; the first 60:"
    assert len(lines) == 62
    assert all("needle" in line and len(line) < 200 for line in lines[2:])


class CancelledOnceArmed(Turn):
    """A turn whose client cancels as soon as there is something to stop."""

    def when_cancelled(self, stop: Callable[[], None] | None) -> None:
        super().when_cancelled(stop)
        if stop is not None:
            self.cancel()


def quiet_turn(kind: type[Turn] = Turn) -> Turn:
    return kind(Wire(0, os.open(os.devnull, os.O_WRONLY)), "s", [], ClientFiles(reads=False, writes=False))


def test_a_hopeless_pattern_is_given_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "hopeless.txt").write_text("a" * 60 + "!", encoding="utf-8")
    monkeypatch.setattr(find_module, "TIME_LIMIT", 1)
    found = find(
        Workspace(str(root)), "^(a+)+$|keep", [".gitignore", "server/.gitignore", "hopeless.txt"], quiet_turn()
    )
    assert found == Found([find_module.Hit("server/.gitignore", 1, "!keep.log")], None, None, None)


def test_a_cancel_kills_the_search(root: Path) -> None:
    (root / "hopeless.txt").write_text("a" * 60 + "!", encoding="utf-8")
    with pytest.raises(TurnCancelledError):
        # More paths than a pipe holds: the cancel may come while they are being handed over.
        find(Workspace(str(root)), "^(a+)+$", ["hopeless.txt"] * 20_000, quiet_turn(CancelledOnceArmed))


def test_a_search_process_that_fails_is_not_taken_for_a_slow_one(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="ended with status 1"):
        find(Workspace(str(root)), "(", [], quiet_turn())
    assert "Traceback" in capfd.readouterr().err


def test_files(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    assert scout.ask(session_id, "/files *.py") == "2 files match `*.py`:\n\n- `server/router.py`\n- `server/store.py`"
    assert scout.ask(session_id, "/files ROUTER") == "No file matches `ROUTER` here; ignored files are left out."
    assert scout.ask(session_id, "/files rout") == "1 file matches `rout`:\n\n- `server/router.py`"
    assert "server/keep.log" in scout.ask(session_id, "/files server/**/*.log")
    assert "is not a pattern" in scout.ask(session_id, "/files ///") or "No file" in scout.said()
    assert "Say which files" in scout.ask(session_id, "/files")


def test_todo(scout: AgentClient, root: Path) -> None:
    (root / "web/list.ts").write_text("const TODO_LIST = [];\n// HACK `odd` // TODO twice\n// XXX\n", encoding="utf-8")
    session_id = scout.open(root)
    assert scout.ask(session_id, "/todo") == (
        "4 marks in 3 files:\n\n"
        "**`server/router.py`**\n\n- `server/router.py:11` `TODO: hop limits`\n\n"
        "**`server/store.py`**\n\n- `server/store.py:2` `FIXME close it`\n\n"
        "**`web/list.ts`**\n\n- `web/list.ts:2` ``HACK `odd` // TODO twice``\n- `web/list.ts:3` `XXX`"
    )
    assert len(scout.tool()["locations"]) == 4


def test_outline(scout: AgentClient, root: Path) -> None:
    session_id = scout.open(root)
    assert scout.ask(session_id, "/outline `server/router.py`") == (
        "`server/router.py`, 3 definitions:\n\n- `class Router` `:6`\n"
        "  - `def decide_route(self, message: str) -> list[str]` `:9`\n- `def unrelated() -> None` `:15`"
    )
    assert scout.tool()["kind"] == "read"
    link = {"uri": (root / "web/view.ts").as_uri(), "name": "view.ts"}
    assert "`export class MessageView` `:1`" in scout.ask(session_id, "/outline", **link)
    assert "outside of this workspace" in scout.ask(session_id, "/outline ../../etc/passwd")
    assert "There is no file `nope.py`" in scout.ask(session_id, "/outline nope.py")
    assert "no definitions of (" in scout.ask(session_id, "/outline server/keep.log")
    assert "binary or larger" in scout.ask(session_id, "/outline server/blob.bin")
    assert "Say which file" in scout.ask(session_id, "/outline")


# File → its text, and (line, depth) of each definition.
SOURCES = {
    "a.js": (
        """export default function main() {
}
const add = (a, b) => a + b;
class A {
  run(x) {
    if (x) {
""",
        [(1, 0), (3, 0), (4, 0), (5, 1)],
    ),
    "a.ts": (
        """export interface S { x: number }
type Id = string;
export const enum E {}
abstract class B {
  private async load(id: Id): Promise<void> {
""",
        [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1)],
    ),
    "a.go": (
        """package a

type T struct {
}

func (t *T) Run() error {
}

func main() {
}
""",
        [(3, 0), (6, 0), (9, 0)],
    ),
    "a.rs": (
        """pub struct S;
impl S {
    pub(crate) async fn run(&self) {}
}
macro_rules! m {}
trait T {}
""",
        [(1, 0), (2, 0), (3, 1), (5, 0), (6, 0)],
    ),
    "a.lua": (
        """local M = {}
function M.setup(opts)
end
local run = function()
end
""",
        [(2, 0), (4, 0)],
    ),
    "a.c": (
        """#define MAX 3
struct point {
  int x;
};
static int add(int a,
  int b)
{
  return f(a);
}
int g();
""",
        [(1, 0), (2, 0), (5, 0)],
    ),
    "A.java": (
        """public class A {
    private int x = 1;
    public static void main(String[] a) {
        run(a);
""",
        [(1, 0), (3, 1)],
    ),
    "a.rb": (
        """module M
  class A
    def self.run!(x)
    end
  end
end
""",
        [(1, 0), (2, 1), (3, 2)],
    ),
    "a.md": (
        """# One

```sh
# not this
```

### Three ###
#hashtag
""",
        [(1, 0), (7, 2)],
    ),
    "a.py": (
        """if True:
    def f(x=1): ...

class A(B):
    async def g(self): ...
""",
        [(2, 0), (4, 0), (5, 1)],
    ),
    "b.py": (
        """def half(:
    pass

class A:
    def g(self): ...
""",
        [(1, 0), (4, 0), (5, 1)],
    ),
    "c.py": ("x = " + "(" * 5000 + "\ndef f(): ...\n", [(2, 0)]),
    "a.sh": (
        """run() {
}
function stop {
}
""",
        [(1, 0), (3, 0)],
    ),
    "a.toml": (
        """[project]
[[tool.x]]
name = 'a[0]'
""",
        [(1, 0), (2, 0)],
    ),
    "a.txt": (
        """def f(): ...
""",
        [],
    ),
}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_outlines(name: str) -> None:
    text, expected = SOURCES[name]
    assert [(one.line, one.depth) for one in outline(text, language_of(name))] == expected
