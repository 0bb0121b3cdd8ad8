--- What a person is told outside a channel, and how an error of the bridge is said. Owns no state.
local M = {}

local TITLE = { title = 'Sidekicks' }

--- Something the person should see but need not answer: on one line, so that Neovim wants no key.
---@param text string
---@param level? integer `vim.log.levels`
function M.say(text, level)
  local line = require('sidekicks.text').one_line('Sidekicks: ' .. text, math.max(vim.v.echospace, 40))
  vim.notify(line, level or vim.log.levels.INFO, TITLE)
end

---@param text string
function M.warn(text)
  M.say(text, vim.log.levels.WARN)
end

---@param text string
function M.error(text)
  vim.notify('Sidekicks: ' .. text, vim.log.levels.ERROR, TITLE)
end

--- The sentence of an error the bridge answered; a bug is named by the id under which the bridge's log has it.
---@param err lsp.ResponseError|sidekicks.ResponseError
---@return string
function M.sentence(err)
  local data = err.data --[[@as sidekicks.BugData?]]
  local bug = type(data) == 'table' and data.errorId
  local text = require('sidekicks.text').one_line(err.message or 'The bridge refused.', 500)
  return bug and ('%s (error %s, see :LspLog)'):format(text, bug) or text
end

--- A callback for a request of which only the failure matters.
---@param on_result? fun(result: any)
---@return fun(err?: sidekicks.ResponseError, result?: any)
function M.or_say(on_result)
  return function(err, result)
    if err then
      M.error(M.sentence(err))
    elseif on_result then
      on_result(result)
    end
  end
end

--- Calls `fn`; a fault of the plugin itself is told once and ends nothing else.
---@param what string
---@param fn fun()
function M.contain(what, fn)
  local ok, problem = xpcall(fn, debug.traceback)
  if not ok then
    require('vim.lsp.log').error('sidekicks', what, problem)
    local first = tostring(problem):match('[^\n]*')
    vim.notify_once(('Sidekicks: %s failed: %s'):format(what, first), vim.log.levels.ERROR, TITLE)
  end
end

return M
