--- The User autocmds of this plugin: hooks for people's own configuration. Owns nothing else.
local M = {}

---@alias sidekicks.UserEvent "SidekicksMessage"|"SidekicksPermission"|"SidekicksTurn"|"SidekicksAttention"

--- Runs the User autocmds of that name; `data` is what a callback gets as `event.data`.
---@param name sidekicks.UserEvent
---@param data table
function M.fire(name, data)
  vim.api.nvim_exec_autocmds('User', { pattern = name, modeline = false, data = data })
end

return M
