--- Verbs about agents: their state and log, starting and stopping, signing in and out.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local state = require('sidekicks.state')
local text = require('sidekicks.text')

---@type table<string, sidekicks.Verb>
local M = {}

local DEEDS = { 'start', 'stop', 'restart', 'log' }

---@param deed string
---@param agent string
local function do_it(deed, agent)
  if deed == 'log' then
    require('sidekicks.agent_log').show(agent)
  else
    client.send(
      'sidekicks/agent/' .. deed,
      { agent = agent },
      log.or_say(function()
        log.say(('%s: %s done.'):format(state.title(agent), deed))
      end)
    )
  end
end

---@param agent string
local function ask_deed(agent)
  vim.ui.select({ 'talk to it alone', unpack(DEEDS) }, { prompt = state.title(agent) }, function(deed, at)
    if at == 1 then
      require('sidekicks.commands').verbs.open.run({ args = { '@' .. agent } })
    elseif deed then
      do_it(deed, agent)
    end
  end)
end

---@param name string
---@return string
local function describe(name)
  local agent = state.agents[name]
  local said = ('@%s  %s  %s'):format(name, text.one_line(agent.title, 40), agent.state)
  return agent.error and said .. ': ' .. text.one_line(agent.error, 80) or said
end

---@param prompt string
---@param done fun(agent: string)
local function ask_agent(prompt, done)
  vim.ui.select(state.agent_names, { prompt = prompt, format_item = describe }, function(agent)
    if agent then
      done(agent)
    end
  end)
end

M.agents = {
  run = function()
    ask_agent('Agents', ask_deed)
  end,
}

M.agent = {
  run = function(given)
    local deed, agent = given.args[1], given.args[2]
    if deed == nil then
      ask_agent('Agents', ask_deed)
    elseif not vim.list_contains(DEEDS, deed) then
      log.error(('An agent can be: %s; not %s.'):format(table.concat(DEEDS, ', '), deed))
    elseif agent then
      do_it(deed, (agent:gsub('^@', '')))
    else
      ask_agent(deed, function(name)
        do_it(deed, name)
      end)
    end
  end,
  complete = function(args)
    return #args == 0 and DEEDS or state.agent_names
  end,
}

M.signin = {
  run = function(given)
    local sign_in = require('sidekicks.sign_in')
    if given.args[1] then
      sign_in.begin((given.args[1]:gsub('^@', '')))
      return
    end
    local agents = sign_in.agents()
    if #agents == 1 then
      sign_in.begin(agents[1])
    else
      vim.ui.select(agents, { prompt = 'Sign in to' }, function(agent)
        if agent then
          sign_in.begin(agent)
        end
      end)
    end
  end,
  complete = function()
    return state.agent_names
  end,
}

M.signout = {
  run = function(given)
    local function leave(agent)
      local function done()
        log.say(('Signed out of %s.'):format(state.title(agent)))
      end
      client.request('sidekicks/agent/logout', { agent = agent }, log.or_say(done))
    end
    if given.args[1] then
      leave((given.args[1]:gsub('^@', '')))
    else
      ask_agent('Sign out of', leave)
    end
  end,
  complete = function()
    return state.agent_names
  end,
}

return M
