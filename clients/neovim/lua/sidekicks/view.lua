--- The transcript's buffer: draws a room's snapshot into it, changing only the rows that differ. Rows are counted, not
--- searched: nobody else writes into the buffer.
local config = require('sidekicks.config')
local entries = require('sidekicks.entries')
local folds = require('sidekicks.folds')
local highlight = require('sidekicks.highlight')
local message_rows = require('sidekicks.render.message')
local spinner = require('sidekicks.spinner')
local tail_rows = require('sidekicks.render.tail')

local M = {}

M.namespace = vim.api.nvim_create_namespace('sidekicks')

---@class sidekicks.View
---@field buf integer
---@field room sidekicks.OpenRoom
---@field top sidekicks.Block
---@field entries sidekicks.Entry[]
---@field tail sidekicks.Block
---@field wins integer[] windows that show the buffer, while it is drawn
---@field markdown boolean
---@field unlit? { since: integer, rows: integer } since when something waits to be highlighted, in milliseconds
---@field highlight_timer? uv.uv_timer_t
---@field private writable boolean
---@field private barred? sidekicks.OpenedChannel the snapshot that the window bars show
---@field private permissions? sidekicks.Permission[]
---@field private started table<string, number> turn → when it was first seen, in milliseconds
local View = {}
View.__index = View

--- By buffer.
---@type table<integer, sidekicks.View>
M.views = {}

--- A view of a room in an empty buffer.
---@param buf integer
---@param room sidekicks.OpenRoom
---@return sidekicks.View
function M.attach(buf, room)
  local view = setmetatable({
    buf = buf,
    room = room,
    top = entries.block('top'),
    entries = {},
    tail = entries.block('tail'),
    wins = {},
    markdown = config.get().markdown,
    started = {},
  }, View)
  M.views[buf] = view
  room.on_update = function()
    view:sync()
  end
  return view
end

--- Writes rows of a block: those from `keep` on become `lines`. Folds are the caller's business.
---@param block sidekicks.Block
---@param row integer where the block begins
---@param keep integer
---@param lines string[]
function View:write(block, row, keep, lines)
  if not self.writable then
    self.writable = true
    vim.bo[self.buf].modifiable = true
  end
  local from, to = row + keep, row + block.rows
  if to > from then
    vim.api.nvim_buf_clear_namespace(self.buf, M.namespace, from, to)
    vim.api.nvim_buf_clear_namespace(self.buf, highlight.namespace, from, to)
  end
  if self.blank then -- the one empty line every buffer has
    self.blank = false
    to = to + 1
  end
  vim.api.nvim_buf_set_lines(self.buf, from, to, false, lines)
  block.rows = keep + #lines
end

--- Draws a canvas in place of a block.
---@param block sidekicks.Block
---@param row integer
---@param canvas sidekicks.Canvas
function View:put(block, row, canvas)
  local open = block.fold and folds.take(self.wins, row + block.gap) or {}
  self:write(block, row, 0, canvas.lines)
  for _, mark in ipairs(canvas.marks) do
    vim.api.nvim_buf_set_extmark(self.buf, M.namespace, row + mark.row, mark.col, mark.opts)
  end
  block.places, block.options, block.fold = canvas.places, canvas.options, canvas.fold
  if canvas.fold then
    folds.put(self.wins, row + block.gap, row + block.rows - 1, open)
  end
end

---@private
function View:sync_top()
  local key = message_rows.top_key(self.room.snapshot)
  if self.top.key ~= key then
    self.top.key = key
    self:put(self.top, 0, message_rows.top(self.room.snapshot))
  end
  return self.top.rows
end

