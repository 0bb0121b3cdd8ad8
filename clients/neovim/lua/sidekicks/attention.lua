--- What waits for the person in channels that are not on the screen: announced once, and reachable with one command.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local names = require('sidekicks.names')
local state = require('sidekicks.state')
local text = require('sidekicks.text')

local M = {}

---@param channel_id string
---@return boolean
local function on_screen(channel_id)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buf = vim.api.nvim_win_get_buf(win)
    if vim.b[buf].sidekicks_channel == channel_id then
      return true
    end
  end
  return false
end

--- Tells of a question that is not on the screen.
---@param question sidekicks.Question
function M.announce(question)
  if on_screen(question.channelId) then
    return
  end
  local channel = state.channel(question.channelId)
  local where = channel and names.title(channel) or 'another channel'
  log.warn(('%s: %s (:Sidekicks attention)'):format(where, require('sidekicks.render.words').asks(question, 80)))
end

--- Puts the cursor on the first row of a question.
---@param room sidekicks.OpenRoom
---@param request_id string
local function go_to_question(room, request_id)
  local win, view = require('sidekicks.target').window(room)
  if win == nil or view == nil then
    return
  end
  local row = view:row_of_question(request_id)
  if row then
    vim.cmd.stopinsert()
    vim.api.nvim_set_current_win(win)
    vim.api.nvim_win_set_cursor(win, { row + 1, 0 })
  end
end

--- The question that an item is about: the bridge names those about permissions.
---@param item sidekicks.AttentionItem
---@return string? request_id
local function question_of(item)
  for _, asked in ipairs(item.kind == 'permission' and state.elicitations or {}) do
    if item.requestId == nil and asked.channelId == item.channelId and asked.agent == item.agent then
      return asked.requestId
    end
  end
  return item.requestId
end

---@param item sidekicks.AttentionItem
local function go(item)
  if item.channelId == '' then -- an agent that wants a sign-in, wherever it is used
    require('sidekicks.sign_in').begin(item.agent or '')
    return
  end
  require('sidekicks.room').open(item.channelId, function(room)
    require('sidekicks.layout').show(room)
    local request_id = question_of(item)
    if request_id then
      vim.schedule(function()
        room:flush() -- the question may wait for the next drawing
        go_to_question(room, request_id)
      end)
    end
  end)
end

--- Goes to what waits: at once if it is one thing, else it is asked which.
function M.go()
  client.request(
    'sidekicks/attention/list',
    {},
    log.or_say(function(result)
      local items = result.items
      if #items == 0 then
        log.say('Nothing waits for you.')
      elseif #items == 1 then
        go(items[1])
      else
        vim.ui.select(items, {
          prompt = 'Waits for you',
          format_item = function(item)
            return text.one_line(item.text)
          end,
        }, function(item)
          if item then
            go(item)
          end
        end)
      end
    end)
  )
end

return M
