--- What was sent before, brought back into the composer with a key. What was being written is at its end.
local composer = require('sidekicks.composer')

local M = {}

---@class sidekicks.History
---@field at integer how far back: 0 is what is being written
---@field written string
---@field shown? string

--- By channel.
---@type table<string, sidekicks.History>
local histories = {}
--- Sent from here, oldest first.
---@type table<string, string[]>
local sent = {}

--- Notes what is sent.
---@param channel_id string
---@param value string
function M.add(channel_id, value)
  sent[channel_id] = sent[channel_id] or {}
  table.insert(sent[channel_id], value)
  histories[channel_id] = nil
end

--- What the user wrote in a channel, newest first, each once.
---@param room sidekicks.OpenRoom
---@return string[]
local function texts(room)
  local found, seen = {}, {}
  local function add(value)
    if value and not seen[value] then
      seen[value] = true
      found[#found + 1] = value
    end
  end
  local here = sent[room.id] or {}
  for at = #here, 1, -1 do
    add(here[at])
  end
  for at = #room.snapshot.messages, 1, -1 do
    local message = room.snapshot.messages[at]
    if message.author.kind == 'user' and message.parts[1] then
      add(message.parts[1].text)
    end
  end
  return found
end

--- Puts an older (1) or a newer (-1) text into the composer.
---@param room sidekicks.OpenRoom
---@param step 1|-1
function M.step(room, step)
  local value = composer.get(room)
  local history = histories[room.id]
  if history == nil or history.shown ~= value then -- it was edited: what stands there is being written
    history = { at = 0, written = value }
    histories[room.id] = history
  end
  local found = texts(room)
  history.at = math.max(0, math.min(history.at + step, #found))
  history.shown = history.at == 0 and history.written or found[history.at]
  composer.set(room, history.shown)
end

return M
