"""The shared fixtures through the Lua reducer: the same snapshots as Python's."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.neovim.desk import PLUGIN
from tests.neovim.editor import NVIM
from tests.support.sandbox import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = sorted((REPOSITORY / "schema" / "fixtures").glob("*.jsonl"))

REPLAY = """
vim.opt.runtimepath:prepend(vim.env.PLUGIN)
local reduce = require('sidekicks.reducer').reduce
local lines = vim.tbl_map(function(line)
  return vim.json.decode(line, { luanil = { object = true } }) -- as Neovim's LSP client decodes
end, vim.fn.readfile(vim.env.FIXTURE))
local snapshot = lines[1].snapshot
for at = 2, #lines - 1 do
  local before = vim.deepcopy(snapshot)
  local after = reduce(snapshot, lines[at].event)
  assert(vim.deep_equal(before, snapshot), 'the reducer changed what it was given, event ' .. at)
  snapshot = after
end
if not vim.deep_equal(snapshot, lines[#lines].snapshot) then
  error('got ' .. vim.inspect(snapshot) .. ' instead of ' .. vim.inspect(lines[#lines].snapshot))
end
"""


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_a_fixture_gives_the_later_snapshot(fixture: Path, tmp_path: Path) -> None:
    script = tmp_path / "replay.lua"
    script.write_text(REPLAY, encoding="utf-8")
    env = {**os.environ, "PLUGIN": str(PLUGIN), "FIXTURE": str(fixture)}
    command = [NVIM, "--headless", "--clean", "-i", "NONE", "-l", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
