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
---@return sidekicks.Chunk[]
local function alerts()
  local chunks = {}
  if not state.storage.persistent then
    local why = text.one_line(state.storage.reason or 'it is in memory', 80)
    chunks[#chunks + 1] = { ('  history is not kept: %s'):format(why), 'SidekicksError' }
  end
  if #state.config.problems > 0 then
    local count = text.count(#state.config.problems, 'problem')
    chunks[#chunks + 1] = { ('  configuration: %s, :Sidekicks config'):format(count), 'SidekicksWarning' }
  end
  return chunks
end

---@param room sidekicks.OpenRoom
---@return string
function M.composer_bar(room)
  local chunks = vim.list_extend(situation(room), alerts())
  local unread, asked = elsewhere(room)
  chunks[#chunks + 1] = { '', 'SidekicksMeta' }
  local right = {}
  if asked > 0 then
    right[#right + 1] = { ('◆ %d elsewhere '):format(asked), 'SidekicksWarning' }
  end
  if unread > 0 then
    right[#right + 1] = { ('✉ %d unread '):format(unread), 'SidekicksNew' }
  end
  return bar(chunks) .. '%=' .. bar(right)
end

local STATES = { busy = 'SidekicksRunning', error = 'SidekicksError', starting = 'SidekicksRunning' }

---@param room sidekicks.OpenRoom
---@return string
function M.transcript_bar(room)
  local channel = room:channel()
  local words = require('sidekicks.render.words')
  local title = { { ' ' .. names.title(channel), 'SidekicksTitle' } }
  local folder = channel.root and { { '  ' .. text.short_path(channel.root), 'SidekicksMeta' } } or {}
  local right = {}
  for _, member in ipairs(channel.members) do
    local agent = state.agents[member.name]
    right[#right + 1] = words.agent(member.name)
    if agent and STATES[agent.state] then
      right[#right + 1] = { ' ' .. agent.state, STATES[agent.state] }
    end
    if member.usage then
      right[#right + 1] = { ' ' .. words.usage(member.usage), 'SidekicksMeta' }
    end
    right[#right + 1] = { '  ' }
  end
  return bar(title) .. '%<' .. bar(folder) .. '%=' .. bar(right)
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
      set_bar(win, compose and M.composer_bar(room) or M.transcript_bar(room))
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
