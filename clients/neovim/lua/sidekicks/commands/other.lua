--- Verbs about the bridge itself: its configuration, restarting it, what is wrong with it.
local client = require('sidekicks.client')
local config = require('sidekicks.config')

---@type table<string, sidekicks.Verb>
local M = {}

M.config = {
  run = function()
    require('sidekicks.config_file').open()
  end,
}

M.restart = {
  offline = true,
  run = function()
    client.restart()
  end,
}

--- The bridge's command line with another word than `serve`, for the same configuration.
---@param verb string
---@return string[]
local function command(verb)
  local options = config.get()
  local words = vim.tbl_map(function(word)
    return word == 'serve' and verb or word
  end, options.cmd)
  if options.config_path then
    vim.list_extend(words, { '--config', vim.fs.normalize(options.config_path) })
  end
  return words
end

M.doctor = {
  offline = true,
  run = function()
    local words = command('doctor')
    if vim.fn.executable(words[1]) == 1 then
      require('sidekicks.terminal').run(words, { cwd = config.root() })
    else
      vim.cmd.checkhealth('sidekicks')
    end
  end,
}

return M
