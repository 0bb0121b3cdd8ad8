--- Messages in the transcript's buffer: an entry a message, a block a part. Draws what changed of one entry; `View`
--- says where and writes.
local folds = require('sidekicks.folds')
local message_rows = require('sidekicks.render.message')
local stream = require('sidekicks.render.stream')

local M = {}

---@class sidekicks.Block
---@field kind string
---@field rows integer
---@field gap integer rows of distance before it, counted in `rows`
---@field fold boolean
---@field places table<integer, sidekicks.Location>
---@field options table<integer, string>
---@field part? sidekicks.Part
---@field key? string what it was drawn from, if that is no part
---@field stream? sidekicks.Stream
---@field pieces sidekicks.MarkdownBlock[] closed, and not highlighted yet
---@field closed? boolean nothing will follow in it

---@class sidekicks.Entry
---@field id string
---@field row integer
---@field rows integer
---@field message? sidekicks.Message as it was drawn
---@field blocks sidekicks.Block[] head, parts, foot
---@field asks boolean whether it has an open permission question
---@field gone boolean

---@param kind string
---@return sidekicks.Block
function M.block(kind)
  return { kind = kind, rows = 0, gap = 0, fold = false, places = {}, options = {}, pieces = {} }
end

---@param message sidekicks.Message
---@return sidekicks.Entry
function M.new(message)
  return {
    id = message.id,
    row = 0,
    rows = 0,
    blocks = { M.block('head'), M.block('foot') },
    asks = false,
    gone = false,
  }
end

--- Takes a message out of the buffer.
---@param view sidekicks.View
---@param entry sidekicks.Entry
---@param row integer
function M.remove(view, entry, row)
  entry.gone = true
  for _, block in ipairs(entry.blocks) do
    if block.fold then
      folds.take(view.wins, row + block.gap)
    end
    view:write(block, row, 0, {})
  end
end

--- Where a block of an entry begins now.
---@param entry sidekicks.Entry
---@param wanted sidekicks.Block
---@return integer?
local function row_of(entry, wanted)
  local row = entry.row
  for _, block in ipairs(entry.blocks) do
    if block == wanted then
      return not entry.gone and row or nil
    end
    row = row + block.rows
  end
end

--- Notes the Markdown blocks of a text that were closed: they are highlighted when they come into sight.
---@param view sidekicks.View
---@param entry sidekicks.Entry
---@param block sidekicks.Block
---@param row integer
local function settle(view, entry, block, row)
  local grown = block.stream
  if not view.markdown or block.kind ~= 'text' or entry.message.author.kind ~= 'agent' or not grown then
    return
  end
  local first, known = row + block.gap, grown.scanned
  local count = block.closed and block.rows - block.gap or grown.rows
  if known == 0 then
    block.pieces = {}
  end
  if count > known or (count == known and block.closed) then
    local lines = vim.api.nvim_buf_get_lines(view.buf, first + known, first + count, false)
    vim.list_extend(block.pieces, stream.settle(grown, lines, block.closed or false))
  end
end

local PREFIXES = { thought = { '∴ ', '  ' } }

---@param block sidekicks.Block
---@param keep integer
---@param lines string[]
local function prefix(block, keep, lines)
  local marks = PREFIXES[block.kind]
  if marks then
    for at, line in ipairs(lines) do
      lines[at] = (keep + at == 1 and marks[1] or marks[2]) .. line
    end
  end
end

--- Draws what a text or a thought has grown by.
---@param view sidekicks.View
---@param entry sidekicks.Entry
---@param block sidekicks.Block
---@param row integer
---@param gap integer
local function draw_stream(view, entry, block, row, gap)
  block.stream = block.stream or stream.new()
  local part = block.part --[[@as sidekicks.TextPart|sidekicks.ThoughtPart]]
  local keep, lines = stream.grow(block.stream, part.text)
  prefix(block, keep, lines)
  local open = block.fold and folds.take(view.wins, row + block.gap) or {} -- rows that are written leave their fold
  if keep == 0 then
    block.gap = #lines > 0 and gap or 0
    for _ = 1, block.gap do
      table.insert(lines, 1, '')
    end
    view:write(block, row, 0, lines)
  else
    view:write(block, row, block.gap + keep, lines)
  end
  if block.kind == 'thought' then
    for at = row + block.gap + keep, row + block.rows - 1 do
      vim.api.nvim_buf_set_extmark(view.buf, require('sidekicks.view').namespace, at, 0, {
        end_row = at + 1,
        hl_group = 'SidekicksThought',
        strict = false,
      })
    end
    block.fold = block.rows - block.gap > 1
    if block.fold then
      folds.put(view.wins, row + block.gap, row + block.rows - 1, open)
    end
  end
  settle(view, entry, block, row)
