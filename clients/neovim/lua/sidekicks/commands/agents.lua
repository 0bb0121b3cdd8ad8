--- Verbs about agents: their state and log, starting and stopping, modes and options of their sessions.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local state = require('sidekicks.state')
local target = require('sidekicks.target')
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
      client.request('sidekicks/agent/logout', { agent = agent }, log.or_say())
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

--- The members with sessions here: agents whose modes, models or options are known.
---@param room sidekicks.OpenRoom
---@param name? string
---@param done fun(member: sidekicks.Member)
local function with_member(room, name, done)
  local fitting = vim.tbl_filter(function(member)
    return member.kind == 'agent' and (name == nil or member.name == name:gsub('^@', ''))
  end, room:channel().members)
  if #fitting == 1 then
    done(fitting[1])
  elseif #fitting == 0 then
    log.error(name and ('@%s is not a member here.'):format(name) or 'No agent is a member here.')
  else
    vim.ui.select(fitting, {
      prompt = 'Agent',
      format_item = function(member)
        return '@' .. member.name
      end,
    }, function(member)
      if member then
        done(member)
      end
    end)
  end
end

---@class sidekicks.Choice
---@field label string
---@field current boolean
---@field run fun()

---@param choices sidekicks.Choice[]
---@param prompt string
---@param wanted? string
local function choose(choices, prompt, wanted)
  if #choices == 0 then
    log.say('It offers nothing to choose here (known once it has run in this channel).')
    return
  end
  for _, choice in ipairs(choices) do
    if wanted and choice.label:lower() == wanted:lower() then
      choice.run()
      return
    end
  end
  vim.ui.select(choices, {
    prompt = prompt,
    format_item = function(choice)
      return (choice.current and '● ' or '  ') .. choice.label
    end,
  }, function(choice)
    if choice then
      choice.run()
    end
  end)
end

---@param room sidekicks.OpenRoom
---@param member sidekicks.Member
---@param field "modes"|"models"
---@param key "modeId"|"modelId"
---@return sidekicks.Choice[]
local function modes_of(room, member, field, key)
  local known, choices = member[field], {}
  for _, mode in ipairs(known and known.available or {}) do
    choices[#choices + 1] = {
      label = text.one_line(mode.name, 60),
      current = mode.id == known.current,
      run = function()
        local params = { channelId = room.id, agent = member.name, [key] = mode.id }
        client.request('sidekicks/session/setMode', params, log.or_say())
      end,
    }
  end
  return choices
end

---@param field "modes"|"models"
---@param key "modeId"|"modelId"
---@return sidekicks.Verb
local function mode_verb(field, key)
  return {
    run = function(given)
      local room = target.room()
      if room then
        with_member(room, given.args[1], function(member)
          choose(modes_of(room, member, field, key), '@' .. member.name, table.concat(given.args, ' ', 2))
        end)
      end
    end,
    complete = function(args)
      return #args == 0 and state.agent_names or {}
    end,
  }
end

M.mode = mode_verb('modes', 'modeId')
M.model = mode_verb('models', 'modelId')

---@param room sidekicks.OpenRoom
---@param member sidekicks.Member
---@param option sidekicks.SessionOption
---@return sidekicks.Choice[]
local function values_of(room, member, option)
  local values = option.choices or {}
  if option.kind == 'boolean' then
    values = { { value = true, name = 'on' }, { value = false, name = 'off' } }
  end
  return vim.tbl_map(function(choice)
    return {
      label = text.one_line((choice.group and choice.group .. ': ' or '') .. choice.name, 60),
      current = choice.value == option.value,
      run = function()
        local params = { channelId = room.id, agent = member.name, optionId = option.id, value = choice.value }
        client.request('sidekicks/session/setOption', params, log.or_say())
      end,
    }
  end, values)
end

M.option = {
  run = function(given)
    local room = target.room()
    if room == nil then
      return
    end
    with_member(room, given.args[1], function(member)
      local options = vim.tbl_map(function(option)
        return {
          label = text.one_line(option.name, 60),
          current = false,
          run = function()
            choose(values_of(room, member, option), option.name, given.args[3])
          end,
        }
      end, member.options or {})
      choose(options, '@' .. member.name, given.args[2])
    end)
  end,
  complete = function(args)
    return #args == 0 and state.agent_names or {}
  end,
}

return M
