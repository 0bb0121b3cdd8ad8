--- What a command means by "this": the channel, the message, the question, the file under the cursor.
local state = require('sidekicks.state')
local view = require('sidekicks.view')

local M = {}

--- The channel that was shown last.
---@type string?
local last

--- The channel whose transcript or composer is the current buffer.
---@param buf? integer
---@return sidekicks.OpenRoom?
function M.room_of(buf)
  local id = vim.b[buf or 0].sidekicks_channel
  return id and state.rooms[id] or nil
end

--- The channel that is meant: the current buffer's, else one on the screen, else the one shown last.
---@return sidekicks.OpenRoom?
function M.room()
  local room = M.room_of()
  for _, win in ipairs(room and {} or vim.api.nvim_tabpage_list_wins(0)) do
    room = room or M.room_of(vim.api.nvim_win_get_buf(win))
  end
  room = room or (last and state.rooms[last])
  last = room and room.id or last
  return room
end

--- A verb about the channel that is meant, as it is now: what waits to be drawn is taken in first.
---@param fn fun(room: sidekicks.OpenRoom, given: sidekicks.Given)
---@return fun(given: sidekicks.Given)
function M.in_room(fn)
  return function(given)
    local room = M.room()
    if room then
      room:flush()
      fn(room, given)
    else
      require('sidekicks.log').error('No channel is open: :Sidekicks #general opens one.')
    end
  end
end

--- A channel was shown: commands without a name mean it from now on.
---@param room sidekicks.OpenRoom
function M.shown(room)
  last = room.id
end

--- The transcript's window on this tab, with its view.
---@param room? sidekicks.OpenRoom
---@return integer? win
---@return sidekicks.View?
function M.window(room)
  room = room or M.room()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local here = view.of(vim.api.nvim_win_get_buf(win))
    if room and here and here.room == room then
      return win, here
    end
  end
end

---@class sidekicks.Place
---@field view sidekicks.View
---@field win integer
---@field row integer
---@field block? sidekicks.Block
---@field entry? sidekicks.Entry
---@field within? integer

--- What stands under the cursor of the transcript: of this window, else of the one beside the composer.
---@return sidekicks.Place?
function M.place()
  local win, here = vim.api.nvim_get_current_win(), view.of() ---@type integer?, sidekicks.View?
  if here == nil then
    win, here = M.window()
  end
  if win == nil or here == nil then
    return nil
  end
  local row = vim.api.nvim_win_get_cursor(win)[1] - 1
  local block, entry, within = here:at(row)
  return { view = here, win = win, row = row, block = block, entry = entry, within = within }
end

--- The place in a file that a row leads to.
---@param place? sidekicks.Place
---@return sidekicks.Location?
function M.location(place)
  return place and place.block and place.block.places[place.within] or nil
end

--- The elicitation under the cursor of a transcript.
---@return string? request_id
function M.asked()
  local place = view.of() and M.place()
  return place and place.block == place.view.tail and place.block.options[place.within] or nil
end

--- The message under the cursor, else the last one that `fits`.
---@param fits? fun(message: sidekicks.Message): boolean
---@return sidekicks.Message?
function M.message(fits)
  fits = fits or function()
    return true
  end
  local place = view.of() and M.place()
  local message = place and place.entry and place.entry.message
  if message and fits(message) then
    return message
  end
  local room = M.room()
  local messages = room and room.snapshot.messages or {}
  for at = #messages, 1, -1 do
    local candidate = messages[at]
    if candidate and fits(candidate) then
      return candidate
    end
  end
end

--- The open question under the cursor of a transcript, and the option on that row.
---@return string? request_id
---@return string? option_id
function M.question()
  local place = view.of() and M.place()
  local part = place and place.block and place.block.part
  if part and part.type == 'permission' and not part.outcome then
    return part.requestId, place.block.options[place.within]
  end
end

return M
