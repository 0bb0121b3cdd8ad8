--- What goes on, in words: turns, what they wait for, routes, usage, ends of turns. Pure but for the names of agents.
local names = require('sidekicks.names')
local state = require('sidekicks.state')
local text = require('sidekicks.text')

local M = {}

local DOING = {
  starting = 'is getting ready',
  thinking = 'is thinking',
  tool = 'is using a tool',
  writing = 'is writing',
  awaitingPermission = 'waits for your answer',
  cancelling = 'is being cancelled',
}

---@type table<string, sidekicks.Chunk>
local STOPS = {
  cancelled = { '■ cancelled', 'SidekicksMeta' },
  interrupted = { '■ interrupted', 'SidekicksWarning' },
  refusal = { '■ the agent declined to go on', 'SidekicksWarning' },
  max_tokens = { '■ stopped at its token limit; ask it to go on', 'SidekicksWarning' },
  max_turn_requests = { '■ stopped at its limit of requests; ask it to go on', 'SidekicksWarning' },
  failed = { '■ failed', 'SidekicksError' },
}

local ADVICE = {
  agentSpawnFailed = 'Check its `command`: :Sidekicks config',
  agentAuthRequired = ':Sidekicks signin',
  agentExited = 'A retry starts it anew.',
  agentProtocol = 'Retry; if it stays so, check its command and version, and :Sidekicks agent log.',
  noSlot = 'Retry when another agent is idle.',
}

--- The group an agent's name is shown in: the same agent always in the same.
---@param name string
---@return string
function M.agent_group(name)
  local at = 0
  for index, known in ipairs(state.agent_names) do
    if known == name then
      at = index - 1
    end
  end
  return 'SidekicksAgent' .. (at % 6 + 1)
end

---@param name string
---@return sidekicks.Chunk
function M.agent(name)
  return { state.title(name), M.agent_group(name) }
end

--- What is asked, in one sentence: by an agent, or by the bridge about one that is silent.
---@param asked sidekicks.Question
---@param limit? integer characters of what the agent says
---@return string
function M.asks(asked, limit)
  local title = asked.toolCall and asked.toolCall.title or asked.message or ''
  if asked.about == 'silence' then
    return text.one_line(title, limit)
  end
  return ('%s asks: %s'):format(state.title(asked.agent), text.one_line(title, limit))
end

--- What a turn waits for.
---@param waits? sidekicks.WaitsFor
---@return string
function M.waiting(waits)
  if waits == nil then
    return ''
  end
  local who = waits.agent and state.title(waits.agent) or 'an agent'
  if waits.reason == 'agentBusy' then
    local channel = waits.channelId and state.channel(waits.channelId)
    return ('%s is busy in %s'):format(who, channel and names.title(channel) or 'another channel')
  elseif waits.reason == 'channel' then
    return 'after ' .. who
  end
  return 'waits until another agent is idle'
end

--- What a turn does now, or what it waits for.
---@param turn sidekicks.Turn
---@return sidekicks.Chunk[]
function M.turn(turn)
  local why = M.waiting(turn.waitsFor)
  if turn.state == 'queued' then
    return { M.agent(turn.agent), { ' is next' .. (why ~= '' and ': ' .. why or ''), 'SidekicksMeta' } }
  end
  local doing = DOING[turn.state] or turn.state
  if turn.state == 'starting' and why ~= '' then
    doing = doing .. ': ' .. why
  end
  return { M.agent(turn.agent), { ' ' .. doing, 'SidekicksMeta' } }
end

