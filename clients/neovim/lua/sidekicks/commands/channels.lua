--- Verbs about channels: open, pick, make, rename, delete, members, folder.
local client = require('sidekicks.client')
local layout = require('sidekicks.layout')
local log = require('sidekicks.log')
local names = require('sidekicks.names')
local rooms = require('sidekicks.room')
local state = require('sidekicks.state')
local target = require('sidekicks.target')

---@type table<string, sidekicks.Verb>
local M = {}

--- Opens a channel and begins typing.
---@param channel_id string
local function enter(channel_id)
  rooms.open(channel_id, function(room)
    layout.show(room, true)
  end)
end

---@param name string
local function create(name)
  local params = { name = (name:gsub('^#', '')), root = client.connection().root }
  client.request(
    'sidekicks/channel/create',
    params,
    log.or_say(function(channel)
      enter(channel.id)
    end)
  )
end

---@param word string
local function offer_to_create(word)
  local choices = { ('Make the channel %s'):format(word), 'Nothing' }
  vim.ui.select(choices, { prompt = ('There is no %s.'):format(word) }, function(_, at)
    if at == 1 then
      create(word)
    end
  end)
end

M.open = {
  run = function(given)
    local word = given.args[1]
    if word == nil then
      M.pick.run(given)
      return
    end
    local channel = state.find(word)
    if channel then
      enter(channel.id)
    elseif word:find('^@') then
      client.request(
        'sidekicks/channel/direct',
        { agent = word:sub(2) },
        log.or_say(function(made)
          enter(made.id)
        end)
      )
    else
      offer_to_create('#' .. word:gsub('^#', ''))
    end
  end,
}

---@class sidekicks.Pick
---@field label string
---@field rank integer
---@field run fun()

---@return sidekicks.Pick[]
local function picks()
  local waiting, direct, found = {}, {}, {}
  for _, permission in ipairs(state.permissions) do
    waiting[permission.channelId] = (waiting[permission.channelId] or 0) + 1
  end
  for _, channel in ipairs(state.channels) do
    local label = names.title(channel)
    if waiting[channel.id] then
      label = ('%s  ◆ %d waiting'):format(label, waiting[channel.id])
    end
    if channel.unread > 0 then
      label = ('%s  ✉ %d unread'):format(label, channel.unread)
    end
    if channel.agent then
      direct[channel.agent] = true
    end
    found[#found + 1] = {
      label = label,
      rank = (waiting[channel.id] and 0) or (channel.unread > 0 and 1) or (channel.kind == 'named' and 2) or 3,
      run = function()
        enter(channel.id)
      end,
    }
  end
  for _, name in ipairs(state.agent_names) do
    if not direct[name] then
      found[#found + 1] = {
        label = ('@%s  talk to it alone'):format(name),
        rank = 4,
        run = function()
          M.open.run({ args = { '@' .. name } })
        end,
      }
    end
  end
  return found
end

M.pick = {
  run = function()
    local found = picks()
    for at, pick in ipairs(found) do -- table.sort is not stable
      pick.rank = pick.rank * 10000 + at
    end
    table.sort(found, function(a, b)
      return a.rank < b.rank
    end)
    vim.ui.select(found, {
      prompt = 'Channel',
      format_item = function(pick)
        return pick.label
      end,
    }, function(pick)
      if pick then
        pick.run()
      end
    end)
  end,
}

M.create = {
  run = function(given)
    if given.args[1] then
      create(given.args[1])
      return
    end
    vim.ui.input({ prompt = 'Name of the new channel: #' }, function(name)
      if name and name ~= '' then
        create(name)
      end
    end)
  end,
}

--- The channel that is meant; says so if there is none.
---@return sidekicks.OpenRoom?
local function here()
  local room = target.room()
  if room == nil then
    log.error('No channel is open: :Sidekicks #general opens one.')
  end
  return room
end

M.rename = {
  run = function(given)
    local room = here()
    if room == nil then
      return
    end
    local function rename(name)
      if name and name ~= '' then
        client.request('sidekicks/channel/update', { channelId = room.id, name = (name:gsub('^#', '')) }, log.or_say())
      end
    end
    if given.args[1] then
      rename(given.args[1])
    else
      vim.ui.input({ prompt = 'New name: #', default = room:channel().name }, rename)
    end
  end,
}

M.describe = {
  run = function(given)
    local room = here()
    if room then
      local params = { channelId = room.id, description = table.concat(given.args, ' ') }
      client.request('sidekicks/channel/update', params, log.or_say())
    end
  end,
}

M.delete = {
  run = function()
    local room = here()
    if room == nil then
      return
    end
    local channel = room:channel()
    local wanted = channel.name or channel.agent or ''
    local prompt = ('Type %s to delete %s with its history: '):format(wanted, names.title(channel))
    vim.ui.input({ prompt = prompt }, function(typed)
      if typed == nil or typed == '' then
        return
      end
      client.request(
        'sidekicks/channel/delete',
        { channelId = room.id, confirm = typed },
        log.or_say(function()
          require('sidekicks.buffers').forget(channel)
          log.say(('%s is deleted.'):format(names.title(channel)))
        end)
      )
    end)
  end,
}

---@param room sidekicks.OpenRoom
---@return table<string, true>
local function members_of(room)
  local members = {}
  for _, member in ipairs(room:channel().members) do
    members[member.name] = true
  end
  return members
end

--- Agents by whether they are members here.
---@param present boolean
---@return string[]
local function candidates(present)
  local room = target.room()
  local members = room and members_of(room) or {}
  return vim.tbl_filter(function(name)
    return (members[name] or false) == present
  end, state.agent_names)
end

---@param verb "invite"|"remove"
---@param present boolean
---@return sidekicks.Verb
local function member_verb(verb, present)
  return {
    run = function(given)
      local room = here()
      if room == nil then
        return
      end
      local function change(agent)
        if agent then
          local params = { channelId = room.id, agent = (agent:gsub('^@', '')) }
          client.send('sidekicks/channel/' .. verb, params, log.or_say())
        end
      end
      if given.args[1] then
        change(given.args[1])
      else
        vim.ui.select(candidates(present), { prompt = verb == 'invite' and 'Invite' or 'Remove' }, change)
      end
    end,
    complete = function()
      return candidates(present)
    end,
  }
end

M.invite = member_verb('invite', false)
M.remove = member_verb('remove', true)

M.root = {
  run = function()
    local room = here()
    if room and (room.snapshot.otherRoot or room:channel().root) then
      require('sidekicks.roots').ask(room, function() end)
    end
  end,
}

M.close = {
  offline = true,
  run = function()
    layout.hide()
  end,
}

M.toggle = {
  run = function()
    if layout.hide() then
      return
    end
    local room = target.room()
    if room then
      layout.show(room, true)
    else
      M.pick.run({ args = {} })
    end
  end,
}

return M
