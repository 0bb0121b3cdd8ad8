--- One opened channel: its snapshot, and the events that wait to be put into it.
--- Events are gathered and taken in every 30 ms, so that drawing costs the same however fast agents write, and half as
--- often in a flood; deltas of one part are joined first, which the law of the protocol allows. Knows nothing of windows: `on_update` draws.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local reducer = require('sidekicks.reducer')
local state = require('sidekicks.state')
local user = require('sidekicks.user_events')

local FLUSH_MS = 30
--- Text of so many bytes in one flush flies by: nobody reads along, so the next flush waits longer.
local FLOOD_BYTES, FLOOD_MS = 8000, 60

---@class sidekicks.Waiting an event, or several deltas of one part
---@field method string
---@field params table
---@field texts? string[]

---@class sidekicks.OpenRoom
---@field id string
---@field snapshot sidekicks.OpenedChannel
---@field decided boolean whether it was decided which folder to work in, if it is not this client's
---@field attachments sidekicks.Attachment[] what goes with the next message
---@field unread_from? integer the seq of the first message that was unread when the channel was opened
---@field on_update fun(room: sidekicks.OpenRoom) draws
---@field on_tool fun(room: sidekicks.OpenRoom, part: sidekicks.ToolCallPart) a tool call has ended
---@field private queue sidekicks.Waiting[]
---@field private loading boolean
---@field private read_to integer
local Room = {}
Room.__index = Room

local M = {}

local timer = assert(vim.uv.new_timer())
local armed, flood = false, false
---@type table<sidekicks.OpenRoom, true>
local waiting = {}

local function flush_all()
  armed, flood = false, false
  local rooms = waiting
  waiting = {}
  for room in pairs(rooms) do
    log.contain('drawing ' .. room.id, function()
      room:flush()
    end)
  end
end

local flush_soon = vim.schedule_wrap(flush_all)

local function arm()
  if not armed then
    armed = true
    timer:start(flood and FLOOD_MS or FLUSH_MS, 0, flush_soon)
  end
end

