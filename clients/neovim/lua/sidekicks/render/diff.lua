--- A change of a file as rows, and how much it adds and removes. Pure.
local text = require('sidekicks.text')

local M = {}

M.LONGEST = 200

--- `vim.diff` has another name in later versions.
local difference = vim.text.diff or vim.diff

---@param value? string
local function ended(value)
  value = value or ''
  return (value == '' or vim.endswith(value, '\n')) and value or value .. '\n'
end

---@param content sidekicks.DiffContent
---@return string[] lines of a unified diff, without its head
local function unified(content)
  local result = difference(ended(content.oldText), ended(content.newText), { result_type = 'unified', ctxlen = 3 })
  local lines = vim.split(tostring(result), '\n', { plain = true })
  if lines[#lines] == '' then
    lines[#lines] = nil
  end
  return lines
end

---@class sidekicks.Changes
---@field lines string[]
---@field added integer
---@field removed integer

--- Changes that were worked out already, for as long as their contents are kept.
---@type table<sidekicks.DiffContent, sidekicks.Changes>
local worked_out = setmetatable({}, { __mode = 'k' })

---@param content sidekicks.DiffContent
---@return sidekicks.Changes
function M.changes(content)
  if worked_out[content] then
    return worked_out[content]
  end
  local lines = unified(content)
  local added, removed = 0, 0
  for _, line in ipairs(lines) do
    local mark = line:sub(1, 1)
    added = added + (mark == '+' and 1 or 0)
    removed = removed + (mark == '-' and 1 or 0)
  end
  worked_out[content] = { lines = lines, added = added, removed = removed }
  return worked_out[content]
end

local GROUPS = { ['+'] = 'SidekicksAdded', ['-'] = 'SidekicksRemoved', ['@'] = 'SidekicksMeta' }

--- Adds the rows of a change; each leads to its place in the file.
---@param canvas sidekicks.Canvas
---@param content sidekicks.DiffContent
---@param indent string
function M.draw(canvas, content, indent)
  local changes, line_number = M.changes(content), 1
  for at, line in ipairs(changes.lines) do
    if at > M.LONGEST then
      local left = #changes.lines - M.LONGEST
      canvas:row({ { indent .. ('… %d more lines; :Sidekicks diff shows all'):format(left), 'SidekicksMeta' } })
      return
    end
    local mark = line:sub(1, 1)
    if mark == '@' then
      line_number = math.max(1, math.floor(tonumber(line:match('%+(%d+)')) or 1))
    end
    local shown = text.safe(line:sub(1, text.LONGEST_LINE)):gsub('\n', '↵')
    canvas:row({ { indent }, { shown, GROUPS[mark] } }, { place = { path = content.path, line = line_number } })
    if mark == '+' or mark == ' ' then
      line_number = line_number + 1
    end
  end
end

return M
