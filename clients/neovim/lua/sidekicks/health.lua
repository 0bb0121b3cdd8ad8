--- `:checkhealth sidekicks`: what is missing or wrong, and what to do about it.
local M = {}

local health = vim.health

local function neovim()
  health.start('sidekicks: Neovim')
  local version = vim.split(vim.fn.execute('version'), '\n')[2]:gsub('^NVIM ', '')
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim ' .. version)
  else
    health.error('Neovim 0.11 or later is needed, this is ' .. version)
  end
  local ok = pcall(vim.treesitter.language.inspect, 'markdown')
  if ok then
    health.ok('The Markdown parser is there')
  else
    health.warn('There is no Markdown parser: answers are shown without highlighting')
  end
end

local function plugin()
  health.start('sidekicks: plugin')
  health.ok(
    ('Plugin version %s, protocol %d'):format(require('sidekicks').version, require('sidekicks.protocol').version)
  )
end

local function settings()
  health.start('sidekicks: settings')
  local _, problems = require('sidekicks.config').read()
  for _, problem in ipairs(problems) do
    health.error(problem, { 'See :help sidekicks-settings' })
  end
  if #problems == 0 then
    health.ok('vim.g.sidekicks has no unknown or wrong option')
  end
end

---@return boolean
local function executable()
  local cmd = require('sidekicks.config').get().cmd
  if vim.fn.executable(cmd[1]) == 0 then
    health.error(('`%s` is not found'):format(cmd[1]), {
      'Install it: `pipx install .` in the folder of Sidekicks Bridge',
      'Or name it: vim.g.sidekicks = { cmd = { "/path/to/sidekicks", "serve" } }',
    })
    return false
  end
  health.ok(('`%s` is %s'):format(cmd[1], vim.fn.exepath(cmd[1])))
  return true
end

--- What a bridge that does not run says of its version.
---@return string?
local function installed_version()
  local cmd = vim.list_slice(require('sidekicks.config').get().cmd)
  for at, word in ipairs(cmd) do
    if word == 'serve' then
      cmd = vim.list_extend(vim.list_slice(cmd, 1, at - 1), { '--version' })
      local ok, done = pcall(function()
        return vim.system(cmd, { text = true }):wait(5000)
      end)
      return ok and done.code == 0 and vim.trim(done.stdout or ''):match('^%S+ (%S+)$') or nil
    end
  end
end

local function agents()
  local state = require('sidekicks.state')
  health.start('sidekicks: agents')
  for _, name in ipairs(state.agent_names) do
    local agent = state.agents[name]
    local said = ('@%s (%s): %s'):format(name, agent.title, agent.state)
    if agent.error then
      health.error(('%s: %s'):format(said, agent.error), { (':Sidekicks agent log %s'):format(name) })
    else
      health.ok(said)
    end
  end
end

local function bridge()
  health.start('sidekicks: bridge')
  if not executable() then
    return
  end
  local client = require('sidekicks.client')
  local connection = client.connection()
  if connection.state ~= 'ready' then
    if connection.problem then
      health.error(connection.problem)
    else
      local version = installed_version()
      health.info(
        ('It does not run: it is started when a channel is opened%s'):format(
          version and ('; version %s is installed'):format(version) or ''
        )
      )
    end
    health.info('Its messages are in ' .. vim.lsp.get_log_path())
    return
  end
  local state = require('sidekicks.state')
  health.ok(
    ('It runs: bridge version %s, protocol %d, folder %s'):format(
      connection.version,
      require('sidekicks.protocol').version,
      connection.root
    )
  )
  health.info('Its messages are in ' .. vim.lsp.get_log_path())
  health.info('Configuration: ' .. state.config.path)
  for _, problem in ipairs(state.config.problems) do
    health.error(('line %d: %s'):format(problem.line, problem.message), { ':Sidekicks config' })
  end
  if not state.storage.persistent then
    health.warn('History is not kept: ' .. (state.storage.reason or 'it is in memory'))
  end
  agents()
end

function M.check()
  neovim()
  plugin()
  settings()
  bridge()
end

return M
