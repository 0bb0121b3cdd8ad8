--- A text that grows: which rows are final, which Markdown blocks are closed. Pure. Whatever the text, the cost of a
--- growth is that of its last line.
local text = require('sidekicks.text')

local M = {}

--- Rows of a paragraph or code block that are highlighted at once.
local LONGEST_PIECE = 40

---@class sidekicks.Stream
---@field value string
---@field from integer where the last row's text begins (from 1); 0: nothing to show yet
---@field rows integer final rows: they do not change any more
---@field scanned integer rows looked at for the ends of blocks
---@field open integer the first row of the block that is not closed yet
---@field fence? string the marks of the code block that is open
---@field fence_line? string the line that opened it
---@field inside? string the same, if `open` is in its middle

---@return sidekicks.Stream
function M.new()
  return { value = '', from = 0, rows = 0, scanned = 0, open = 0 }
end

---@param value string
---@return integer the last byte that is not white space
local function last_ink(value)
  local stop = #value
  while stop > 0 and value:find('^%s', stop) do
    stop = stop - 1
  end
  return stop
end

--- The text is now `value`.
---@param stream sidekicks.Stream
---@param value string
---@return integer keep how many rows stay; fewer than before only if the text was another
---@return string[] lines the rows after them
function M.grow(stream, value)
  if value:find(stream.value, 1, true) ~= 1 then -- compares in place
    local fresh = M.new()
    for _, key in ipairs({ 'value', 'from', 'rows', 'scanned', 'open', 'fence', 'fence_line', 'inside' }) do
      stream[key] = fresh[key]
    end
  end
  stream.value = value
  local stop = last_ink(value)
  if stream.from == 0 then
    local first = value:find('%S')
    if first == nil then
      return 0, {}
    end
    stream.from = #(value:sub(1, first):match('^.*\n') or '') + 1
  end
  local lines, at, last_rows = text.lines(value:sub(stream.from, math.max(stop, stream.from - 1)))
  local keep = stream.rows
  stream.rows = keep + #lines - last_rows
  stream.from = stream.from + at - 1
  return keep, lines
end

---@class sidekicks.MarkdownBlock
---@field first integer
---@field stop integer the row after its last
---@field fence? string the line that opened the code block in whose middle it begins

--- The Markdown blocks that were closed by rows, each once. A long paragraph or code block is closed in pieces, so that
--- no piece takes long to highlight.
---@param stream sidekicks.Stream
---@param lines string[] the rows from `stream.scanned` on
---@param closed boolean whether nothing will follow
---@return sidekicks.MarkdownBlock[]
function M.settle(stream, lines, closed)
  local blocks = {}
  local function close(stop)
    if stop > stream.open then
      blocks[#blocks + 1] = { first = stream.open, stop = stop, fence = stream.inside }
    end
    stream.open, stream.inside = stop, stream.fence_line
  end
  for _, line in ipairs(lines) do
    local row = stream.scanned
    stream.scanned = row + 1
    local marks = line:match('^%s*(```+)') or line:match('^%s*(~~~+)')
    if stream.fence and marks and marks:sub(1, #stream.fence) == stream.fence and line:match('^%s*[`~]+%s*$') then
      stream.fence, stream.fence_line = nil, nil
      close(row + 1)
    elseif stream.fence == nil and marks then
      stream.fence, stream.fence_line = marks, line
    elseif (stream.fence == nil and not line:find('%S')) or stream.scanned - stream.open >= LONGEST_PIECE then
      close(row + 1)
    end
  end
  if closed then
    close(stream.scanned)
  end
  return blocks
end

return M
