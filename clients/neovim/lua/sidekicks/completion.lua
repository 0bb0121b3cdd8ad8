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

--- Neovim's menu closes when nothing matches and would not come back with the next letter: let letters trigger too.
---@param lsp vim.lsp.Client
local function letters_trigger(lsp)
  local provider = lsp.server_capabilities.completionProvider
  if provider and not provider.sidekicks_letters then
    provider.sidekicks_letters = true
    local characters = provider.triggerCharacters or {}
    for byte = ('a'):byte(), ('z'):byte() do
      characters[#characters + 1] = string.char(byte)
    end
    provider.triggerCharacters = characters
  end
end

--- Completes at once if what triggers it was typed before the bridge was there.
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

--- Switches completion on in a buffer the client is attached to.
---@param buf integer
---@param lsp vim.lsp.Client
function M.attach(buf, lsp)
  local wanted = config.get().completion
  if wanted == 'none' or (wanted == 'auto' and other_engine()) then
    return
  end
  letters_trigger(lsp)
  vim.bo[buf].completeopt = 'menu,menuone,noselect,fuzzy,popup'
  vim.lsp.completion.enable(true, lsp.id, buf, { autotrigger = true })
  vim.schedule(function()
    catch_up(buf)
  end)
end

return M
