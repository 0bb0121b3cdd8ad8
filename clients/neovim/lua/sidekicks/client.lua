--- The connection to the bridge: one LSP client, started when it is first needed and again when the bridge has ended.
--- Knows nothing of channels: what comes in goes to `on_event`, and `on_ready` runs after every handshake.
local config = require('sidekicks.config')
local log = require('sidekicks.log')
local protocol = require('sidekicks.protocol')

local M = {}

--- Restarts within so many seconds after which a bridge that keeps ending is left alone.
local RESTARTS, RESTART_SECONDS = 3, 60
local RESTART_MS = 200

---@type fun(method: string, params: table)
M.on_event = function(_, _) end
--- After the handshake.
---@type fun()
M.on_ready = function() end
--- The bridge has ended.
---@type fun()
M.on_gone = function() end
---@type table<string, fun(params: table): table>
M.answers = {}

---@class sidekicks.Connection
---@field id? integer the LSP client's
---@field token? table one for each process: what an earlier one says does not count
---@field state "stopped"|"starting"|"ready"
---@field problem? string why the last start failed
---@field version? string the bridge's
---@field root? string
local connection = { state = 'stopped' }
---@type (fun(problem?: string))[]
local waiting = {}
--- When it was restarted, in seconds.
---@type number[]
local restarts = {}
local leaving = false

--- How the connection is doing.
---@return sidekicks.Connection
function M.connection()
  return connection
end

---@return vim.lsp.Client?
function M.lsp()
  return connection.state == 'ready' and vim.lsp.get_client_by_id(connection.id or -1) or nil
end

---@param problem? string
local function settle(problem)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(problem)
  end
end

---@param problem string
local function fail(problem)
  connection.state, connection.problem = 'stopped', problem
  log.error(problem)
  settle(problem)
end

--- What to say of a refused handshake.
---@param err lsp.ResponseError|sidekicks.ResponseError
---@return string
local function refusal(err)
  if err.data and err.data.code == 'protocolMismatch' then
    return log.sentence(err)
      .. ' (update this plugin and `sidekicks-bridge` to the same version, then :Sidekicks restart)'
  end
  return log.sentence(err)
end

--- The answer to `initialize`: nil if the bridge can be talked to, else why not.
---@param result table
---@return string?
local function mismatch(result)
  local info = vim.tbl_get(result, 'capabilities', 'experimental', 'sidekicks')
  if type(info) ~= 'table' then
    return ('`%s` is not a Sidekicks bridge. Check vim.g.sidekicks.cmd.'):format(table.concat(config.get().cmd, ' '))
  end
  if info.protocolVersion ~= protocol.version then
    return ('The bridge speaks protocol version %s, this plugin %d. Update both to the same version.'):format(
      info.protocolVersion,
      protocol.version
    )
  end
  connection.version = info.bridgeVersion
end

local function restart_later()
  local now = vim.uv.now() / 1000
  restarts = vim.tbl_filter(function(at)
    return now - at < RESTART_SECONDS
  end, restarts)
  if #restarts >= RESTARTS then
    fail('The bridge keeps ending. See :LspLog and :checkhealth sidekicks, then :Sidekicks restart.')
    return
  end
  restarts[#restarts + 1] = now
  vim.defer_fn(function()
    M.start()
  end, RESTART_MS)
end

---@param token table
---@param code integer
---@param signal integer
local function ended(token, code, signal)
  if leaving or connection.token ~= token then
    return
  end
  local was = connection.state
  connection.state, connection.id, connection.token = 'stopped', nil, nil
  M.on_gone()
  if was == 'starting' and signal == 0 then
    fail(('The bridge ended at once (exit code %d). See :LspLog and :checkhealth sidekicks.'):format(code))
  elseif was ~= 'stopped' then
    if code ~= 0 or signal ~= 0 then
      log.warn('The bridge has stopped; it is started again.')
    end
    restart_later()
  end
end

--- Starts the process, between Neovim's client and its transport: a refused handshake is told in one sentence, and an
--- unexpected end is ours to handle.
---@param cmd string[]
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers): vim.lsp.rpc.PublicClient
local function transport(cmd)
  return function(dispatchers)
    local token, on_exit = {}, dispatchers.on_exit
    connection.token = token
    dispatchers.on_exit = function(code, signal)
      on_exit(0, 0)
      vim.schedule(function()
        ended(token, code, signal)
      end)
    end
    local rpc = vim.lsp.rpc.start(cmd, dispatchers, { cwd = connection.root })
    local request = rpc.request
    ---@diagnostic disable-next-line: duplicate-set-field
    rpc.request = function(method, params, callback, ...)
      if method ~= 'initialize' then
        return request(method, params, callback, ...)
      end
      return request(method, params, function(err, result)
        local problem = err and refusal(err) or mismatch(result)
        if problem then
          connection.id, connection.token = nil, nil
          rpc.terminate()
          fail(problem)
        else
          callback(err, result)
        end
      end, ...)
    end
    return rpc
  end