end

---@param view sidekicks.View
---@param message sidekicks.Message
---@return sidekicks.Context
local function context_of(view, message)
  local snapshot = view.room.snapshot
  return {
    root = snapshot.channel.root,
    agent = message.author.name or '',
    message = message,
    permission = function(request_id)
      for _, permission in ipairs(snapshot.permissions) do
        if permission.requestId == request_id then
          return permission
        end
      end
    end,
  }
end

---@param view sidekicks.View
---@param entry sidekicks.Entry
---@param block sidekicks.Block
---@param row integer
---@param gap integer
local function draw_part(view, entry, block, row, gap)
  if block.kind == 'text' or block.kind == 'thought' then
    draw_stream(view, entry, block, row, gap)
    return
  end
  local part, message = assert(block.part), assert(entry.message)
  local canvas = message_rows.part(part, context_of(view, message))
  local before = block.gap
  block.gap = #canvas.lines > 0 and gap or 0
  if block.gap == 1 then
    canvas:push_down()
  end
  local fold = canvas.fold
  if block.fold and before ~= block.gap then -- the old fold begins elsewhere
    folds.take(view.wins, row + before)
    block.fold = false
  end
  canvas.fold = fold
  view:put(block, row, canvas)
end

--- Brings the blocks of the parts in line with the message's parts.
---@param view sidekicks.View
---@param entry sidekicks.Entry
---@param message sidekicks.Message
local function fit_blocks(view, entry, message)
  local blocks = entry.blocks
  while #blocks - 2 > #message.parts do
    local block = table.remove(blocks, #blocks - 1)
    block.fold = false
    view:write(block, row_of(entry, blocks[#blocks]) or entry.row, 0, {})
  end
  for at, part in ipairs(message.parts) do
    local block = blocks[at + 1]
    if at + 2 > #blocks then
      table.insert(blocks, at + 1, M.block(part.type))
    elseif block.kind ~= part.type then
      block.kind, block.stream, block.part = part.type, nil, nil
    end
  end
end

---@param message sidekicks.Message
---@return boolean
local function has_question(message)
  for _, part in ipairs(message.parts) do
    if part.type == 'permission' and not part.outcome then
      return true
    end
  end
  return false
end

--- Draws what differs between the message as it was drawn and as it is; `entry.row` is where it stands.
---@param view sidekicks.View
---@param entry sidekicks.Entry
---@param message sidekicks.Message
function M.update(view, entry, message)
  local asked = entry.asks
  entry.message, entry.asks = message, has_question(message)
  fit_blocks(view, entry, message)
  local blocks, row = entry.blocks, entry.row
  local unread = message.seq ~= nil and message.seq == view.room.unread_from
  local head_key = message_rows.head_key(message, unread)
  if blocks[1].key ~= head_key then
    blocks[1].key = head_key
    view:put(blocks[1], row, message_rows.head(message, unread))
  end
  row = row + blocks[1].rows
  local group, force = nil, false
  for at, part in ipairs(message.parts) do
    local block = blocks[at + 1]
    local closed = message.state == 'finished' or at < #message.parts
    local was_shown = block.rows > 0
    local question = part.type == 'permission' and (asked or entry.asks)
    if force or block.part ~= part or block.closed ~= closed or question then
      block.part, block.closed = part, closed
      if force then
        block.stream = nil
      end
      local own = message_rows.GROUPS[part.type]
      draw_part(view, entry, block, row, group and group ~= own and 1 or 0)
    end
    force = force or was_shown ~= (block.rows > 0) and at < #message.parts
    if block.rows > 0 then
      group = message_rows.GROUPS[part.type]
    end
    row = row + block.rows
  end
  local foot = blocks[#blocks]
  local foot_key = message_rows.foot_key(message)
  if foot.key ~= foot_key then
    foot.key = foot_key
    view:put(foot, row, message_rows.foot(message))
  end
  entry.rows = row + foot.rows - entry.row
end

return M
