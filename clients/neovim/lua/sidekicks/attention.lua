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
---@param permission sidekicks.Permission
function M.announce(permission)
  if on_screen(permission.channelId) then
    return
  end
  local channel = state.channel(permission.channelId)
  log.warn(
    ('%s asks in %s: %s (:Sidekicks attention)'):format(
      state.title(permission.agent),
      channel and names.title(channel) or 'another channel',
      text.one_line(permission.toolCall.title, 80)
    )
  )
end

--- Puts the cursor on the first row of a question.
---@param room sidekicks.OpenRoom
---@param request_id string
local function go_to_question(room, request_id)
  local win, view = require('sidekicks.target').window(room)
  if win == nil or view == nil then
    return
  end
  for _, entry in ipairs(view.entries) do
    local row = entry.row
    for _, block in ipairs(entry.blocks) do
      local part = block.part
      if part and part.type == 'permission' and part.requestId == request_id then
        vim.cmd.stopinsert()
        vim.api.nvim_set_current_win(win)
        vim.api.nvim_win_set_cursor(win, { row + block.rows, 0 })
      end
      row = row + block.rows
    end
  end
end

---@param item sidekicks.AttentionItem
local function go(item)
  require('sidekicks.room').open(item.channelId, function(room)
    require('sidekicks.layout').show(room)
    if item.requestId then
      vim.schedule(function()
        go_to_question(room, item.requestId)
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
      if #result.items == 0 then
        log.say('Nothing waits for you.')
      elseif #result.items == 1 then
        go(result.items[1])
      else
        vim.ui.select(result.items, {
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
