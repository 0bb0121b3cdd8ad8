--- Markdown highlighting of finished blocks, once each and only when they come into sight, from a string parser: a
--- highlighter on the whole buffer would parse a long channel again with every word that arrives.
local M = {}

M.namespace = vim.api.nvim_create_namespace('sidekicks.markdown')

--- How long one go may take; the rest waits for the next.
local SLICE_NS, SOON_MS, LATEST_MS = 5e6, 60, 300
--- Rows above and below a window's that are highlighted with them.
local MARGIN = 20
local SKIPPED = { spell = true, nospell = true, none = true }
--- What every mark of Markdown has one of: characters anywhere, or a pattern where a line begins.
local SIGNS, STARTS = vim.split('`*_~<>&\\[]#|=$', ''), { '^%s*[-+%d]', '^ *\t', '^    ' }

---@type table<string, vim.treesitter.Query|false>
local queries = {}

---@param lang string
---@return vim.treesitter.Query|false
local function query_of(lang)
  if queries[lang] == nil then
    local ok, query = pcall(vim.treesitter.query.get, lang, 'highlights')
    queries[lang] = ok and query or false
  end
  return queries[lang]
end

--- Whether there may be anything to highlight: prose has nothing, and the parsers take long to find that out.
---@param lines string[]
---@param source string the same
---@return boolean
local function has_signs(lines, source)
  for _, sign in ipairs(SIGNS) do
    if source:find(sign, 1, true) then
      return true
    end
  end
  for _, line in ipairs(lines) do
    for _, start in ipairs(STARTS) do
      if line:find(start) then
        return true
      end
    end
  end
  return false
end

---@param buf integer
---@param row integer
---@param source string
---@param above integer lines of the source that stand above the first row
local function parse_and_draw(buf, row, source, above)
  local parser = vim.treesitter.get_string_parser(source, 'markdown')
  parser:parse(true)
  parser:for_each_tree(function(tree, language)
    local lang = language:lang()
    local query = query_of(lang)
    if not query then
      return
    end
    for id, node, found in query:iter_captures(tree:root(), source) do
      local meta = found ---@type table<integer|string, any>
      local name = query.captures[id] or '_'
      if not SKIPPED[name] and name:sub(1, 1) ~= '_' then
        local own = meta[id] or {} ---@type table<string, any>
        local first, col, last, stop = node:range()
        if first < above then
          first, col = above, 0
        end
        vim.api.nvim_buf_set_extmark(buf, M.namespace, row + first - above, col, {
          end_row = row + math.max(last - above, first - above),
          end_col = stop,
          hl_group = name ~= 'conceal' and ('@%s.%s'):format(name, lang) or nil,
          conceal = own.conceal or meta.conceal,
          conceal_lines = own.conceal_lines or meta.conceal_lines,
          priority = lang:find('^markdown') and 100 or 110,
          strict = false,
        })
      end
    end
  end)
end

--- Highlights rows of a buffer.
---@param buf integer
---@param row integer
---@param lines string[] the text of the rows
---@param fence? string the line that opened the code block in whose middle they stand
function M.draw(buf, row, lines, fence)
  local source = table.concat(lines, '\n') .. '\n'
  if fence then
    pcall(parse_and_draw, buf, row, fence .. '\n' .. source, 1)
  elseif has_signs(lines, source) then
    pcall(parse_and_draw, buf, row, source, 0)
  end
end

--- Highlights the pieces of a block that lie between two rows.
---@param buf integer
---@param block sidekicks.Block
---@param row integer where the block's text begins
---@param top integer
---@param bottom integer
---@param deadline number
---@return boolean done false: the time was up
local function highlight_block(buf, block, row, top, bottom, deadline)
  local pieces = block.pieces
  for at = #pieces, 1, -1 do
    local piece = pieces[at]
    if row + piece.stop >= top and row + piece.first <= bottom then
      if vim.uv.hrtime() > deadline then
        return false
      end
      table.remove(pieces, at)
      local lines = vim.api.nvim_buf_get_lines(buf, row + piece.first, row + piece.stop, false)
      M.draw(buf, row + piece.first, lines, piece.fence)
    end
  end
  return true
end

--- Where the entry that covers a row is, or would be.
---@param list sidekicks.Entry[]
---@param row integer
---@return integer
local function entry_at(list, row)
  local low, high = 1, #list
  while low < high do
    local middle = math.floor((low + high + 1) / 2)
    if list[middle].row <= row then
      low = middle
    else
      high = middle - 1
    end
  end
  return low
end

---@param view sidekicks.View
---@param win integer
---@param deadline number
---@return boolean done
local function highlight_window(view, win, deadline)
  local top, bottom = vim.fn.line('w0', win) - 1 - MARGIN, vim.fn.line('w$', win) - 1 + MARGIN
  for at = entry_at(view.entries, bottom), 1, -1 do
    local entry = view.entries[at]
    if entry == nil or entry.row + entry.rows < top then
      return true
    end
    local row = entry.row
    for _, block in ipairs(entry.blocks) do
      if #block.pieces > 0 and not highlight_block(view.buf, block, row + block.gap, top, bottom, deadline) then
        return false
      end
      row = row + block.rows
    end
  end
  return true
end

--- Highlights what can be seen of a transcript, now.
---@param view sidekicks.View
function M.visible(view)
  if not (view.markdown and vim.api.nvim_buf_is_loaded(view.buf)) then
    return
  end
  local deadline = vim.uv.hrtime() + SLICE_NS
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    if not highlight_window(view, win, deadline) then
      M.soon(view)
      return
    end
  end
end

--- Highlights what can be seen of a transcript in a moment, at the latest after `LATEST_MS`, unless more than a screen
--- was written meanwhile: what flies by is not worth it.
---@param view sidekicks.View
---@param soonest? integer milliseconds, instead of `SOON_MS`
function M.soon(view, soonest)
  local now, rows = vim.uv.now(), vim.api.nvim_buf_line_count(view.buf)
  local waiting = view.unlit
  if waiting == nil or rows - waiting.rows > vim.o.lines then
    waiting = { since = now, rows = rows }
    view.unlit = waiting
  end
  view.highlight_timer = view.highlight_timer or assert(vim.uv.new_timer())
  local wait = math.max(1, math.min(soonest or SOON_MS, waiting.since + LATEST_MS - now))
  view.highlight_timer:start(
    wait,
    0,
    vim.schedule_wrap(function()
      view.unlit = nil
      M.visible(view)
    end)
  )
end

return M
