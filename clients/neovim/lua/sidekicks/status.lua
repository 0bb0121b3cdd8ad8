--- What windows say beside their text: window bars, the statusline's part, whether Neovim has the focus.
local names = require('sidekicks.names')
local state = require('sidekicks.state')
local text = require('sidekicks.text')

local M = {}

--- How long changes are gathered: a turn that begins or ends changes several things, one after the other.
local GATHER_MS = 30

local focus = true

--- Whether the person looks at Neovim, as far as the terminal tells.
---@return boolean
function M.focused()
  return focus
end

---@param value string
---@return string
local function escaped(value)
  return (value:gsub('%%', '%%%%'))
end

---@param chunks sidekicks.Chunk[]
---@return string
local function bar(chunks)
  local said = {}
  for at, chunk in ipairs(chunks) do
    said[at] = ('%%#%s#%s'):format(chunk[2] or 'WinBar', escaped(chunk[1]))
  end
  return table.concat(said)
end

---@class sidekicks.BarPart
---@field chunks sidekicks.Chunk[]
---@field keep number those with the least go first where a window is too narrow

--- A window bar of the parts there is room for; the one to keep longest stays, cut off if it must be.
---@param left sidekicks.BarPart[]
---@param right sidekicks.BarPart[]
---@param width integer
---@return string
local function fitted(left, right, width)
  local parts, wide = vim.list_extend(vim.list_slice(left), right), 0
  local widths = {} ---@type table<sidekicks.BarPart, integer>
  for _, part in ipairs(parts) do
    widths[part] = 0
    for _, chunk in ipairs(part.chunks) do
      widths[part] = widths[part] + vim.api.nvim_strwidth(chunk[1])
    end
    wide = wide + widths[part]
  end
  table.sort(parts, function(a, b)
    return a.keep < b.keep
  end)
  local gone ---@type number?
  for at = 1, #parts - 1 do
    local part = parts[at]
    if wide > width or part.keep == gone then -- equal ones go together
      gone, wide, widths[part] = part.keep, wide - widths[part], nil
    end
  end
  local function said(side)
    local chunks = {}
    for _, part in ipairs(side) do
      vim.list_extend(chunks, widths[part] and part.chunks or {})
    end
    return bar(chunks)
  end
  return said(left) .. '%<%=' .. said(right)
end

---@param room sidekicks.OpenRoom
---@return integer unread in other channels
---@return integer asked questions in other channels
local function elsewhere(room)
  local unread, asked = 0, 0
  for _, channel in ipairs(state.channels) do
    unread = unread + (channel.id ~= room.id and channel.unread or 0)
  end
  for _, question in ipairs(state.questions()) do
    asked = asked + (question.channelId ~= room.id and 1 or 0)
  end
  return unread, asked
end

--- What the composer's bar says first: a question, whose turn it is, or that it waits for you.
---@param room sidekicks.OpenRoom
---@return sidekicks.Chunk[]
local function situation(room)
  local snapshot = room.snapshot
  for _, question in ipairs(state.questions()) do
    if question.channelId == room.id then
      local said = require('sidekicks.render.words').asks(question, 60)
      return { { ' ◆ ', 'SidekicksWarning' }, { said, 'SidekicksWarning' } }
    end
  end
  if snapshot.otherRoot and not room.decided then
    return { { (' ! works in %s'):format(text.short_path(snapshot.otherRoot)), 'SidekicksWarning' } }
  end
  local turn = snapshot.turns[1]
  if turn then
    local chunks = require('sidekicks.render.words').turn(turn)
    table.insert(chunks, 1, { ' ' })
    return chunks
  end
  return { { ' to ' }, { names.title(room:channel()), 'SidekicksTitle' } }
end

