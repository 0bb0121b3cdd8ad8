--- Rows being composed: lines, what is highlighted in them, where they lead. Pure; rows count from 0 within the canvas.

---@alias sidekicks.Chunk { [1]: string, [2]?: string } text and highlight group

---@class sidekicks.Mark
---@field row integer
---@field col integer
---@field opts vim.api.keyset.set_extmark

---@class sidekicks.RowOptions
---@field right? sidekicks.Chunk[] at the right edge
---@field line? string highlight group of the whole row
---@field place? sidekicks.Location where `gd` goes
---@field option? string the permission option this row stands for

---@class sidekicks.Canvas
---@field lines string[]
---@field marks sidekicks.Mark[]
---@field places table<integer, sidekicks.Location>
---@field options table<integer, string> row → permission option
---@field fold boolean whether all but the first row is folded away
local Canvas = {}
Canvas.__index = Canvas

local M = {}

---@return sidekicks.Canvas
function M.new()
  return setmetatable({ lines = {}, marks = {}, places = {}, options = {}, fold = false }, Canvas)
end

--- Adds a row.
---@param chunks sidekicks.Chunk[]
---@param options? sidekicks.RowOptions
function Canvas:row(chunks, options)
  options = options or {}
  local row, texts, col = #self.lines, {}, 0
  for at, chunk in ipairs(chunks) do
    texts[at] = chunk[1]
    local stop = col + #chunk[1]
    if chunk[2] and stop > col then
      self:mark(row, col, { end_col = stop, hl_group = chunk[2] })
    end
    col = stop
  end
  self.lines[row + 1] = table.concat(texts)
  if options.right then
    self:mark(row, 0, { virt_text = options.right, virt_text_pos = 'right_align', hl_mode = 'combine' })
  end
  if options.line then
    self:mark(row, 0, { line_hl_group = options.line })
  end
  self.places[row] = options.place
  self.options[row] = options.option
end

---@param row integer
---@param col integer
---@param opts vim.api.keyset.set_extmark
function Canvas:mark(row, col, opts)
  self.marks[#self.marks + 1] = { row = row, col = col, opts = opts }
end

--- Puts an empty row before everything.
function Canvas:push_down()
  table.insert(self.lines, 1, '')
  for _, mark in ipairs(self.marks) do
    mark.row = mark.row + 1
  end
  local function shifted(rows)
    local moved = {}
    for row, value in pairs(rows) do
      moved[row + 1] = value
    end
    return moved
  end
  self.places, self.options = shifted(self.places), shifted(self.options)
end

return M
