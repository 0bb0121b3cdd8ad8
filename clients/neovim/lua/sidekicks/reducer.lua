--- The law of the protocol: snapshot + later events = later snapshot. A port, line by line, of the bridge's reducer;
--- both replay `schema/fixtures`. Pure: nothing given is changed, and what did not change keeps its identity.
local M = {}

local SESSION_FIELDS = { 'modes', 'models', 'options' }
local USAGE_FIELDS = { 'used', 'size', 'cost' }

---@alias sidekicks.Event { method: string, params: table }

---@generic T: table
---@param record T
---@param changes table
---@return T
local function with(record, changes)
  local copy = {}
  for key, value in pairs(record) do
    copy[key] = value
  end
  for key, value in pairs(changes) do
    copy[key] = value
  end
  return copy
end

---@generic T
---@param list T[]
---@param keep fun(item: T): boolean
---@return T[]
local function filter(list, keep)
  local kept = {}
  for _, item in ipairs(list) do
    if keep(item) then
      kept[#kept + 1] = item
    end
  end
  return kept
end

---@param message sidekicks.Message
---@return integer group with a seq, then streaming, then queued
---@return integer seq
---@return string id
local function sort_key(message)
  if message.seq then
    return 0, message.seq, message.id
  end
  return message.state == 'queued' and 2 or 1, 0, message.id
end

---@param a sidekicks.Message
---@param b sidekicks.Message
---@return boolean
local function is_before(a, b)
  local group_a, seq_a, id_a = sort_key(a)
  local group_b, seq_b, id_b = sort_key(b)
  if group_a ~= group_b then
    return group_a < group_b
  end
  if seq_a ~= seq_b then
    return seq_a < seq_b
  end
  return id_a < id_b
end

--- Whether a message lies before those that were asked for: taking it in would leave a gap.
local function is_older(snapshot, message)
  local first = snapshot.messages[1] or {}
  return snapshot.hasMore and message.seq and first.seq and message.seq < first.seq
end

local function message_updated(snapshot, params)
  local message = params.message
  local others = filter(snapshot.messages, function(known)
    return known.id ~= message.id
  end)
  if #others == #snapshot.messages and is_older(snapshot, message) then
    return snapshot
  end
  local at = #others + 1
  while at > 1 and is_before(message, others[at - 1]) do
    at = at - 1
  end
  table.insert(others, at, message)
  return with(snapshot, { messages = others })
end

--- A value sets the part; a text is appended to it. A part right behind the last one begins; a gap is ignored.
local function with_delta(parts, delta)
  local index = delta.part + 1
  if index < 1 or index > #parts + 1 then
    return parts
  end
  local part = parts[index]
  local new
  if delta.value ~= nil then
    new = delta.value
  elseif delta.text == nil then
    return parts
  elseif part == nil then
    new = { type = 'text', text = delta.text }
  elseif part.type ~= 'text' and part.type ~= 'thought' then
    return parts
  else
    new = with(part, { text = part.text .. delta.text })
  end
  local copy = vim.list_slice(parts)
  copy[index] = new
  return copy
end

local function message_delta(snapshot, params)
  local messages = vim.list_slice(snapshot.messages)
  for at = #messages, 1, -1 do -- mostly the last one
    local message = messages[at]
    if message.id == params.messageId then
      messages[at] = with(message, { parts = with_delta(message.parts, params) })
      break
    end
  end
  return with(snapshot, { messages = messages })
end

local function message_removed(snapshot, params)
  return with(snapshot, {
    messages = filter(snapshot.messages, function(known)
      return known.id ~= params.messageId
    end),
  })
end

local function turn_changed(snapshot, params)
  return with(snapshot, { turns = params.turns })
end

--- The member `agent` without the fields `dropped`, then with `fields`.
local function with_member(snapshot, agent, fields, dropped)
  local members = {}
  for at, member in ipairs(snapshot.channel.members) do
    if member.kind == 'agent' and member.name == agent then
      member = with(member, {})
      for _, name in ipairs(dropped) do
        member[name] = nil
      end
      member = with(member, fields)
    end
    members[at] = member
  end
  return with(snapshot, { channel = with(snapshot.channel, { members = members }) })
end

local function pick(record, names)
  local picked = {}
  for _, name in ipairs(names) do
    picked[name] = record[name]
  end
  return picked
end

local function usage_changed(snapshot, params)
  return with_member(snapshot, params.agent, { usage = pick(params, USAGE_FIELDS) }, {})
end

local function session_changed(snapshot, params)
  return with_member(snapshot, params.agent, pick(params, SESSION_FIELDS), SESSION_FIELDS)
end

local function permissions_without(snapshot, request_id)
  return filter(snapshot.permissions, function(known)
    return known.requestId ~= request_id
  end)
end

local function permission_requested(snapshot, params)
  local permissions = permissions_without(snapshot, params.requestId)
  permissions[#permissions + 1] = params
  return with(snapshot, { permissions = permissions })
end

local function permission_resolved(snapshot, params)
  return with(snapshot, { permissions = permissions_without(snapshot, params.requestId) })
end

--- The channel's own record; a channel that is gone keeps its last one.
local function channels_changed(snapshot, params)
  for _, channel in ipairs(params.channels) do
    if channel.id == snapshot.channel.id then
      return with(snapshot, { channel = channel })
    end
  end
  return snapshot
end

---@type table<string, fun(snapshot: sidekicks.OpenedChannel, params: table): sidekicks.OpenedChannel>
local HANDLERS = {
  ['sidekicks/message/updated'] = message_updated,
  ['sidekicks/message/delta'] = message_delta,
  ['sidekicks/message/removed'] = message_removed,
  ['sidekicks/turn/changed'] = turn_changed,
  ['sidekicks/usage/changed'] = usage_changed,
  ['sidekicks/session/changed'] = session_changed,
  ['sidekicks/permission/requested'] = permission_requested,
  ['sidekicks/permission/resolved'] = permission_resolved,
  ['sidekicks/channels/changed'] = channels_changed,
  ['sidekicks/config/changed'] = channels_changed,
}

--- The snapshot after `event`; the same table when the event does not concern it.
---@param snapshot sidekicks.OpenedChannel
---@param event sidekicks.Event
---@return sidekicks.OpenedChannel
function M.reduce(snapshot, event)
  local handler = HANDLERS[event.method]
  if handler == nil then
    return snapshot
  end
  local params = event.params
  if params.channelId ~= nil and params.channelId ~= snapshot.channel.id then
    return snapshot
  end
  return handler(snapshot, params)
end

return M
