"""A plugin that people who know good plugins would praise: quick, quiet, documented, and it goes as it came."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from sidekicks_bridge import __version__
from sidekicks_bridge.protocol import PROTOCOL_VERSION
from tests.neovim.desk import PLUGIN
from tests.neovim.editor import NVIM

if TYPE_CHECKING:
    from pathlib import Path

    from tests.neovim.desk import Chat, Desk

HELP = (PLUGIN / "doc" / "sidekicks.txt").read_text(encoding="utf-8")
TAGS = set(re.findall(r"\*([^*\s]+)\*", HELP))
START_MS = 1.0


def test_starting_costs_less_than_a_millisecond(tmp_path: Path) -> None:
    best = START_MS
    for number in range(5):
        times = tmp_path / f"times-{number}"
        command = [NVIM, "--headless", "--clean", "--cmd", f"set rtp^={PLUGIN}", "--startuptime", str(times), "+qa"]
        subprocess.run(command, check=True, capture_output=True)
        line = next(line for line in times.read_text(encoding="utf-8").splitlines() if "plugin/sidekicks.lua" in line)
        best = min(best, float(line.split()[1]))
    assert best < START_MS


def test_nothing_of_the_plugin_is_loaded_before_it_is_used(desk: Desk) -> None:
    editor = desk.open()
    loaded = editor.lua("return vim.tbl_keys(package.loaded)")
    assert [name for name in loaded if name.startswith("sidekicks")] == []


def test_there_are_no_global_maps_but_plugs(chat: Chat) -> None:
    code = """local found = {}
              for _, mode in ipairs({ 'n', 'i', 'x', 'o', 'c', 't' }) do
                for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
                  if (map.desc or ''):find('Sidekicks') then found[#found + 1] = map.lhs end
                end
              end
              return found"""
    maps = chat.editor.lua(code)
    assert maps
    assert [lhs for lhs in maps if not lhs.startswith("<Plug>(Sidekicks")] == []


def test_only_plural_names_are_used(chat: Chat) -> None:
    names = chat.editor.lua("return vim.tbl_keys(vim.api.nvim_get_commands({}))")
    assert [name for name in names if name.startswith("Sidekick")] == ["Sidekicks"]
    groups = chat.editor.lua("return vim.fn.getcompletion('Sidekick', 'highlight')")
    assert groups
    assert [name for name in groups if not name.startswith("Sidekicks")] == []


def test_a_map_of_the_person_is_left_alone(desk: Desk) -> None:
    chat = desk.chat("bob", init="vim.keymap.set('n', '<leader>s', '<Plug>(SidekicksSend)')")
    maps = chat.editor.lua("return vim.tbl_map(function(map) return map.lhs end, vim.api.nvim_buf_get_keymap(0, 'n'))")
    assert "<CR>" not in maps
    assert "<C-C>" in maps


def test_settings_are_checked_and_wrong_ones_do_no_harm(desk: Desk) -> None:
    editor = desk.open(settings={"position": "middle", "colour": "red", "history": 20})
    problems = editor.lua("return select(2, require('sidekicks.config').read())")
    assert sorted(problems) == [
        "vim.g.sidekicks.colour is not an option",
        "vim.g.sidekicks.position must be one of right, left, top, bottom, tab, current",
    ]
    assert editor.lua(
        "local config = require('sidekicks.config').get(); return { config.position, config.history }"
    ) == ["right", 20]


def test_settings_may_be_a_function(desk: Desk) -> None:
    editor = desk.open(init="vim.g.sidekicks = function() return { size = 33 } end")
    assert editor.lua("return require('sidekicks.config').get().size") == 33


def test_the_health_check_names_what_is_there(chat: Chat) -> None:
    chat.editor.keys("<Esc>:checkhealth sidekicks<CR>")
    chat.editor.until(lambda: "@alice (Alice)" in "\n".join(chat.editor.buffer("health://")), "the report")
    report = "\n".join(chat.editor.buffer("health://"))
    assert "ERROR" not in report
    assert f"Plugin version {__version__}, protocol {PROTOCOL_VERSION}" in report
    assert f"It runs: bridge version {__version__}, protocol {PROTOCOL_VERSION}" in report


def test_the_health_check_names_the_version_of_a_bridge_that_does_not_run(desk: Desk) -> None:
    editor = desk.open()
    editor.keys(":checkhealth sidekicks<CR>")
    wanted = f"It does not run: it is started when a channel is opened; version {__version__} is installed"
    editor.until(lambda: wanted in "\n".join(editor.buffer("health://")), "the report")


def test_hooks_hear_of_messages_turns_and_questions(chat: Chat) -> None:
    chat.editor.lua(
        """vim.g.heard = {}
           vim.api.nvim_create_autocmd('User', { pattern = 'Sidekicks*', callback = function(event)
             local heard = vim.g.heard
             heard[event.match] = event.data
             vim.g.heard = heard
           end })"""
    )
    chat.say("@alice !permit hook ids=allow,reject")
    chat.heard("asks: hook")
    chat.ripe()
    chat.editor.keys("<Esc>:Sidekicks allow<CR>")
    chat.quiet()
    heard = chat.editor.until(
        lambda: (
            (found := chat.editor.lua("return vim.g.heard"))
            .get("SidekicksMessage", {})
            .get("message", {})
            .get("author", {})
            .get("name")
            and found
        )
    )
    assert heard["SidekicksMessage"]["message"]["author"]["name"] == "alice"
    assert heard["SidekicksPermission"]["permission"]["agent"] == "alice"
    assert "turns" in heard["SidekicksTurn"]


def test_there_is_help_for_every_command(desk: Desk) -> None:
    verbs = desk.open().lua("return vim.tbl_keys(require('sidekicks.commands').verbs)")
    assert {f":Sidekicks-{verb}" for verb in verbs} | {":Sidekicks"} <= TAGS


def test_there_is_help_for_every_option(desk: Desk) -> None:
    source = (PLUGIN / "lua" / "sidekicks" / "config.lua").read_text(encoding="utf-8")
    options = re.findall(r"^---@field (\w+)\? ", source, re.MULTILINE)
    assert {f"sidekicks-{option}" for option in options} <= TAGS
    assert desk.box is not None


def test_there_is_help_for_every_plug_map(desk: Desk) -> None:
    maps = desk.open().lua("return vim.tbl_map(function(map) return map.lhs end, vim.api.nvim_get_keymap('n'))")
    assert {lhs for lhs in maps if lhs.startswith("<Plug>(Sidekicks")} <= TAGS


def test_there_is_help_for_every_highlight_group(desk: Desk) -> None:
    groups = desk.open().lua("return vim.tbl_keys(require('sidekicks.groups').links)")
    assert set(groups) | {"SidekicksMessage", "SidekicksPermission", "SidekicksTurn", "SidekicksAttention"} <= TAGS


def test_the_help_has_tags_that_lead_somewhere(tmp_path: Path) -> None:
    folder = tmp_path / "doc"
    folder.mkdir()
    (folder / "sidekicks.txt").write_text(HELP, encoding="utf-8")
    done = subprocess.run(
        [NVIM, "--headless", "--clean", f"+helptags {folder}", "+qa"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    linked = set(re.findall(r"\|([^|\s]+)\|", HELP))
    own = {tag for tag in linked if "idekicks" in tag}
    assert own - TAGS == set()
    assert max(map(len, HELP.splitlines())) <= 80


def test_going_back_to_an_ordinary_file_leaves_nothing_behind(desk: Desk, chat: Chat) -> None:
    chat.editor.keys("<Esc><C-w>k:edit some.txt<CR>")
    chat.editor.until(lambda: chat.editor.name().endswith("some.txt"), "the file")
    assert chat.editor.lua("return { vim.wo.conceallevel, vim.wo.winbar, vim.wo.foldtext }") == [0, "", "foldtext()"]
    assert desk.box is not None
