"""How fast the Neovim client is, each figure beside its baseline of the same run: one JSON object a line.

nvim20k.stall  worst stall of Neovim's loop while 20,000 deltas stream into a visible channel with 5,000 lines, in ms
nvim20k.cpu    Neovim's processor time for that, in ms
nvim.open10k   from the command to the drawn channel of 10,000 messages, in ms; baseline: a channel of one message
The baseline of the first two is a handler in Lua that gets the same notifications and appends them to a plain buffer
with as many lines, every 30 ms. Needs what `make test-neovim` installs; `python -m scripts.bench neovim` runs it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from scripts.bench.harness import AGENT, HERE, Figure, compare
from sidekicks_bridge.ids import Ulids
from sidekicks_bridge.protocol.parts import TextPart
from sidekicks_bridge.protocol.types import Author, Message
from sidekicks_bridge.store.contract import PutChannel, PutMember, PutMessage, StoredChannel, StoredMember
from sidekicks_bridge.store.open import open_store
from tests.neovim.desk import Chat, Desk
from tests.support.sandbox import BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.neovim.editor import Editor

DELTAS = 20_000
ROUNDS = 5
LONG = 10_000
LINES = 50
"""Lines of an answer: the 100 messages that are loaded have 5,000."""
AT = "2026-11-30T12:00:00.000Z"
PATIENCE = 120.0

METER = """
local meter = { worst = 0, last = vim.uv.hrtime() }
_G.meter = meter
local timer = vim.uv.new_timer()
timer:start(2, 2, function()
  local now = vim.uv.hrtime()
  meter.worst = math.max(meter.worst, (now - meter.last) / 1e6 - 2)
  meter.last = now
end)
local function cpu()
  local used = vim.uv.getrusage()
  return (used.utime.sec + used.stime.sec) * 1e3 + (used.utime.usec + used.stime.usec) / 1e3
end
local before = cpu()
function meter.stop()
  timer:stop()
  return { meter.worst, cpu() - before }
