--- What people may call from their own configuration. Everything else in this folder is the plugin's own.
local M = {}

--- The plugin's version: that of the bridge it came with.
M.version = '0.1.0'

--- Sets `vim.g.sidekicks`; not needed, the plugin works without.
---@param options? sidekicks.UserConfig
function M.setup(options)
  vim.g.sidekicks = options or {}
end

--- For a statusline: how many questions wait and how many messages are unread, or nothing. Starts nothing.
---@return string
function M.statusline()
  return package.loaded['sidekicks.status'] and require('sidekicks.status').line() or ''
end

--- Opens a channel: `#general`, `@scout`; without a name it is asked which.
---@param name? string
function M.open(name)
  local words = { 'open' } ---@type string[]
  words[2] = name
  require('sidekicks.commands').press(words)
end

return M