---@private
---@param row integer
function View:sync_tail(row)
  local canvas, turning = tail_rows.draw(self.room)
  local key = table.concat(canvas.lines, '\n')
  if self.tail.key == key then -- its marks move with the text above
    return
  end
  self.tail.key = key
  self:put(self.tail, row, canvas)
  local spins, started = {}, {}
  for at, id in pairs(turning) do
    started[id] = self.started[id] or vim.uv.now()
    spins[#spins + 1] = { id = 2 * at + 1, row = row + at, since = started[id] }
  end
  self.started = started
  spinner.set(self.buf, spins)
end

--- Where old and new messages are the same: how many at the start, how many at the end.
---@param old sidekicks.Entry[]
---@param new sidekicks.Message[]
---@return integer first
---@return integer last
local function common(old, new)
  local first, most = 0, math.min(#old, #new)
  while first < most and old[first + 1].id == new[first + 1].id do
    first = first + 1
  end
  local last = 0
  while last < most - first and old[#old - last].id == new[#new - last].id do
    last = last + 1
  end
  return first, last
end

---@private
---@param row integer
---@return integer row
function View:sync_entries(row)
  local snapshot, old = self.room.snapshot, self.entries
  local first, last = common(old, snapshot.messages)
  local asks_changed = self.permissions ~= snapshot.permissions
  self.permissions = snapshot.permissions
  local new = {}
  for at, message in ipairs(snapshot.messages) do
    if at == first + 1 then
      for gone = first + 1, #old - last do
        entries.remove(self, old[gone], row)
      end
    end
    local kept = at <= first and old[at] or at > #snapshot.messages - last and old[#old - #snapshot.messages + at]
    local entry = kept or entries.new(message)
    entry.row = row
    if entry.message ~= message or not kept or (entry.asks and asks_changed) then
      entries.update(self, entry, message)
    end
    new[at] = entry
    row = row + entry.rows
  end
  if #snapshot.messages == first then
    for gone = first + 1, #old do
      entries.remove(self, old[gone], row)
    end
  end
  self.entries = new
  return row
end

--- The windows whose cursor stands on the last row: they go on showing the end.
---@private
---@return integer[]
function View:following()
  local count = vim.api.nvim_buf_line_count(self.buf)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] >= count
  end, self.wins)
end

--- Draws the room as it is now.
function View:sync()
  if not vim.api.nvim_buf_is_loaded(self.buf) then
    return
  end
  self.wins = vim.fn.win_findbuf(self.buf)
  local following = self:following()
  self.writable, self.blank = false, self.top.rows == 0
  local row = self:sync_entries(self:sync_top())
  self:sync_tail(row)
  if self.writable then
    vim.bo[self.buf].modifiable = false
    local count = vim.api.nvim_buf_line_count(self.buf)
    for _, win in ipairs(following) do
      vim.api.nvim_win_set_cursor(win, { count, 0 })
    end
  end
  if #self.wins > 0 then
    highlight.soon(self)
    self:seen()
  end
  self:sync_bars()
end

--- The bars of its windows, if what they show has changed.
---@private
function View:sync_bars()
  local snapshot, shown = self.room.snapshot, self.barred
  if
    shown == nil
    or shown.turns ~= snapshot.turns
    or shown.permissions ~= snapshot.permissions
    or shown.channel ~= snapshot.channel
  then
    self.barred = snapshot
    require('sidekicks.status').changed()
  end
end

--- What stands in a visible window has been seen.
function View:seen()
  for _, permission in ipairs(self.room.snapshot.permissions) do
    require('sidekicks.permission').drawn(permission.requestId)
  end
  if require('sidekicks.status').focused() then
    self.room:mark_read()
  end
end

--- The block at a row (from 0), its entry, and the row within the block.
---@param row integer
---@return sidekicks.Block? block
---@return sidekicks.Entry? entry
---@return integer? within
function View:at(row)
  local last = vim.api.nvim_buf_line_count(self.buf) - self.tail.rows
  if row >= last then
    return self.tail, nil, row - last
  end
  for _, entry in ipairs(self.entries) do
    if row >= entry.row and row < entry.row + entry.rows then
      local from = entry.row
      for _, block in ipairs(entry.blocks) do
        if row < from + block.rows then
          return block, entry, row - from
        end
        from = from + block.rows
      end
    end
  end
end

--- Where a question can be answered.
---@param request_id string
---@return integer? row from 0
function View:row_of_question(request_id)
  for _, entry in ipairs(self.entries) do
    local row = entry.row
    for _, block in ipairs(entry.blocks) do
      row = row + block.rows
      local part = block.part
      if part and part.type == 'permission' and part.requestId == request_id then
        return row - 1
      end
    end
  end
  for row = self.tail.rows - 1, 0, -1 do
    if self.tail.options[row] == request_id then
      return vim.api.nvim_buf_line_count(self.buf) - self.tail.rows + row
    end
  end
end

--- Where a message is shown.
---@param message_id string
---@return integer? row from 0
function View:row_of(message_id)
  for _, entry in ipairs(self.entries) do
    if entry.id == message_id then
      return entry.row
    end
  end
end

--- Makes the folds of a window that begins to show the buffer.
---@param win integer
function View:fold_window(win)
  local ranges = {}
  for _, entry in ipairs(self.entries) do
    local row = entry.row
    for _, block in ipairs(entry.blocks) do
      if block.fold then
        ranges[#ranges + 1] = { row + block.gap, row + block.rows - 1 }
      end
      row = row + block.rows
    end
  end
  folds.remake(win, ranges)
end

--- Draws everything anew: names or titles have changed.
function View:redraw()
  self.top.key, self.tail.key = nil, nil
  for _, entry in ipairs(self.entries) do
    entry.message = nil
    for _, block in ipairs(entry.blocks) do
      block.part, block.key = nil, nil
    end
  end
  self:sync()
end

--- The view in a buffer.
---@param buf? integer
---@return sidekicks.View?
function M.of(buf)
  return M.views[buf or vim.api.nvim_get_current_buf()]
end

return M
