--- A message as blocks: its head, its parts, its end. Says for each block what it depends on, so that only what changed
--- is drawn again. Pure but for the names of agents.
local canvases = require('sidekicks.render.canvas')
local names = require('sidekicks.names')
local parts = require('sidekicks.render.parts')
local state = require('sidekicks.state')
local text = require('sidekicks.text')
local words = require('sidekicks.render.words')

local M = {}

--- Which blocks stand together without an empty row between them.
M.GROUPS = { text = 'text', thought = 'work', toolCall = 'work', permission = 'work', plan = 'plan', notice = 'notice' }

--- What the head of a message shows depends on this and nothing else.
---@param message sidekicks.Message
---@param unread boolean whether it is the first one that was not read
---@return string
function M.head_key(message, unread)
  local turn = message.turn
  return ('%s %s %s %s'):format(message.state, turn and turn.endedAt or '', tostring(unread), message.author.kind)
end

---@param message sidekicks.Message
---@return sidekicks.Chunk[]
local function speaker(message)
  local author = message.author
  if author.kind == 'user' then
    return { { message.state == 'queued' and 'You (queued)' or 'You', 'SidekicksUser' } }
  elseif author.kind == 'peer' then
    return { { '✉ ' .. text.one_line(author.name or '?', 64), 'SidekicksPeer' } }
  end
  local agent = state.agents[author.name or '']
  local name = words.agent(author.name or '?')
  if agent and agent.icon then
    return { { text.one_line(agent.icon, 4) .. ' ' }, name }
  end
  return { name }
end

--- Who speaks and when; nothing for a notice of the bridge.
---@param message sidekicks.Message
---@param unread boolean
---@return sidekicks.Canvas
function M.head(message, unread)
  local canvas = canvases.new()
  if message.author.kind == 'system' then
    return canvas
  end
  local right = { words.time(message.createdAt), words.duration(message.turn) }
  if message.state == 'queued' then
    right = { 'x takes it back' }
  end
  local said = ' '
    .. table.concat(
      vim.tbl_filter(function(word)
        return word ~= nil and word ~= ''
      end, right),
      ' · '
    )
  canvas:row(speaker(message), { right = { { said, 'SidekicksMeta' } }, line = 'SidekicksHead' })
  if unread then
    canvas:mark(
      0,
      0,
      { virt_lines = { { { '── new ' .. ('─'):rep(30), 'SidekicksNew' } } }, virt_lines_above = true }
    )
  end
  return canvas
end

--- A part that is drawn whole.
---@param part sidekicks.Part
---@param context sidekicks.Context
---@return sidekicks.Canvas
function M.part(part, context)
  local canvas = canvases.new()
  if part.type == 'toolCall' then
    ---@cast part sidekicks.ToolCallPart
    parts.tool(canvas, part, context)
  elseif part.type == 'plan' then
    ---@cast part sidekicks.PlanPart
    parts.plan(canvas, part)
  elseif part.type == 'notice' then
    ---@cast part sidekicks.NoticePart
    parts.notice(canvas, part)
  elseif part.type == 'permission' then
    ---@cast part sidekicks.PermissionPart
    parts.permission(canvas, part, context)
  end
  return canvas
end

--- What follows the parts: attachments, how the turn ended, an empty row.
---@param message sidekicks.Message
---@return sidekicks.Canvas
function M.foot(message)
  local canvas = canvases.new()
  for _, attachment in ipairs(message.attachments or {}) do
    local path = attachment.uri:match('^file:') and vim.uri_to_fname(attachment.uri)
    local line = attachment.range and attachment.range.start.line + 1
    canvas:row(
      { { '📎 ' .. text.one_line(attachment.title or attachment.uri), 'SidekicksPath' } },
      { place = path and { path = path, line = line } or nil }
    )
  end
  if message.state == 'finished' then
    words.ending(canvas, message.turn)
  end
  canvas:row({ { '' } })
  return canvas
end

---@param message sidekicks.Message
---@return string
function M.foot_key(message)
  local turn = message.turn
  return ('%s %s %s'):format(message.state, turn and turn.stopReason or '', turn and turn.error and 'error' or '')
end

--- What stands above the first message.
---@param snapshot sidekicks.OpenedChannel
---@return sidekicks.Canvas
function M.top(snapshot)
  local canvas = canvases.new()
  local channel = snapshot.channel
  if snapshot.hasMore then
    canvas:row({ { '▲ earlier messages', 'SidekicksMeta' } })
  else
    local chunks = { { names.title(channel), 'SidekicksTitle' } } ---@type sidekicks.Chunk[]
    if channel.description then
      chunks[2] = { '  ' .. text.one_line(channel.description), 'SidekicksMeta' }
    end
    canvas:row(chunks)
  end
  canvas:row({ { '' } })
  return canvas
end

---@param snapshot sidekicks.OpenedChannel
---@return string
function M.top_key(snapshot)
  local channel = snapshot.channel
  return ('%s %s %s'):format(tostring(snapshot.hasMore), names.title(channel), channel.description or '')
end

return M