--- Notes an event; it is taken in with the next flush.
---@param method string
---@param params table
function Room:push(method, params)
  local queue = self.queue
  local last = queue[#queue]
  if method == 'sidekicks/message/delta' and params.text ~= nil then
    if last and last.texts and last.params.messageId == params.messageId and last.params.part == params.part then
      last.texts[#last.texts + 1] = params.text
    else
      queue[#queue + 1] = { method = method, params = params, texts = { params.text } }
    end
  else
    queue[#queue + 1] = { method = method, params = params }
  end
  waiting[self] = true
  arm()
end

--- Takes in what waits, and draws.
function Room:flush()
  local queue = self.queue
  self.queue = {}
  for _, event in ipairs(queue) do
    if event.texts then
      event.params.text = table.concat(event.texts)
      flood = flood or #event.params.text > FLOOD_BYTES
    end
    self.snapshot = reducer.reduce(self.snapshot, event)
  end
  self:on_update()
  for _, event in ipairs(queue) do
    self:tell(event)
  end
end

--- Tells the hooks.
---@private
---@param event sidekicks.Waiting
function Room:tell(event)
  local params = event.params
  if event.method == 'sidekicks/message/updated' and params.message.state == 'finished' then
    user.fire('SidekicksMessage', { channel = self.snapshot.channel, message = params.message })
  elseif event.method == 'sidekicks/turn/changed' then
    user.fire('SidekicksTurn', { channel = self.snapshot.channel, turns = params.turns })
  elseif event.method == 'sidekicks/message/delta' and params.value and params.value.type == 'toolCall' then
    if params.value.status == 'completed' then
      self:on_tool(params.value)
    end
  end
end

--- Draws what is there, soon.
function Room:touch()
  waiting[self] = true
  arm()
end

---@return sidekicks.Channel
function Room:channel()
  return self.snapshot.channel
end

--- The seq of the newest message that has one.
---@return integer
function Room:last_seq()
  for at = #self.snapshot.messages, 1, -1 do
    local seq = self.snapshot.messages[at].seq
    if seq then
      return seq
    end
  end
  return 0
end

--- Says that everything shown has been read; all clients share the mark.
function Room:mark_read()
  local seq = self:last_seq()
  if seq > self.read_to then
    self.read_to = seq
    client.request('sidekicks/channel/markRead', { channelId = self.id, seq = seq })
  end
end

--- Loads a page of older messages; `done` is called once it is there, or there is none.
---@param done? fun()
---@param limit? integer
function Room:load_older(done, limit)
  local first = self.snapshot.messages[1]
  if self.loading or not self.snapshot.hasMore or not (first and first.seq) then
    if done and not self.loading then
      done()
    end
    return
  end
  self.loading = true
  local params = { channelId = self.id, before = first.seq, limit = limit or 100 }
  client.request('sidekicks/message/list', params, function(err, page)
    self.loading = false
    if err or not page then
      log.error(log.sentence(err or { code = 0, message = 'The older messages did not come.' }))
      return
    end
    if (self.snapshot.messages[1] or {}).id ~= first.id then -- it was opened anew meanwhile
      return
    end
    local messages = vim.list_extend(page.messages, self.snapshot.messages)
    self.snapshot = vim.tbl_extend('force', self.snapshot, { messages = messages, hasMore = page.hasMore })
    self:on_update()
    if done then
      done()
    end
  end)
end

--- Loads older messages until the message is there; `found` gets whether it came.
---@param message_id string
---@param found fun(found: boolean)
function Room:load_until(message_id, found)
  for _, message in ipairs(self.snapshot.messages) do
    if message.id == message_id then
      found(true)
      return
    end
  end
  if not self.snapshot.hasMore then
    found(false)
    return
  end
  self:load_older(function()
    self:load_until(message_id, found)
  end, 500)
end

---@param messages sidekicks.Message[]
---@param unread integer
---@return integer? seq
local function first_unread(messages, unread)
  local seq
  for at = #messages, 1, -1 do
    local message = messages[at]
    if unread == 0 then
      break
    end
    if message.seq and (message.author.kind == 'agent' or message.author.kind == 'peer') then
      seq, unread = message.seq, unread - 1
    end
  end
  return seq
end

--- Takes a snapshot; what waited is in it.
---@param snapshot sidekicks.OpenedChannel
function Room:adopt(snapshot)
  self.snapshot, self.queue = snapshot, {}
  self.read_to = 0
end

--- Opens the channel anew: after this client was too slow, or the bridge has ended and runs again.
---@param done? fun(err?: sidekicks.ResponseError)
function Room:reopen(done)
  local limit = math.max(require('sidekicks.config').get().history, math.min(#self.snapshot.messages, 500))
  client.request('sidekicks/channel/open', { channelId = self.id, limit = limit }, function(err, snapshot)
    if snapshot then
      self:adopt(snapshot)
      self:touch()
    elseif err then
      log.error(log.sentence(err))
    end
    if done then
      done(err)
    end
  end)
end

--- Unsubscribes and forgets the channel.
function Room:close()
  state.rooms[self.id] = nil
  waiting[self] = nil
  client.request('sidekicks/channel/close', { channelId = self.id })
end

--- The room of a channel, opened if it is not.
---@param channel_id string
---@param done fun(room: sidekicks.OpenRoom)
---@param failed? fun()
function M.open(channel_id, done, failed)
  local known = state.rooms[channel_id]
  if known then
    done(known)
    return
  end
  local limit = require('sidekicks.config').get().history
  client.request('sidekicks/channel/open', { channelId = channel_id, limit = limit }, function(err, snapshot)
    if err or not snapshot then
      log.error(log.sentence(err or { code = 0, message = 'The channel did not open.' }))
      if failed then
        failed()
      end
      return
    end
    local room = state.rooms[channel_id]
    if room == nil then
      room = setmetatable({
        id = channel_id,
        decided = false,
        attachments = {},
        loading = false,
        on_update = function() end,
        on_tool = function() end,
      }, Room)
      state.rooms[channel_id] = room
    end
    room:adopt(snapshot)
    room.unread_from = first_unread(snapshot.messages, snapshot.channel.unread)
    done(room)
  end)
end

return M
