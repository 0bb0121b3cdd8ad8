--- Read-only buffers for what is looked at and closed again.
local M = {}

--- Shows lines in a window of their own; `q` closes it.
---@param title string
---@param lines string[]
---@param filetype? string
---@return integer buf
function M.show(title, lines, filetype)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = 'wipe'
  vim.cmd('silent belowright split')
  vim.wo.winfixbuf, vim.wo.winfixheight = false, false
  vim.api.nvim_win_set_buf(0, buf)
  vim.api.nvim_buf_set_name(buf, ('sidekicks-%s [%d]'):format(title, buf))
  if filetype then
    vim.bo[buf].filetype = filetype
  end
  vim.bo[buf].modifiable = false
  vim.wo[0][0].wrap = true
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, nowait = true, desc = 'Close' })
  return buf
end

return M
