--- Parts of messages as rows: tool calls, plans, notices, permission cards. Every text is made safe here.
local diff = require('sidekicks.render.diff')
local text = require('sidekicks.text')

local M = {}

---@class sidekicks.Context what a part is drawn with
---@field root? string the channel's folder, by which paths are shortened
---@field agent string who wrote the message
---@field message sidekicks.Message
---@field permission fun(request_id: string): sidekicks.Permission? an open one

local ICONS = {
  completed = { '✓ ', 'SidekicksOk' },
  failed = { '✗ ', 'SidekicksError' },
  cancelled = { '⊘ ', 'SidekicksMeta' },
}
local RUNNING = { '◌ ', 'SidekicksRunning' }
local STEPS = { completed = { '☑ ', 'SidekicksOk' }, in_progress = { '▸ ', 'SidekicksRunning' } }
local OUTPUT_ROWS = 100

--- The command line in a tool call's input, as agents usually give it.
---@param input any
---@return string?
local function command_of(input)
  if type(input) ~= 'table' then
    return nil
  end
  local command = input.command or input.cmd
  if type(command) == 'table' and vim.islist(command) then
    return table.concat(vim.tbl_map(tostring, command), ' ')
  end
  return type(command) == 'string' and command or nil
end

---@param canvas sidekicks.Canvas
---@param value string
---@param group? string
---@param first? string
local function indented(canvas, value, group, first)
  local lines = text.lines(value)
  for at, line in ipairs(lines) do
    if at > OUTPUT_ROWS then
      canvas:row({ { ('  … %d more lines; :Sidekicks output shows all'):format(#lines - at + 1), 'SidekicksMeta' } })
      return
    end
    canvas:row({ { at == 1 and first or '  ', 'SidekicksMeta' }, { line, group } })
  end
end

---@param location sidekicks.Location
---@param root? string
---@return string
local function place_of(location, root)
  local path = text.short_path(location.path, root)
  return location.line and ('%s:%d'):format(path, location.line) or path
end

---@param canvas sidekicks.Canvas
---@param content sidekicks.ToolContent
---@param context sidekicks.Context
local function tool_content(canvas, content, context)
  if content.type == 'diff' then
    ---@cast content sidekicks.DiffContent
    local path = text.short_path(content.path, context.root)
    canvas:row({ { '  ' .. path, 'SidekicksPath' } }, { place = { path = content.path } })
    diff.draw(canvas, content, '  ')
  elseif content.type == 'text' and vim.trim(content.text or '') ~= '' then
    indented(canvas, vim.trim(content.text or ''), 'SidekicksOutput')
  elseif content.type == 'resource' then
    canvas:row({ { '  ' .. text.one_line(content.title or content.uri or ''), 'SidekicksPath' } })
    indented(canvas, content.text or '', 'SidekicksOutput')
  end
end

--- Adds what a tool call works on and what came of it.
---@param canvas sidekicks.Canvas
---@param part sidekicks.ToolCallPart
---@param context sidekicks.Context
local function tool_body(canvas, part, context)
  local command = command_of(part.input)
  if command then
    indented(canvas, command, 'SidekicksCode', '  $ ')
  end
  for _, content in ipairs(part.content) do
    tool_content(canvas, content, context)
  end
  if #part.content == 0 and type(part.output) == 'string' and vim.trim(part.output) ~= '' then
    indented(canvas, vim.trim(part.output), 'SidekicksOutput')
  end
  if part.truncated then
    canvas:row({ { '  … shortened; :Sidekicks output shows all', 'SidekicksMeta' } })
  end
end

--- A tool call: status, title, places; its body is folded away unless it failed.
---@param canvas sidekicks.Canvas
---@param part sidekicks.ToolCallPart
---@param context sidekicks.Context
function M.tool(canvas, part, context)
  local title = text.one_line(part.title)
  if title == '' then
    title = text.one_line(part.kind)
  end
  local chunks = { ICONS[part.status] or RUNNING, { title, 'SidekicksTool' } }
  for at, location in ipairs(part.locations) do
    local place = place_of(location, context.root)
    if at <= 3 and not title:find(place, 1, true) then
      chunks[#chunks + 1] = { '  ' .. place, 'SidekicksPath' }
    end
  end
  for _, content in ipairs(part.content) do
    if content.type == 'diff' then
      ---@cast content sidekicks.DiffContent
      local change = diff.changes(content)
      chunks[#chunks + 1] = { ('  +%d'):format(change.added), 'SidekicksAdded' }
      chunks[#chunks + 1] = { (' −%d'):format(change.removed), 'SidekicksRemoved' }
    end
  end
  canvas:row(chunks, { place = part.locations[1] })
  tool_body(canvas, part, context)
  canvas.fold = #canvas.lines > 1 and part.status ~= 'failed'
end

--- A plan, a row a step.
---@param canvas sidekicks.Canvas
---@param part sidekicks.PlanPart
function M.plan(canvas, part)
  for _, entry in ipairs(part.entries) do
    local done = entry.status == 'completed'
    canvas:row({
      STEPS[entry.status] or { '☐ ', 'SidekicksMeta' },
      { text.one_line(entry.content, 400), done and 'SidekicksMeta' or nil },
    })
  end
end

--- A sentence of the bridge.
---@param canvas sidekicks.Canvas
---@param part sidekicks.NoticePart
function M.notice(canvas, part)
  if part.text == '' then
    return
  end
  for at, line in ipairs((text.lines(part.text))) do
    canvas:row({ { (at == 1 and '• ' or '  ') .. line, 'SidekicksNotice' } })
  end
end

---@param part sidekicks.PermissionPart
---@param context sidekicks.Context
---@return sidekicks.ToolCallPart?
local function asked_about(part, context)
  local open = context.permission(part.requestId)
  if open then
    return open.toolCall
  end
  for _, other in ipairs(context.message.parts) do
    if other.type == 'toolCall' and other.id == part.toolCallId then
      ---@cast other sidekicks.ToolCallPart
      return other
    end
  end
end

---@param canvas sidekicks.Canvas
---@param part sidekicks.PermissionPart
---@param title string
local function answered(canvas, part, title)
  local outcome = part.outcome
  if outcome == nil or outcome.outcome == 'cancelled' then
    canvas:row({ { '⊘ not answered: ', 'SidekicksMeta' }, { title, 'SidekicksMeta' } })
    return
  end
  local name, kind = outcome.optionId or '?', ''
  for _, option in ipairs(part.options) do
    if option.optionId == outcome.optionId then
      name, kind = option.name, option.kind
    end
  end
  local rejected = vim.startswith(kind, 'reject')
  canvas:row({
    { '◆ ', rejected and 'SidekicksError' or 'SidekicksOk' },
    { ('%s: '):format(text.one_line(name, 60)), 'SidekicksMeta' },
    { title, 'SidekicksMeta' },
  })
end

--- A permission question: who asks for what, and the answers by number; one row once it is answered.
---@param canvas sidekicks.Canvas
---@param part sidekicks.PermissionPart
---@param context sidekicks.Context
function M.permission(canvas, part, context)
  local tool = asked_about(part, context)
  local title = tool and text.one_line(tool.title) or 'something it does not name'
  if part.outcome then
    answered(canvas, part, title)
    return
  end
  local words = require('sidekicks.render.words')
  local line, open = 'SidekicksPermissionCard', context.permission(part.requestId)
  local chunks = { { '◆ ', 'SidekicksWarning' }, { title, 'SidekicksTool' } } ---@type sidekicks.Chunk[]
  if open == nil or open.about ~= 'silence' then -- then it is the bridge that asks
    table.insert(chunks, 2, words.agent(context.agent))
    table.insert(chunks, 3, { ' asks: ' })
  end
  canvas:row(chunks, { line = line })
  local from = #canvas.lines
  if tool then
    tool_body(canvas, tool, context)
    if #canvas.lines == from and type(tool.input) == 'table' and next(tool.input) then
      indented(canvas, vim.json.encode(tool.input), 'SidekicksCode')
    end
    for _, location in ipairs(#canvas.lines == from and tool.locations or {}) do
      canvas:row({ { '  ' .. place_of(location, context.root), 'SidekicksPath' } }, { place = location })
    end
  end
  for at, option in ipairs(part.options) do
    local group = vim.startswith(option.kind, 'reject') and 'SidekicksError' or 'SidekicksOk'
    local name = text.one_line(option.name, 120)
    canvas:row(
      { { ('  %s '):format(at <= 9 and at or '·'), 'SidekicksKey' }, { name, group } },
      { line = line, option = option.optionId }
    )
  end
end

return M