---@param target sidekicks.RouteTarget
---@return string[]
local function facts(target)
  local found = {}
  if target.command then
    found[#found + 1] = ('/%s alone'):format(text.one_line(target.command, 40):gsub('^/', ''))
  end
  if target.invited then
    found[#found + 1] = 'will be invited'
  end
  if target.unseen > 0 then
    found[#found + 1] = ('%d unseen'):format(target.unseen)
      .. (target.cut > 0 and (', %d cut'):format(target.cut) or '')
  end
  local why = M.waiting(target.waitsFor)
  if why ~= '' then
    found[#found + 1] = why
  end
  return found
end

--- Where a text would go.
---@param route sidekicks.Route
---@return sidekicks.Chunk[]
function M.route(route)
  local problem = route.problem
  if problem then
    local chunks = { { text.one_line(problem.text, 300), 'SidekicksWarning' } } ---@type sidekicks.Chunk[]
    if problem.suggestion then
      chunks[2] = { ('  gra: change to %s'):format(text.one_line(problem.suggestion, 60)), 'SidekicksMeta' }
    end
    return chunks
  end
  local chunks = {}
  for at, target in ipairs(route.to) do
    chunks[#chunks + 1] = { at == 1 and '→ ' or ', then ', 'SidekicksMeta' }
    chunks[#chunks + 1] = M.agent(target.agent)
    local known = facts(target)
    if #known > 0 then
      chunks[#chunks + 1] = { (' (%s)'):format(table.concat(known, ' · ')), 'SidekicksMeta' }
    end
  end
  for _, note in ipairs(route.notes or {}) do
    chunks[#chunks + 1] = { '  ' .. text.one_line(note.text, 200), 'SidekicksWarning' }
  end
  return chunks
end

---@param tokens number
local function amount(tokens)
  return math.abs(tokens) >= 1000 and ('%.1fk'):format(tokens / 1000) or ('%d'):format(tokens)
end

--- Context use and cost as the agent reports them; a share only where it makes sense.
---@param usage sidekicks.Usage
---@return string
function M.usage(usage)
  local said = amount(usage.used)
  if usage.size and usage.size > 0 then
    said = said .. '/' .. amount(usage.size)
    if usage.used >= 0 and usage.used <= usage.size then
      said = said .. (' (%d%%)'):format(100 * usage.used / usage.size)
    end
  end
  if usage.cost then
    said = said .. (' %.2f %s'):format(usage.cost.amount, text.one_line(usage.cost.currency, 8))
  end
  return said
end

--- Adds how a turn ended, if that is worth a row: why it failed and what to do.
---@param canvas sidekicks.Canvas
---@param turn? sidekicks.MessageTurn
---@return boolean retry whether it can be prompted anew
function M.ending(canvas, turn)
  if turn == nil or (turn.error == nil and (turn.stopReason == nil or turn.stopReason == 'end_turn')) then
    return false
  end
  local retry = turn.error ~= nil or turn.stopReason == 'failed' or turn.stopReason == 'interrupted'
  if turn.error then
    for at, line in ipairs((text.lines(vim.trim(turn.error.message)))) do
      canvas:row({ { (at == 1 and '■ ' or '  ') .. line, 'SidekicksError' } })
    end
    if ADVICE[turn.error.code] then
      canvas:row({ { '  ' .. ADVICE[turn.error.code], 'SidekicksMeta' } })
    end
  else
    canvas:row({ STOPS[turn.stopReason] or { '■ ' .. text.one_line(turn.stopReason or '', 80), 'SidekicksWarning' } })
  end
  if retry then
    canvas:row({
      { '  ↻ retry: ', 'SidekicksMeta' },
      { 'R', 'SidekicksKey' },
      { ' here, or :Sidekicks retry', 'SidekicksMeta' },
    })
  end
  return retry
end

--- Seconds since 1970 of an RFC 3339 time in UTC.
---@param stamp string
---@return integer?
function M.epoch(stamp)
  local found = { stamp:match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)') } ---@type any[]
  if #found < 6 then
    return nil
  end
  local year, month, day, hour, minute, second = unpack(vim.tbl_map(tonumber, found))
  if month <= 2 then -- years that begin in March: the leap day is at their end
    year, month = year - 1, month + 12
  end
  local leaps = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  local days = 365 * year + leaps + math.floor((153 * (month - 3) + 2) / 5) + day - 719469
  return math.floor(((days * 24 + hour) * 60 + minute) * 60 + second)
end

--- When a message was written: the time, with the day if it was not today.
---@param stamp string
---@return string
function M.time(stamp)
  local at = M.epoch(stamp)
  if at == nil then
    return ''
  end
  local today = os.date('%Y-%m-%d') == os.date('%Y-%m-%d', at)
  return tostring(os.date(today and '%H:%M' or '%d %b %H:%M', at))
end

--- How long a finished turn took, if it was long.
---@param turn? sidekicks.MessageTurn
---@return string?
function M.duration(turn)
  local from = turn and M.epoch(turn.startedAt)
  local to = turn and turn.endedAt and M.epoch(turn.endedAt)
  if from == nil or to == nil or to - from < 5 then
    return nil
  end
  local seconds = to - from
  return seconds < 100 and ('%d s'):format(seconds) or ('%d min'):format(math.floor(seconds / 60 + 0.5))
end

return M