--- Problems that every channel shows: history that is not kept, a configuration that is not in force.
---@return sidekicks.BarPart[]
local function alerts()
  local parts = {}
  if not state.storage.persistent then
    local why = text.one_line(state.storage.reason or 'it is in memory', 80)
    parts[#parts + 1] = { keep = 3, chunks = { { ('  history is not kept: %s'):format(why), 'SidekicksError' } } }
  end
  if #state.config.problems > 0 then
    local count = text.count(#state.config.problems, 'problem')
    local said = ('  configuration: %s, :Sidekicks config'):format(count)
    parts[#parts + 1] = { keep = 2, chunks = { { said, 'SidekicksWarning' } } }
  end
  return parts
end

---@param room sidekicks.OpenRoom
---@param width integer
---@return string
function M.composer_bar(room, width)
  local left = vim.list_extend({ { keep = 9, chunks = situation(room) } }, alerts())
  local unread, asked = elsewhere(room)
  local right = {} ---@type sidekicks.BarPart[]
  if asked > 0 then
    right[1] = { keep = 4, chunks = { { (' ◆ %d elsewhere '):format(asked), 'SidekicksWarning' } } }
  end
  if unread > 0 then
    right[#right + 1] = { keep = 1, chunks = { { (' ✉ %d unread '):format(unread), 'SidekicksNew' } } }
  end
  return fitted(left, right, width)
end

local STATES = { busy = 'SidekicksRunning', error = 'SidekicksError', starting = 'SidekicksRunning' }

--- The channel's name is kept longest, then who works or has failed, then who else is here, the folder, what was used.
---@param room sidekicks.OpenRoom
---@param width integer
---@return string
function M.transcript_bar(room, width)
  local channel = room:channel()
  local words = require('sidekicks.render.words')
  local left = {} ---@type sidekicks.BarPart[]
  left[1] = { keep = 9, chunks = { { ' ' .. names.title(channel), 'SidekicksTitle' } } }
  if channel.root then
    left[2] = { keep = 2, chunks = { { '  ' .. text.short_path(channel.root), 'SidekicksMeta' } } }
  end
  local right = {} ---@type sidekicks.BarPart[]
  for at, member in ipairs(channel.members) do
    local agent = state.agents[member.name]
    local group = agent and STATES[agent.state]
    local chunks = { { '  ' }, words.agent(member.name) } ---@type sidekicks.Chunk[]
    if agent and group then
      chunks[3] = { ' ' .. agent.state, group }
    end
    right[#right + 1] = { keep = (group and 5 or 4) - at / 1000, chunks = chunks }
    if member.usage then
      right[#right + 1] = { keep = 1, chunks = { { ' ' .. words.usage(member.usage), 'SidekicksMeta' } } }
    end
  end
  return fitted(left, right, width)
end

---@param win integer
---@param value string
local function set_bar(win, value)
  if vim.wo[win].winbar ~= value then
    vim.wo[win][0].winbar = value
  end
end

--- Brings the bars of a room's windows up to date.
---@param room sidekicks.OpenRoom
function M.room_changed(room)
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local buf = vim.api.nvim_win_get_buf(win)
    if vim.b[buf].sidekicks_channel == room.id then
      local compose = vim.bo[buf].filetype == 'sidekicks-compose'
      local width = vim.api.nvim_win_get_width(win)
      set_bar(win, compose and M.composer_bar(room, width) or M.transcript_bar(room, width))
    end
  end
end

--- For a statusline: `◆ 1 ✉ 3`, or nothing when nothing waits.
---@return string
function M.line()
  local unread, said = 0, {}
  for _, channel in ipairs(state.channels) do
    unread = unread + channel.unread
  end
  local asked = #state.questions()
  if asked > 0 then
    said[1] = ('◆ %d'):format(asked)
  end
  if unread > 0 then
    said[#said + 1] = ('✉ %d'):format(unread)
  end
  return table.concat(said, ' ')
end

local timer = assert(vim.uv.new_timer())
local pending = false
local told = ''

local function update()
  pending = false
  for _, room in pairs(state.rooms) do
    M.room_changed(room)
  end
  if M.line() ~= told then -- drawing all status lines is not free
    told = M.line()
    vim.cmd.redrawstatus({ bang = true })
  end
end

local update_soon = vim.schedule_wrap(update)

--- Brings everything up to date, once for many changes.
function M.changed()
  if not pending then
    pending = true
    timer:start(GATHER_MS, 0, update_soon)
  end
end

local group = vim.api.nvim_create_augroup('sidekicks.status', {})
vim.api.nvim_create_autocmd('WinResized', { group = group, callback = M.changed })
vim.api.nvim_create_autocmd('FocusLost', {
  group = group,
  callback = function()
    focus = false
  end,
})
vim.api.nvim_create_autocmd('FocusGained', {
  group = group,
  callback = function()
    focus = true
    for _, view in pairs(require('sidekicks.view').views) do
      if vim.fn.bufwinid(view.buf) ~= -1 then
        view:seen()
      end
    end
  end,
})

return M
