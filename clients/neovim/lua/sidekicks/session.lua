--- The one place that ties the connection, the state and the buffers together: what happens when the bridge is ready,
--- has gone, or runs again.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local state = require('sidekicks.state')

local M = {}

---@type (fun())[]
local waiting = {}

local function settle()
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

--- After a handshake: know everything, open again what was open, let the composers speak to the new bridge.
local function ready()
  client.request('sidekicks/state/get', {}, function(err, result)
    if err or not result then
      waiting = {}
      log.error(log.sentence(err or { code = 0, message = 'The bridge does not say what it knows.' }))
      return
    end
    state.know(result)
    for _, room in pairs(state.rooms) do
      room:reopen(function(failed)
        if not failed then
          require('sidekicks.composer').reconnect(room)
        end
      end)
    end
    require('sidekicks.completion').reconnect()
    settle()
  end)
end

--- Calls `callback` when the bridge runs and its state is known; tells why if that cannot be.
---@param callback fun()
function M.ready(callback)
  if client.connection().state == 'ready' and state.known then
    callback()
    return
  end
  waiting[#waiting + 1] = callback
  client.start(function(problem)
    if problem then
      waiting = {}
    end
  end)
end

client.on_ready = ready
client.on_event = state.take
client.on_gone = function()
  state.known = false
  require('sidekicks.status').changed()
end
client.answers['sidekicks/document/read'] = function(params)
  return require('sidekicks.files').unsaved(params.path)
end
state.on_change(function()
  require('sidekicks.status').changed()
end)
state.on_question = function(question)
  require('sidekicks.attention').announce(question)
end
state.on_rename = function(channel, before)
  local room = state.rooms[channel.id]
  if room then
    room:flush() -- the new name waits there
  end
  require('sidekicks.buffers').rename(channel, before)
end
state.on_idle = function()
  require('sidekicks.files').check()
end
state.on_sign_in = function(wanted)
  require('sidekicks.sign_in').announce(wanted)
end
state.on_draft = function(channel_id, text)
  local room = state.rooms[channel_id]
  if room then
    require('sidekicks.composer').take_draft(room, text)
  end
end
state.on_log = function(agent, line)
  require('sidekicks.agent_log').append(agent, line)
end
state.on_config = function()
  require('sidekicks.config_file').show_problems()
  for _, view in pairs(require('sidekicks.view').views) do
    view:redraw()
  end
end

require('sidekicks.groups').define()
vim.api.nvim_create_autocmd('ColorScheme', {
  group = vim.api.nvim_create_augroup('sidekicks.groups', {}),
  callback = require('sidekicks.groups').define,
})

return M
