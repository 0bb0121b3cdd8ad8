--- The bridge's configuration file in a buffer, with its problems as diagnostics there.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local state = require('sidekicks.state')

local M = {}

local namespace = vim.api.nvim_create_namespace('sidekicks.config')
---@type integer?
local shown

---@param problems sidekicks.Problem[]
local function set(problems)
  if shown == nil or not vim.api.nvim_buf_is_loaded(shown) then
    return
  end
  vim.diagnostic.set(
    namespace,
    shown,
    vim.tbl_map(function(problem)
      local severity = problem.severity == 'warning' and vim.diagnostic.severity.WARN or vim.diagnostic.severity.ERROR
      return {
        lnum = math.max(problem.line - 1, 0),
        col = math.max(problem.column - 1, 0),
        message = problem.message,
        severity = severity,
        source = 'sidekicks',
      }
    end, problems)
  )
end

--- Shows the problems of the file as the bridge read it last.
function M.show_problems()
  set(state.config.problems)
end

--- Opens the file; what is wrong in it is checked as it is written.
function M.open()
  client.request(
    'sidekicks/config/get',
    {},
    log.or_say(function(view)
      require('sidekicks.layout').open_file({ path = view.path })
      shown = vim.api.nvim_get_current_buf()
      set(view.problems)
      local group = vim.api.nvim_create_augroup('sidekicks.config', {})
      vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave', 'BufWritePost' }, {
        group = group,
        buffer = shown,
        callback = M.check,
      })
    end)
  )
end

--- Checks the text as it stands in the buffer.
function M.check()
  local buf = shown
  if buf == nil or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local value = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n') .. '\n'
  local params = { text = require('sidekicks.text').utf8(value) }
  client.request('sidekicks/config/validate', params, function(err, result)
    if not err and result and buf == shown then
      set(result.problems)
    end
  end)
end

return M
