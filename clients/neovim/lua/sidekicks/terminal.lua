--- A command in a terminal window of its own, for what must be seen and typed into. Knows nothing of what is run.
local M = {}

---@class sidekicks.TerminalOptions
---@field cwd? string
---@field env? table<string, string>
---@field on_exit? fun(code: integer, win: integer)

--- Runs a command below everything else.
---@param command string[]
---@param options sidekicks.TerminalOptions
function M.run(command, options)
  vim.cmd('silent botright new')
  local win = vim.api.nvim_get_current_win()
  vim.wo[win].winfixbuf, vim.wo[win].winfixheight = false, false
  vim.bo.bufhidden = 'wipe'
  vim.fn.jobstart(command, {
    term = true,
    cwd = options.cwd,
    env = options.env and next(options.env) and options.env or nil,
    on_exit = vim.schedule_wrap(function(_, code)
      if options.on_exit then
        options.on_exit(code, win)
      end
    end),
  })
end

return M
