--- Manual folds of the transcript, kept in every window that shows it: the bodies of tool calls and thoughts. An opened
--- fold stays open when its block is drawn again.
local M = {}

--- Whether a window's folds can be made by hand.
---@param win integer
---@return boolean
local function manual(win)
  return vim.wo[win].foldmethod == 'manual'
end

---@param wins integer[]
---@param fn fun(win: integer)
local function each(wins, fn)
  for _, win in ipairs(wins) do
    if manual(win) then
      vim.api.nvim_win_call(win, function()
        local view = vim.fn.winsaveview()
        fn(win)
        vim.fn.winrestview(view)
      end)
    end
  end
end

--- Deletes the fold at a row (from 0) and says in which windows it was open.
---@param wins integer[]
---@param row integer
---@return table<integer, boolean> open
function M.take(wins, row)
  local open = {}
  each(wins, function(win)
    if vim.fn.foldlevel(row + 1) > 0 then
      open[win] = vim.fn.foldclosed(row + 1) == -1
      vim.api.nvim_win_set_cursor(win, { row + 1, 0 })
      vim.cmd('silent! normal! zD')
    end
  end)
  return open
end

--- Folds the rows from `first` to `last` (from 0), closed but where `open` says otherwise.
---@param wins integer[]
---@param first integer
---@param last integer
---@param open table<integer, boolean>
function M.put(wins, first, last, open)
  each(wins, function(win)
    vim.cmd(('silent! %d,%dfold'):format(first + 1, last + 1))
    if open[win] then
      vim.cmd(('silent! %dfoldopen'):format(first + 1))
    end
  end)
end

--- Makes all folds of a window anew.
---@param win integer
---@param ranges integer[][] first and last row (from 0)
function M.remake(win, ranges)
  each({ win }, function()
    vim.cmd('silent! normal! zE')
    for _, range in ipairs(ranges) do
      vim.cmd(('silent! %d,%dfold'):format(range[1] + 1, range[2] + 1))
    end
  end)
end

--- What a closed fold shows: its first row as it looks unfolded, and how much is hidden.
---@return sidekicks.Chunk[]
function M.text()
  local first, last = vim.v.foldstart, vim.v.foldend
  local buf = vim.api.nvim_get_current_buf()
  local line = vim.api.nvim_buf_get_lines(buf, first - 1, first, false)[1] or ''
  local chunks, at = {}, 0
  local marks = vim.api.nvim_buf_get_extmarks(
    buf,
    require('sidekicks.view').namespace,
    { first - 1, 0 },
    { first - 1, -1 },
    { details = true }
  )
  for _, mark in ipairs(marks) do
    local col, details = mark[3], mark[4] or {}
    if details.hl_group and details.end_col and col >= at then
      chunks[#chunks + 1] = { line:sub(at + 1, col) }
      chunks[#chunks + 1] = { line:sub(col + 1, details.end_col), details.hl_group }
      at = details.end_col
    end
  end
  chunks[#chunks + 1] = { line:sub(at + 1) }
  chunks[#chunks + 1] = { ('  ⋯ %d'):format(last - first), 'SidekicksMeta' }
  return chunks
end

return M
