--- Messages on their way: sent, and not answered yet. What the bridge refuses, or had not taken when it ended, is given back
--- to whoever sent it.
local client = require('sidekicks.client')
local log = require('sidekicks.log')

local M = {}

---@class sidekicks.Sending a message that was not answered yet
---@field text string
---@field attachments sidekicks.Attachment[]
---@field known table<string, true> the messages before it

--- By channel, in the order they were sent.
---@type table<string, sidekicks.Sending[]>
local underway = {}

---@param room sidekicks.OpenRoom
---@return table<string, true>
local function known_messages(room)
  local known = {}
  for _, message in ipairs(room.snapshot.messages) do
    known[message.id] = true
  end
  return known
end

--- Sends a message; `refused` gets it back with an error.
---@param room sidekicks.OpenRoom
---@param value string
---@param attachments sidekicks.Attachment[]
---@param refused fun(sending: sidekicks.Sending)
function M.send(room, value, attachments, refused)
  local sending = { text = value, attachments = attachments, known = known_messages(room) }
  local here = underway[room.id] or {}
  underway[room.id] = here
  here[#here + 1] = sending
  local params = {
    channelId = room.id,
    text = value,
    attachments = #attachments > 0 and attachments or nil,
    clientToken = ('%x%x'):format(vim.uv.hrtime(), math.random(0, 2 ^ 30)),
  }
  client.request('sidekicks/message/send', params, function(err)
    underway[room.id] = vim.tbl_filter(function(other)
      return other ~= sending
    end, underway[room.id] or {})
    if err then
      refused(sending)
      log.error(log.sentence(err))
    end
  end)
end

---@param room sidekicks.OpenRoom
---@param sending sidekicks.Sending
---@return boolean
local function has_arrived(room, sending)
  for _, message in ipairs(room.snapshot.messages) do
    local part = message.parts[1]
    if message.author.kind == 'user' and not sending.known[message.id] and part and part.text == sending.text then
      return true
    end
  end
  return false
end

--- The bridge runs again: what was under way when it ended and has not arrived, oldest first.
---@param room sidekicks.OpenRoom
---@return sidekicks.Sending[]
function M.lost(room)
  local lost = vim.tbl_filter(function(sending)
    return not has_arrived(room, sending)
  end, underway[room.id] or {})
  underway[room.id] = nil
  return lost
end

return M
