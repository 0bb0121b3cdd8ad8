--- Signing in to an agent that wants it: by the agent itself, by a command in a terminal, or by variables to set.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local state = require('sidekicks.state')
local text = require('sidekicks.text')

local M = {}

--- Runs the agent's own command; its terminal goes when it has ended well.
---@param command sidekicks.TerminalCommand
---@param done fun()
local function run(command, done)
  require('sidekicks.terminal').run(vim.list_extend({ command.command }, command.args), {
    cwd = command.cwd,
    env = command.env,
    on_exit = function(code, win)
      if code ~= 0 then
        log.warn(('%s ended with code %d; nothing was signed in.'):format(vim.fs.basename(command.command), code))
        return
      end
      if vim.api.nvim_win_is_valid(win) then
        vim.api.nvim_win_close(win, true)
      end
      done()
    end,
  })
  vim.cmd.startinsert()
end

---@param agent string
---@param method sidekicks.SignInMethod
---@param ran boolean
local function authenticate(agent, method, ran)
  local params = { agent = agent, methodId = method.id, ran = ran or nil }
  client.request(
    'sidekicks/agent/authenticate',
    params,
    log.or_say(function(result)
      if result.terminal and not ran then
        run(result.terminal, function()
          authenticate(agent, method, true)
        end)
      elseif result.done then
        log.say(text.one_line(result.text, 300))
      else
        log.warn(text.one_line(result.text, 300))
      end
    end)
  )
end

--- The ways to sign in that an agent has named.
---@param agent string
---@return sidekicks.SignInMethod[]
local function methods_of(agent)
  local wanted = state.sign_ins[agent]
  local known = state.agents[agent]
  return wanted and wanted.methods or (known and known.signIn) or {}
end

--- Asks how to sign in, and does it.
---@param agent string
function M.begin(agent)
  local methods = methods_of(agent)
  if #methods == 0 then
    log.say(('@%s names no way to sign in.'):format(agent))
    return
  end
  vim.ui.select(methods, {
    prompt = 'Sign in to ' .. state.title(agent),
    format_item = function(method)
      local more = method.description and ': ' .. text.one_line(method.description, 80) or ''
      return text.one_line(method.name, 60) .. more
    end,
  }, function(method)
    if method then
      authenticate(agent, method, false)
    end
  end)
end

--- The agents that want it, else those that know a way.
---@return string[]
function M.agents()
  local waiting = vim.tbl_keys(state.sign_ins)
  if #waiting > 0 then
    return waiting
  end
  return vim.tbl_filter(function(name)
    return #methods_of(name) > 0
  end, state.agent_names)
end

--- An agent wants the user to sign in.
---@param wanted sidekicks.SignIn
function M.announce(wanted)
  log.warn(('%s wants you to sign in: :Sidekicks signin %s'):format(state.title(wanted.agent), wanted.agent))
end

return M