end
"""

CONTROL = """
local cmd, options, channel_id, text = ...
local lines = {}
for at = 1, 5000 do lines[at] = 'some **line** of `markdown` text, number ' .. at end
vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
vim.wo.wrap, vim.wo.linebreak = true, true
vim.bo.undolevels = -1
local buf, pending, armed = vim.api.nvim_get_current_buf(), {}, false
local function flush()
  armed = false
  local added = table.concat(pending)
  pending = {}
  local last = vim.api.nvim_buf_line_count(buf) - 1
  local col = #vim.api.nvim_buf_get_lines(buf, last, last + 1, false)[1]
  vim.api.nvim_buf_set_text(buf, last, col, last, col, vim.split(added, '\\n', { plain = true }))
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buf), 0 })
end
_G.deltas = 0
vim.lsp.start({
  name = 'control', cmd = cmd, root_dir = vim.fn.getcwd(), init_options = { sidekicks = { protocolVersion = 1 } },
  handlers = {
    ['sidekicks/message/delta'] = function(_, params)
      if params.text then
        _G.deltas = _G.deltas + 1
        pending[#pending + 1] = params.text
        if not armed then armed = true; vim.defer_fn(flush, 30) end
      end
    end,
    ['sidekicks/turn/changed'] = function(_, params)
      _G.turned = _G.turned or #params.turns > 0
      _G.finished = _G.turned and #params.turns == 0
    end,
  },
  on_init = function(client)
    client:request('sidekicks/channel/open', { channelId = channel_id, limit = 1 }, function()
      _G.send = function()
        client:request('sidekicks/message/send', { channelId = channel_id, text = text }, function() end)
      end
      _G.opened = true
    end)
  end,
}, { attach = false })
"""


async def fill(box: BridgeSandbox) -> None:
    """Three channels: one with 100 long messages, one with 10,000 short ones, one with a single message."""
    os.environ["XDG_CONFIG_HOME"] = str(box.config_home)
    store = await open_store(box.config_path)
    ids = Ulids()
    paragraph = "\n".join(f"some **line** of `markdown` text, number {number}" for number in range(LINES))
    for name, count, text in (("busy", 100, paragraph), ("long", LONG, "a **short** answer"), ("short", 1, "hello")):
        root = str(box.workspace)
        channel = StoredChannel(id=ids.new(), kind="named", name=name, created_at=AT, updated_at=AT, root=root)
        await store.write(PutChannel(channel))
        await store.write(PutMember(StoredMember(channel_id=channel.id, name=AGENT, joined_at=AT, cursor=count)))
        for seq in range(1, count + 1):
            author = Author(kind="agent", name=AGENT)
            parts: list[Any] = [TextPart(text=text)]
            message = Message(
                id=ids.new(),
                seq=seq,
                channel_id=channel.id,
                author=author,
                parts=parts,
                created_at=AT,
                state="finished",
            )
            await store.write(PutMessage(message))
    await store.close()


def measured(editor: Editor, start: Callable[[], None], finished: str) -> tuple[float, float]:
    """The worst stall and the processor time from ``start`` until ``finished`` (Lua) is true, in ms."""
    editor.lua(METER)
    start()
    editor.until(lambda: editor.lua(f"return {finished}"), finished, PATIENCE)
    worst, cpu = editor.lua("return _G.meter.stop()")
    return worst, cpu


def channel_id(desk: Desk, editor: Editor, name: str) -> str:
    """The id of a channel."""
    found = desk.request(editor, "state/get")["channels"]
    return str(next(channel["id"] for channel in found if channel.get("name") == name))


def ours(desk: Desk) -> tuple[float, float]:
    """The plugin, with the channel on the screen."""
    chat = desk.chat(name="busy")
    editor = chat.editor
    editor.until(lambda: len(chat.lines()) > 5000, "the history")
    editor.keys("<Esc>")
    code = """local room = require('sidekicks.target').room()
              require('sidekicks.composer').set(room, ...)
              require('sidekicks.composer').send(room)"""
    editor.lua("_G.turned = false; _G.finished = false")
    editor.lua(
        """vim.api.nvim_create_autocmd('User', { pattern = 'SidekicksTurn', callback = function(event)
             _G.turned = _G.turned or #event.data.turns > 0
             _G.finished = _G.turned and #event.data.turns == 0
           end })"""
    )
    result = measured(editor, lambda: editor.lua(code, f"@{AGENT} burst {DELTAS}"), "_G.finished")
    desk.close_editors()
    return result


def control(desk: Desk) -> tuple[float, float]:
    """The same notifications into a few lines of Lua."""
    helper = desk.connected()
    busy = channel_id(desk, helper, "busy")
    desk.close_editors()
    editor = desk.open()
    editor.lua(CONTROL, desk.command(), {}, busy, f"@{AGENT} burst {DELTAS}")
    editor.until(lambda: editor.lua("return _G.opened"), "the channel")
    result = measured(editor, lambda: editor.lua("_G.send()"), "_G.finished")
    desk.close_editors()
    return result


def opening(desk: Desk, name: str) -> float:
    """From the command to the drawn channel, in ms."""
    editor = desk.connected()
    editor.lua("_G.begun = vim.uv.hrtime()")
    editor.keys(f":Sidekicks #{name}<CR>")
    chat = Chat(editor, name)
    editor.lua(
        """_G.drawn = nil
           local function look()
             local buf = vim.fn.bufnr('sidekicks://' .. _G.wanted)
             if buf ~= -1 and vim.api.nvim_buf_line_count(buf) > 3 and vim.bo.filetype == 'sidekicks-compose' then
               vim.cmd.redraw()
               _G.drawn = (vim.uv.hrtime() - _G.begun) / 1e6
             else
               vim.defer_fn(look, 1)
             end
           end
           _G.wanted = ...
           look()""",
        name,
    )
    took = editor.until(lambda: editor.lua("return _G.drawn"), "the channel")
    assert len(chat.lines()) > 3
    desk.close_editors()
    return float(took)


def run() -> Iterator[Figure]:
    """All figures, plugin and baseline in turns."""
    with tempfile.TemporaryDirectory(prefix="sk-") as folder:
        box = BridgeSandbox(Path(folder), {}, {})
        box.config["agents"] = [{"name": AGENT, "command": sys.executable, "args": [str(HERE / "stream_agent.py")]}]
        box.write_config()
        anyio.run(fill, box)
        desk = Desk(box)
        desk.start()
        try:
            rounds = [(ours(desk), control(desk)) for _ in range(ROUNDS)]
            for at, name in enumerate(("nvim20k.stall", "nvim20k.cpu")):
                yield compare(name, "ms", [mine[at] for mine, _ in rounds], [theirs[at] for _, theirs in rounds])
            opened = [(opening(desk, "long"), opening(desk, "short")) for _ in range(ROUNDS)]
            yield compare("nvim.open10k", "ms", [long for long, _ in opened], [short for _, short in opened])
        finally:
            desk.close()
