--- The files that the tool calls of the last answers have changed. Pure.
local text = require('sidekicks.text')

local M = {}

local WRITING = { edit = true, delete = true, move = true }

---@param part sidekicks.ToolCallPart
---@return sidekicks.Location[]
local function places_of(part)
  local places, seen = {}, {}
  local function add(path, line)
    if not seen[path] then
      seen[path] = true
      places[#places + 1] = { path = path, line = line }
    end
  end
  for _, content in ipairs(part.content) do
    if content.type == 'diff' then
      ---@cast content sidekicks.DiffContent
      local changes = require('sidekicks.render.diff').changes(content)
      add(content.path, tonumber((changes.lines[1] or ''):match('%+(%d+)')))
    end
  end
  for _, location in ipairs(WRITING[part.kind] and part.locations or {}) do
    add(location.path, location.line)
  end
  return places
end

--- Entries for the quickfix list: what was touched since the user last wrote.
---@param messages sidekicks.Message[]
---@return vim.quickfix.entry[]
function M.list(messages)
  local from = 1
  for at, message in ipairs(messages) do
    if message.author.kind == 'user' and message.state ~= 'queued' then
      from = at
    end
  end
  local items = {}
  for at = from, #messages do
    for _, part in ipairs(messages[at].parts) do
      ---@cast part sidekicks.ToolCallPart
      for _, place in ipairs(part.type == 'toolCall' and part.status == 'completed' and places_of(part) or {}) do
        local author = messages[at].author.name or '?'
        items[#items + 1] = {
          filename = place.path,
          lnum = math.max(place.line or 1, 1),
          text = ('%s: %s'):format(author, text.one_line(part.title)),
        }
      end
    end
  end
  return items
end

return M
