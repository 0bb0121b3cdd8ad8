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
  complete = function()
    return vim.tbl_map(names.slug, state.channels)
  end,
}

---@class sidekicks.Pick
---@field label string
---@field rank integer
---@field run fun()

--- Where a kind of channel stands among those in which nothing waits.
local RANKS = { named = 2, direct = 3, pair = 5 }

---@param channel sidekicks.Channel
---@param asked integer questions that wait there
---@return sidekicks.Pick
local function pick_of(channel, asked)
  local label = (channel.kind == 'pair' and 'Agent mail: ' or '') .. names.title(channel)
  if asked > 0 then
    label = ('%s  ◆ %d waiting'):format(label, asked)
  end
  if channel.unread > 0 then
    label = ('%s  ✉ %d unread'):format(label, channel.unread)
  end
  return {
    label = label,
    rank = asked > 0 and 0 or channel.unread > 0 and 1 or RANKS[channel.kind],
    run = function()
      enter(channel.id)
    end,
  }
end

---@return sidekicks.Pick[]
local function picks()
  local asked, direct, found = {}, {}, {}
  for _, question in ipairs(state.questions()) do
    asked[question.channelId] = (asked[question.channelId] or 0) + 1
  end
  for _, channel in ipairs(state.channels) do
    direct[channel.agent or ''] = true
    found[#found + 1] = pick_of(channel, asked[channel.id] or 0)
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

M.rename = {
  run = target.in_room(function(room, given)
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
  end),
}

M.describe = {
  run = target.in_room(function(room, given)
    local params = { channelId = room.id, description = table.concat(given.args, ' ') }
    client.request('sidekicks/channel/update', params, log.or_say())
  end),
}

M.delete = {
  run = target.in_room(function(room)
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
  end),
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
    run = target.in_room(function(room, given)
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
    end),
    complete = function()
      return candidates(present)
    end,
  }
end

M.invite = member_verb('invite', false)
M.remove = member_verb('remove', true)

M.root = {
  run = target.in_room(function(room)
    if room.snapshot.otherRoot or room:channel().root then
      require('sidekicks.roots').ask(room, function() end)
    end
  end),
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
