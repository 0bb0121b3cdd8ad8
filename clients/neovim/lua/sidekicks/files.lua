--- Files that agents write and read: open buffers follow what is on disk, and agents get what is not saved yet.
local config = require('sidekicks.config')
local log = require('sidekicks.log')
local text = require('sidekicks.text')

local M = {}

---@param path string
---@return integer? buf
local function buffer_of(path)
  local real = vim.uv.fs_realpath(path) or path
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if name ~= '' and vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      if name == path or (vim.uv.fs_realpath(name) or name) == real then
        return buf
      end
    end
  end
end

--- What stands in an open buffer that was not saved; nothing if there is none.
---@param path string
---@return sidekicks.DocumentText
function M.unsaved(path)
  local buf = buffer_of(path)
  if buf == nil or not vim.bo[buf].modified then
    return vim.empty_dict()
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local ending = vim.bo[buf].endofline and '\n' or ''
  return { text = text.utf8(table.concat(lines, '\n')) .. ending }
end

--- Buffers about which a question is open.
---@type table<integer, true>
local asking = {}

---@param buf integer
local function load_theirs(buf)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent edit!')
  end)
end

---@param buf integer
local function show_difference(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  vim.cmd('tab sbuffer ' .. buf)
  vim.cmd.diffthis()
  vim.cmd('vertical new')
  vim.bo.buftype, vim.bo.bufhidden = 'nofile', 'wipe'
  vim.cmd('silent 0read ' .. vim.fn.fnameescape(path))
  vim.cmd('silent $delete _')
  vim.bo.modifiable = false
  vim.cmd.diffthis()
end

---@param buf integer
local function ask(buf)
  local name = text.short_path(vim.api.nvim_buf_get_name(buf), vim.fn.getcwd())
  local choices = {
    { 'Keep mine' },
    { 'Load what is on disk, lose mine', load_theirs },
    { 'Show the difference', show_difference },
  }
  vim.ui.select(choices, {
    prompt = ('%s was written by an agent and has changes that are not saved.'):format(name),
    format_item = function(choice)
      return choice[1]
    end,
  }, function(choice)
    asking[buf] = nil
    if choice and choice[2] and vim.api.nvim_buf_is_valid(buf) then
      choice[2](buf)
    end
  end)
end

--- Asks when no keys are being typed into something else.
---@param buf integer
local function ask_soon(buf)
  if asking[buf] then
    return
  end
  asking[buf] = true
  log.warn(
    ('%s was written by an agent; your changes to it are not saved.'):format(
      vim.fs.basename(vim.api.nvim_buf_get_name(buf))
    )
  )
  local function when_calm()
    if vim.api.nvim_get_mode().mode == 'n' then
      ask(buf)
    else
      vim.api.nvim_create_autocmd(
        'ModeChanged',
        { pattern = '*:n', once = true, callback = vim.schedule_wrap(when_calm) }
      )
    end
  end
  vim.schedule(when_calm)
end

local pending = false

local function check_now()
  pending = false
  local id = vim.api.nvim_create_autocmd('FileChangedShell', {
    callback = function(event)
      local reason = vim.v.fcs_reason
      vim.v.fcs_choice = (reason == 'changed' or reason == 'time' or reason == 'mode') and 'reload' or ''
      if reason == 'conflict' then
        ask_soon(event.buf)
      end
    end,
  })
  vim.cmd('silent! checktime')
  vim.api.nvim_del_autocmd(id)
end

--- Looks whether open files have changed on disk, once for many reasons.
function M.check()
  if pending or not config.get().reload then
    return
  end
  pending = true
  vim.schedule(check_now)
end

--- A tool call has ended that may have written files.
---@param part sidekicks.ToolCallPart
function M.touched(part)
  if #part.locations > 0 or #part.content > 0 then
    M.check()
  end
end

return M
