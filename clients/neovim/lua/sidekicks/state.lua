--- What is known outside channels (agents, channels, open permissions, storage, configuration) and the opened rooms.
--- Events come in here and go to whom they concern; who draws listens with `M.on_change`.
local client = require('sidekicks.client')
local names = require('sidekicks.names')
local user = require('sidekicks.user_events')

local M = {}

---@type table<string, sidekicks.Agent>
M.agents = {}
--- In the order of the configuration.
---@type string[]
M.agent_names = {}
---@type sidekicks.Channel[]
M.channels = {}
--- In the order they were asked.
---@type sidekicks.Permission[]
M.permissions = {}
--- What else agents ask for, in the order they asked.
---@type sidekicks.Elicitation[]
M.elicitations = {}
---@type sidekicks.StorageState
M.storage = { persistent = true }
---@type sidekicks.ConfigState
M.config = { path = '', problems = {} }
--- How many things wait for the user.
---@type integer
M.attention = 0
---@type table<string, sidekicks.OpenRoom>
M.rooms = {}
--- Agents that want the user to sign in.
---@type table<string, sidekicks.SignIn>
M.sign_ins = {}
---@type boolean
M.known = false

---@type (fun())[]
local listeners = {}
--- An agent asks for something.
---@type fun(question: sidekicks.Question)
M.on_question = function(_) end
--- A channel was renamed.
---@type fun(channel: sidekicks.Channel, before: sidekicks.Channel)
M.on_rename = function(_, _) end
--- An agent has finished something.
---@type fun(agent: string)
M.on_idle = function(_) end
---@type fun(agent: string, line: string)
M.on_log = function(_, _) end
--- An agent wants the user to sign in.
---@type fun(wanted: sidekicks.SignIn)
M.on_sign_in = function(_) end
--- Another client has changed a draft.
---@type fun(channel_id: string, text: string)
M.on_draft = function(_, _) end
--- The configuration was read again.
---@type fun()
M.on_config = function() end

--- Calls `listener` whenever something outside the channels has changed.
---@param listener fun()
function M.on_change(listener)
  listeners[#listeners + 1] = listener
end

local function changed()
  for _, listener in ipairs(listeners) do
    listener()
  end
end

---@param id string
---@return sidekicks.Channel?
function M.channel(id)
  for _, channel in ipairs(M.channels) do
    if channel.id == id then
      return channel
    end
  end
end

--- The channel that a word names.
---@param word string
---@return sidekicks.Channel?
function M.find(word)
  return names.find(M.channels, word, client.connection().root)
end

---@alias sidekicks.Question sidekicks.Permission|sidekicks.Elicitation

--- Everything that agents ask the person for.
---@return sidekicks.Question[]
function M.questions()
  return vim.list_extend(vim.list_slice(M.permissions), M.elicitations)
end

--- What an agent is called: its title, else its name.
---@param name string
---@return string
function M.title(name)
  local agent = M.agents[name]
  return require('sidekicks.text').one_line(agent and agent.title or name, 64)
end

---@param agents sidekicks.Agent[]
local function know_agents(agents)
  M.agents, M.agent_names = {}, {}
  for _, agent in ipairs(agents) do
    M.agents[agent.name] = agent
    M.agent_names[#M.agent_names + 1] = agent.name
  end
end

---@param channels sidekicks.Channel[]
local function know_channels(channels)
  local before = M.channels
  M.channels = channels
  for _, old in ipairs(before) do
    local new = M.channel(old.id)
    if new and new.name ~= old.name then
      M.on_rename(new, old)
    end
  end
end

--- Everything at the start, or after the bridge was started again.
---@param state sidekicks.State
function M.know(state)
  know_agents(state.agents)
  know_channels(state.channels)
  M.permissions, M.storage, M.config, M.known = state.permissions, state.storage, state.config, true
  M.elicitations, M.sign_ins = state.elicitations or {}, {}
  M.attention = #M.questions()
  for _, wanted in ipairs(state.signIns or {}) do
    M.sign_ins[wanted.agent] = wanted
  end
  for _, question in ipairs(M.questions()) do
    M.on_question(question)
  end
  changed()
end

---@generic T: sidekicks.Question
---@param questions T[]
---@param request_id string
---@return T[]
local function without(questions, request_id)
  return vim.tbl_filter(function(known)
    return known.requestId ~= request_id
  end, questions)
end

---@type sidekicks.EventHandlers
local HANDLERS = {
  ['sidekicks/channels/changed'] = function(params)
    know_channels(params.channels)
  end,
  ['sidekicks/permission/requested'] = function(params)
    M.permissions = vim.list_extend(without(M.permissions, params.requestId), { params })
    M.on_question(params)
    user.fire('SidekicksPermission', { permission = params })
  end,
  ['sidekicks/permission/resolved'] = function(params)
    M.permissions = without(M.permissions, params.requestId)
  end,
  ['sidekicks/elicitation/requested'] = function(params)
    M.elicitations = vim.list_extend(without(M.elicitations, params.requestId), { params })
    M.on_question(params)
  end,
  ['sidekicks/elicitation/resolved'] = function(params)
    M.elicitations = without(M.elicitations, params.requestId)
  end,
  ['sidekicks/agent/state'] = function(params)
    local agent = M.agents[params.agent]
    if agent then
      local was = agent.state
      agent.state, agent.error = params.state, params.error
      if was == 'busy' then
        M.on_idle(params.agent)
      end
    end
  end,
  ['sidekicks/agent/log'] = function(params)
    M.on_log(params.agent, params.line)
  end,
  ['sidekicks/commands/changed'] = function(params)
    local agent = M.agents[params.agent]
    if agent then
      agent.commands = params.commands
    end
  end,
  ['sidekicks/config/changed'] = function(params)
    M.config = { path = M.config.path, problems = params.problems }
    know_agents(params.agents)
    know_channels(params.channels)
    M.on_config()
  end,
  ['sidekicks/auth/required'] = function(params)
    M.sign_ins[params.agent] = params
    M.on_sign_in(params)
  end,
  ['sidekicks/auth/resolved'] = function(params)
    M.sign_ins[params.agent] = nil
  end,
  ['sidekicks/draft/changed'] = function(params)
    M.on_draft(params.channelId, params.text)
  end,
  ['sidekicks/storage/changed'] = function(params)
    M.storage = { persistent = params.persistent, reason = params.reason }
  end,
  ['sidekicks/attention/changed'] = function(params)
    M.attention = params.count
    user.fire('SidekicksAttention', { count = params.count })
  end,
  ['sidekicks/channel/desynced'] = function(params)
    local room = M.rooms[params.channelId]
    if room then
      room:reopen()
    end
  end,
}

--- Takes one notification of the bridge.
---@param method string
---@param params table
function M.take(method, params)
  local room = params.channelId and M.rooms[params.channelId]
  if room then
    room:push(method, params)
  elseif params.channels then
    for _, other in pairs(M.rooms) do
      other:push(method, params)
    end
  end
  local handler = HANDLERS[method]
  if handler then
    handler(params)
    changed()
  end
end

return M
