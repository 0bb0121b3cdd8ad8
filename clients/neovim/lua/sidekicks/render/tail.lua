--- What stands below the last message: that nobody has written yet, that the channel works in another folder, whose turn
--- it is and what it waits for, and what agents ask for beside permissions. Pure but for what the state knows.
local canvases = require('sidekicks.render.canvas')
local state = require('sidekicks.state')
local text = require('sidekicks.text')
local words = require('sidekicks.render.words')

local M = {}

---@param snapshot sidekicks.OpenedChannel
---@param canvas sidekicks.Canvas
local function welcome(snapshot, canvas)
  local members = {}
  for _, member in ipairs(snapshot.channel.members) do
    members[#members + 1] = '@' .. member.name
  end
  if #members == 0 then
    canvas:row({ { 'Nobody is here yet: a mention invites, as in “@scout where is the parser?”', 'SidekicksMeta' } })
  else
    canvas:row({ { ('Write below. Here: %s'):format(table.concat(members, ', ')), 'SidekicksMeta' } })
  end
end

--- What an agent asks for; the page to visit is shown whole. Each row stands for the question.
---@param asked sidekicks.Elicitation
---@param canvas sidekicks.Canvas
local function question(asked, canvas)
  local function row(chunks, card)
    canvas:row(chunks, { option = asked.requestId, line = card and 'SidekicksPermissionCard' or nil })
  end
  for at, line in ipairs((text.lines(vim.trim(asked.message)))) do
    if at == 1 then
      row({ { '◆ ', 'SidekicksWarning' }, words.agent(asked.agent), { ' asks: ' }, { line, 'SidekicksTool' } }, true)
    else
      row({ { '  ' .. line } })
    end
  end
  for _, line in ipairs(asked.url and text.lines(asked.url) or {}) do
    row({ { '  ' .. line, 'SidekicksPath' } })
  end
  row({
    { '  <CR>', 'SidekicksKey' },
    { ' here or :Sidekicks answer, :Sidekicks answer decline', 'SidekicksMeta' },
  }, true)
end

--- The rows, and for each turn that runs its row.
---@param room sidekicks.OpenRoom
---@return sidekicks.Canvas canvas
---@return table<integer, string> spins row → the turn's id
function M.draw(room)
  local snapshot, canvas, spins = room.snapshot, canvases.new(), {}
  if #snapshot.messages == 0 and #snapshot.turns == 0 then
    welcome(snapshot, canvas)
  end
  if snapshot.otherRoot and not room.decided then
    local here = require('sidekicks.client').connection().root or ''
    canvas:row({
      { '! ', 'SidekicksWarning' },
      {
        ('This channel works in %s, you are in %s.'):format(text.short_path(snapshot.otherRoot), text.short_path(here)),
        'SidekicksWarning',
      },
    })
    canvas:row({ { '  :Sidekicks root decides where; you are asked before anything is sent.', 'SidekicksMeta' } })
  end
  for _, turn in ipairs(snapshot.turns) do
    if turn.state ~= 'queued' then
      spins[#canvas.lines] = turn.id
    end
    local chunks = words.turn(turn)
    table.insert(chunks, 1, { '  ' })
    canvas:row(chunks)
  end
  for _, asked in ipairs(state.elicitations) do
    if asked.channelId == room.id then
      question(asked, canvas)
    end
  end
  return canvas, spins
end

return M
