--- Completion in the composer: the bridge's LSP completion, shown by whichever engine the person uses. Only Neovim's own
--- has to be switched on; for that nobody else may be at work.
local config = require('sidekicks.config')

local M = {}

local ENGINES = { 'cmp', 'blink.cmp', 'mini.completion' }

--- Whether another engine shows LSP completion by itself.
---@return boolean
local function other_engine()
  for _, name in ipairs(ENGINES) do
    if package.loaded[name] then
      return true
    end
  end
  return vim.fn.exists('*coc#rpc#start_server') == 1
end

--- Completes a mention or a command that is being written while no menu is there: it was begun before the bridge was
--- there, or the menu has gone because nothing matched.
---@param buf integer
local function catch_up(buf)
  if vim.api.nvim_get_current_buf() ~= buf or not vim.api.nvim_get_mode().mode:find('^i') then
    return
  end
  local col = vim.api.nvim_win_get_cursor(0)[2]
  local before = vim.api.nvim_get_current_line():sub(1, col)
  if before:find('[@/][%w._:-]*$') and vim.fn.pumvisible() == 0 then
    vim.lsp.completion.get()
  end
end

--- Neovim's menu shows an answer as of the moment it was asked for: where more was typed since then, it is asked for
--- again, or the menu would go on offering what no longer fits.
---@param group integer
---@param buf integer
---@param ours fun(): boolean whether it is Neovim's own menu
local function keep_up(group, buf, ours)
  local asked = {} ---@type table<integer, integer> the text's tick when a request left
  vim.api.nvim_create_autocmd('LspRequest', {
    group = group,
    buffer = buf,
    callback = function(event)
      local id, request = event.data.request_id, event.data.request
      if request.method ~= 'textDocument/completion' then
        return
      end
      if request.type == 'pending' then
        asked[id] = vim.b[buf].changedtick
        return
      end
      local tick = asked[id]
      asked[id] = nil
      if tick and request.type == 'complete' then -- where it was cancelled, the answer of a later one comes
        vim.schedule(function() -- Neovim shows the answer first
          if not ours() or not vim.api.nvim_buf_is_valid(buf) or vim.b[buf].changedtick == tick then
            return
          end
          if vim.fn.pumvisible() == 1 and vim.api.nvim_get_mode().mode:find('^i') then
            vim.fn.complete(vim.fn.col('.'), {})
          end
          catch_up(buf)
        end)
      end
    end,
  })
end

---@param buf integer
---@param lsp vim.lsp.Client
local function enable(buf, lsp)
  vim.bo[buf].completeopt = 'menu,menuone,noselect,fuzzy,popup'
  vim.lsp.completion.enable(true, lsp.id, buf, {
    autotrigger = true,
    convert = function()
      return { kind = '' } -- the sign tells agents and commands apart
    end,
  })
  catch_up(buf)
end

--- Switches completion on in a buffer the client is attached to. Whether Neovim's own menu is wanted is decided when one
--- begins to write: other engines are often loaded then.
---@param buf integer
---@param lsp vim.lsp.Client
function M.attach(buf, lsp)
  local group = vim.api.nvim_create_augroup('sidekicks.completion.' .. buf, {})
  local enabled, catching_up = false, false
  local decide = vim.schedule_wrap(function()
    local how = config.get().completion
    local wanted = how == 'builtin' or (how == 'auto' and not other_engine())
    if wanted == enabled or not vim.lsp.buf_is_attached(buf, lsp.id) then
      return
    end
    enabled = wanted
    if wanted then
      enable(buf, lsp)
    else
      vim.lsp.completion.enable(false, lsp.id, buf)
    end
  end)
  vim.api.nvim_create_autocmd('InsertEnter', { group = group, buffer = buf, callback = decide })
  vim.api.nvim_create_autocmd('InsertCharPre', {
    group = group,
    buffer = buf,
    callback = function()
      if enabled and not catching_up and vim.v.char:find('^[%w._:-]$') and vim.fn.pumvisible() == 0 then
        catching_up = true
        vim.schedule(function()
          catching_up = false
          catch_up(buf)
        end)
      end
    end,
  })
  vim.api.nvim_create_autocmd('LspDetach', { -- Neovim would go on waiting for the answer of a client that has ended
    group = group,
    buffer = buf,
    callback = function(event)
      if enabled and event.data.client_id == lsp.id then
        enabled = false
        vim.lsp.completion.enable(false, lsp.id, buf)
      end
    end,
  })
  keep_up(group, buf, function()
    return enabled
  end)
  decide()
end

---@param buf integer
---@return boolean
local function wants_agents(buf)
  local there = vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ''
  return there and vim.list_contains(config.get().complete_in, vim.bo[buf].filetype)
end

--- Lets `@` complete agents in an ordinary buffer, if its filetype is one of those that were asked for.
---@param buf integer
function M.ordinary(buf)
  if not wants_agents(buf) then
    return
  end
  local client = require('sidekicks.client')
  require('sidekicks.session').ready(function()
    local lsp = client.lsp()
    if lsp and wants_agents(buf) and not vim.lsp.buf_is_attached(buf, lsp.id) then
      vim.lsp.buf_attach_client(buf, lsp.id)
      M.attach(buf, lsp)
    end
  end)
end

--- The bridge runs again: the ordinary buffers too speak to the new one.
function M.reconnect()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    M.ordinary(buf)
  end
end

return M
