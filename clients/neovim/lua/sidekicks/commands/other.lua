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

--- The command line without the word that serves.
---@return string[]
local function base_command()
  local cmd = vim.deepcopy(config.get().cmd)
  for at, word in ipairs(cmd) do
    if word == 'serve' then
      return vim.list_slice(cmd, 1, at - 1)
    end
  end
  return cmd
end

M.doctor = {
  offline = true,
  run = function()
    local cmd = base_command()
    if vim.fn.executable(cmd[1]) == 0 then
      vim.cmd.checkhealth('sidekicks')
      return
    end
    vim.system(vim.list_extend(vim.deepcopy(cmd), { 'help' }), { text = true }, function(done)
      vim.schedule(function()
        if not (done.stdout or ''):find('\n%s*doctor') then
          vim.cmd.checkhealth('sidekicks')
          return
        end
        vim.cmd('botright new')
        vim.fn.jobstart(vim.list_extend(cmd, { 'doctor' }), { term = true, cwd = config.root() })
      end)
    end)
  end,
}

return M