end

---@return table<string, function>
local function handlers()
  local found = {}
  for _, name in ipairs(protocol.events) do
    found[name] = function(_, params)
      M.on_event(name, params)
    end
  end
  for name, answer in pairs(M.answers) do
    found[name] = function(_, params)
      return answer(params)
    end
  end
  return found
end

---@param options sidekicks.Config
---@return sidekicks.ClientOptions
local function client_options(options)
  return {
    protocolVersion = protocol.version,
    configPath = options.config_path and vim.fs.normalize(options.config_path),
    workspaceTrusted = options.workspace_trusted,
    documentRead = true,
  }
end

---@param cmd string[]
---@return string?
local function missing(cmd)
  if vim.fn.executable(cmd[1]) == 1 then
    return nil
  end
  local told = '`%s` is not found: install the bridge (`pipx install .` in its folder), or set vim.g.sidekicks.cmd.'
  return told:format(cmd[1])
end

local function begin()
  local options = config.get()
  local problem = missing(options.cmd)
  if problem then
    fail(problem)
    return
  end
  connection.state, connection.problem, connection.root = 'starting', nil, config.root()
  local id = vim.lsp.start({
    name = 'sidekicks',
    cmd = transport(options.cmd),
    root_dir = connection.root,
    init_options = { sidekicks = client_options(options) },
    handlers = handlers(),
    flags = { debounce_text_changes = 50, exit_timeout = false },
    on_init = function(client)
      connection.state, connection.id = 'ready', client.id
      M.on_ready()
      settle()
    end,
  }, { attach = false })
  if connection.state == 'starting' then
    connection.id = id
  end
end

--- Starts the bridge if it does not run; `callback` gets nothing when it is ready, else why it is not.
---@param callback? fun(problem?: string)
function M.start(callback)
  if connection.state == 'ready' then
    if callback then
      callback()
    end
    return
  end
  waiting[#waiting + 1] = callback
  if connection.state == 'stopped' then
    begin()
  end
end

--- Ends the bridge and starts it anew.
function M.restart()
  restarts = {}
  local client = M.lsp()
  if client == nil then
    M.start()
    return
  end
  connection.id, connection.token, connection.state = nil, nil, 'stopped'
  M.on_gone()
  client:stop()
  vim.defer_fn(function()
    if not client:is_stopped() then
      client:stop(true)
    end
    M.start()
  end, 500)
end

--- Sends a request; without a bridge the callback gets an error at once.
---@param method string
---@param params table
---@param on_done? fun(error?: sidekicks.ResponseError, result?: any)
function M.send(method, params, on_done)
  local client = M.lsp()
  on_done = on_done or function() end
  local function answer(err, result)
    on_done(err, result)
  end
  if next(params) == nil then
    params = vim.empty_dict()
  end
  if not (client and client:request(method, params, answer)) then
    on_done({ code = 0, message = connection.problem or 'The bridge does not run. :Sidekicks restart starts it.' })
  end
end

--- `send`, typed by the protocol's table of methods.
---@type sidekicks.Request
M.request = M.send --[[@as any]]

vim.api.nvim_create_autocmd('VimLeavePre', {
  group = vim.api.nvim_create_augroup('sidekicks.client', {}),
  callback = function()
    leaving = true
  end,
})

return M
