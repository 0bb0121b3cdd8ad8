--- What happens in a transcript's windows: older messages come when its top is reached, folds are made where it is
--- shown, it is closed with its buffer.
local highlight = require('sidekicks.highlight')
local layout = require('sidekicks.layout')
local view = require('sidekicks.view')

local M = {}

--- Rows from the top at which older messages are loaded.
local NEAR = 3

---@param win integer
---@param here sidekicks.View
local function page(win, here)
  if here.room.snapshot.hasMore and vim.fn.line('w0', win) <= NEAR then
    here.room:load_older()
  end
end

--- Watches a transcript's buffer.
---@param buf integer
---@param room sidekicks.OpenRoom
function M.watch(buf, room)
  local group = vim.api.nvim_create_augroup('sidekicks.transcript.' .. buf, {})
  vim.api.nvim_create_autocmd('BufWinEnter', {
    group = group,
    buffer = buf,
    callback = function()
      layout.adopt(vim.api.nvim_get_current_win(), room)
    end,
  })
  vim.api.nvim_create_autocmd({ 'WinScrolled', 'CursorMoved' }, {
    group = group,
    callback = function()
      local here = view.of(buf)
      if here then
        for _, win in ipairs(vim.fn.win_findbuf(buf)) do
          page(win, here)
        end
        local show = #here.room.snapshot.turns > 0 and highlight.soon or highlight.visible
        show(here)
      end
    end,
  })
  vim.api.nvim_create_autocmd('WinResized', {
    group = group,
    callback = function()
      for _, win in ipairs(vim.v.event.windows or {}) do
        if vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf then
          layout.show_end(win)
        end
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufWipeout', 'BufUnload' }, {
    group = group,
    buffer = buf,
    callback = function()
      view.views[buf] = nil
      room.on_update = function() end
      vim.schedule(function()
        for _, other in pairs(view.views) do
          if other.room == room then -- it was read or opened again meanwhile
            return
          end
        end
        local compose = require('sidekicks.composer').buffer(room)
        if compose and vim.api.nvim_buf_is_valid(compose) then
          layout.release(compose)
          vim.api.nvim_buf_delete(compose, { force = true })
        end
        room:close()
      end)
      vim.api.nvim_del_augroup_by_id(group)
    end,
  })
end

return M
