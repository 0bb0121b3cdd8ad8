--- Verbs about agents' sessions in a channel: modes, models, options, and the sessions that an agent remembers.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local names = require('sidekicks.names')
local state = require('sidekicks.state')
local target = require('sidekicks.target')
local text = require('sidekicks.text')

---@type table<string, sidekicks.Verb>
local M = {}

---@param room? sidekicks.OpenRoom
---@param name? string
---@return sidekicks.Member[]
local function members(room, name)
  name = name and name:gsub('^@', '')
  return vim.tbl_filter(function(member)
    return member.kind == 'agent' and (name == nil or member.name == name)
  end, room and room:channel().members or {})
end

---@return string[]
local function member_names()
  return vim.tbl_map(function(member)
    return member.name
  end, members(target.room()))
end

--- The one that is meant; asked if there are several.
---@param room sidekicks.OpenRoom
---@param name? string
---@param done fun(member: sidekicks.Member)
local function with_member(room, name, done)
  local fitting = members(room, name)
  if #fitting == 1 then
    done(fitting[1])
  elseif #fitting == 0 then
    log.error(name and ('%s is not a member here.'):format(name) or 'No agent is a member here.')
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
---@field id string what is typed for it
---@field label string
---@field current boolean
---@field run fun()

---@param choices sidekicks.Choice[]
---@param prompt string
---@param wanted? string an id or a label
local function choose(choices, prompt, wanted)
  if #choices == 0 then
    log.say('It offers nothing to choose here (known once it has run in this channel).')
    return
  end
  for _, choice in ipairs(wanted and wanted ~= '' and choices or {}) do
    if choice.id == wanted or choice.label:lower() == (wanted or ''):lower() then
      choice.run()
      return
    end
  end
  vim.ui.select(choices, {
    prompt = text.one_line(prompt, 80),
    format_item = function(choice)
      return (choice.current and '● ' or '  ') .. choice.label
    end,
  }, function(choice)
    if choice then
      choice.run()
    end
  end)
end

---@param choices sidekicks.Choice[]
---@return string[]
local function ids(choices)
  return vim.tbl_map(function(choice)
    return choice.id
  end, choices)
end

---@param room sidekicks.OpenRoom
---@param member sidekicks.Member
---@param field "modes"|"models"
---@param key "modeId"|"modelId"
---@return sidekicks.Choice[]
local function modes_of(room, member, field, key)
  local known = member[field]
  return vim.tbl_map(function(mode)
    return {
      id = mode.id,
      label = text.one_line(mode.name, 60),
      current = mode.id == known.current,
      run = function()
        local params = { channelId = room.id, agent = member.name, [key] = mode.id }
        client.request('sidekicks/session/setMode', params, log.or_say())
      end,
    }
  end, known and known.available or {})
end

---@param field "modes"|"models"
---@param key "modeId"|"modelId"
---@return sidekicks.Verb
local function mode_verb(field, key)
  return {
    run = target.in_room(function(room, given)
      with_member(room, given.args[1], function(member)
        choose(modes_of(room, member, field, key), '@' .. member.name, table.concat(given.args, ' ', 2))
      end)
    end),
    complete = function(args)
      local room = target.room()
      local member = members(room, args[1])[1]
      return #args == 0 and member_names() or room and member and ids(modes_of(room, member, field, key)) or {}
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
      id = option.kind == 'boolean' and choice.name or choice.value,
      label = text.one_line((choice.group and choice.group .. ': ' or '') .. choice.name, 60),
      current = choice.value == option.value,
      run = function()
        local params = { channelId = room.id, agent = member.name, optionId = option.id, value = choice.value }
        client.request('sidekicks/session/setOption', params, log.or_say())
      end,
    }
  end, values)
end

--- An option with its value; one of a kind that is not known here is shown and cannot be set.
---@param room sidekicks.OpenRoom
---@param member sidekicks.Member
---@param wanted? string its value, if that was given
---@return sidekicks.Choice[]
local function options_of(room, member, wanted)
  return vim.tbl_map(function(option)
    local values, shown = values_of(room, member, option), tostring(option.value or '?')
    for _, value in ipairs(values) do
      shown = value.current and value.label or shown
    end
    return {
      id = option.id,
      label = ('%s: %s'):format(text.one_line(option.name, 60), text.one_line(shown, 60)),
      current = false,
      run = function()
        if #values > 0 then
          choose(values, option.description or option.name, wanted)
        else
          log.say(('%s is of a kind that can only be shown here.'):format(text.one_line(option.name, 60)))
        end
      end,
    }
  end, member.options or {})
end

M.option = {
  run = target.in_room(function(room, given)
    with_member(room, given.args[1], function(member)
      choose(options_of(room, member, given.args[3]), '@' .. member.name, given.args[2])
    end)
  end),
  complete = function(args)
    local room = target.room()
    local member = members(room, args[1])[1]
    if #args == 0 or room == nil or member == nil then
      return #args == 0 and member_names() or {}
    end
    for _, option in ipairs(member.options or {}) do
      if option.id == args[2] then
        return ids(values_of(room, member, option))
      end
    end
    return ids(options_of(room, member))
  end,
}

---@param session sidekicks.AgentSession
---@return string
local function describe(session)
  local said = { text.one_line(session.title or session.sessionId, 60) }
  local channel = session.channelId and state.channel(session.channelId)
  said[#said + 1] = session.updatedAt and require('sidekicks.render.words').time(session.updatedAt)
  said[#said + 1] = session.cwd and text.short_path(session.cwd)
  said[#said + 1] = channel and 'in ' .. names.title(channel)
  return table.concat(said, '  ')
end

---@param room sidekicks.OpenRoom
---@param agent string
---@param session sidekicks.AgentSession
local function go_on_with(room, agent, session)
  local params = { channelId = room.id, agent = agent, sessionId = session.sessionId }
  client.request(
    'sidekicks/session/pickUp',
    params,
    log.or_say(function()
      local title = text.one_line(session.title or session.sessionId, 60)
      log.say(('%s goes on with “%s” in %s.'):format(state.title(agent), title, names.title(room:channel())))
    end)
  )
end

---@param agent string
---@param session sidekicks.AgentSession
local function forget(agent, session)
  local title = text.one_line(session.title or session.sessionId, 60)
  vim.ui.select({ ('Have %s forget “%s”'):format(state.title(agent), title), 'Nothing' }, {
    prompt = 'It cannot be brought back.',
  }, function(_, at)
    if at == 1 then
      local params = { agent = agent, sessionId = session.sessionId }
      client.request(
        'sidekicks/agent/deleteSession',
        params,
        log.or_say(function()
          log.say(('%s has forgotten “%s”.'):format(state.title(agent), title))
        end)
      )
    end
  end)
end

M.sessions = {
  run = target.in_room(function(room, given)
    with_member(room, given.args[1], function(member)
      client.request(
        'sidekicks/agent/sessions',
        { agent = member.name },
        log.or_say(function(result)
          if #result.sessions == 0 then
            log.say(('%s remembers no session.'):format(state.title(member.name)))
            return
          end
          local deleting = given.args[2] == 'delete'
          local prompt = deleting and 'Forget which?' or 'Go on with which?'
          vim.ui.select(result.sessions, { prompt = prompt, format_item = describe }, function(session)
            if session and deleting then
              forget(member.name, session)
            elseif session then
              go_on_with(room, member.name, session)
            end
          end)
        end)
      )
    end)
  end),
  complete = function(args)
    return #args == 0 and member_names() or { 'delete' }
  end,
}

return M
