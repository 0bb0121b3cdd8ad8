--- Windows: where a channel opens, the composer below its transcript, where files open. Owns no buffer's contents.
local config = require('sidekicks.config')
local highlight = require('sidekicks.highlight')
local names = require('sidekicks.names')
local target = require('sidekicks.target')

local M = {}

local group = vim.api.nvim_create_augroup('sidekicks.layout', {})

---@param win integer
---@return boolean
local function floating(win)
  return vim.api.nvim_win_get_config(win).relative ~= ''
end

--- Whether a window shows an ordinary file, or nothing.
---@param win integer
---@return boolean
local function ordinary(win)
  local buf = vim.api.nvim_win_get_buf(win)
  return not floating(win) and vim.bo[buf].buftype == '' and not vim.wo[win].winfixbuf
end

---@return boolean
local function nothing_open()
  local wins = vim.tbl_filter(function(win)
    return not floating(win)
  end, vim.api.nvim_tabpage_list_wins(0))
  local buf = vim.api.nvim_get_current_buf()
  return #wins == 1
    and vim.api.nvim_buf_get_name(buf) == ''
    and vim.bo[buf].buftype == ''
    and not vim.bo[buf].modified
    and vim.api.nvim_buf_line_count(buf) == 1
end

--- Puts a buffer into a window in place of another, which is wiped out.
---@param win integer
---@param old integer
---@param new integer
function M.replace(win, old, new)
  if vim.api.nvim_win_is_valid(win) then
    vim.api.nvim_win_set_buf(win, new)
  end
  if old ~= new and vim.api.nvim_buf_is_valid(old) then
    vim.api.nvim_buf_delete(old, { force = true })
  end
end

---@param win integer
local function transcript_options(win)
  local wo = vim.wo[win][0]
  wo.wrap, wo.linebreak, wo.breakindent, wo.list, wo.spell = true, true, true, false, false
  wo.number, wo.relativenumber, wo.signcolumn, wo.foldcolumn, wo.colorcolumn = false, false, 'no', '0', ''
  wo.foldmethod, wo.foldenable, wo.foldlevel = 'manual', true, 0
  wo.foldtext = 'v:lua.require("sidekicks.folds").text()'
  wo.fillchars = 'fold: ,eob: '
  wo.conceallevel, wo.concealcursor = 2, 'nc'
  wo.statuscolumn = ''
end

---@param win integer
local function composer_options(win)
  local wo = vim.wo[win][0]
  wo.winfixheight, wo.winfixbuf = true, true
  wo.wrap, wo.linebreak, wo.number, wo.relativenumber = true, true, false, false
  wo.signcolumn, wo.foldcolumn, wo.colorcolumn, wo.statuscolumn = 'no', '0', '', ''
  wo.foldenable, wo.list, wo.fillchars = false, false, 'eob: '
end

--- Makes the options of a window that shows a channel's buffer what they should be.
---@param win integer
---@param room sidekicks.OpenRoom
function M.adopt(win, room)
  local buf = vim.api.nvim_win_get_buf(win)
  if vim.bo[buf].filetype == 'sidekicks-compose' then
    composer_options(win)
    require('sidekicks.composer').resize(win)
  else
    transcript_options(win)
    local view = require('sidekicks.view').of(buf)
    if view then
      view:fold_window(win)
      vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
      highlight.soon(view, 1) -- the text first: what highlights it is loaded the first time
      view:seen()
    end
  end
  require('sidekicks.status').room_changed(room)
end

--- A composer goes: its windows may show other buffers from now on.
---@param buf integer
function M.release(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.wo[win].winfixbuf, vim.wo[win].winfixheight = false, false
  end
end

--- A window with the cursor on the last row has another size: it shows as much of the end as it can.
---@param win integer
function M.show_end(win)
  local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  if vim.api.nvim_win_get_cursor(win)[1] == count then
    vim.api.nvim_win_call(win, function()
      vim.cmd('normal! zb')
    end)
  end
end

---@param buf integer
---@param tab? integer
---@return integer?
local function window_of(buf, tab)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab or 0)) do
    if vim.api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
end

--- Whether a window is what is left of a channel on its tab.
---@param win integer
---@return boolean
local function alone(win)
  if not vim.api.nvim_win_is_valid(win) then
    return false
  end
  local channel = vim.b[vim.api.nvim_win_get_buf(win)].sidekicks_channel
  for _, other in ipairs(channel and vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(win)) or {}) do
    if other ~= win and vim.b[vim.api.nvim_win_get_buf(other)].sidekicks_channel == channel then
      return false -- it was opened again meanwhile
    end
  end
  return channel ~= nil
end

--- Closes a window when its partner has closed, so that a channel goes as it came: whole.
---@param win integer
---@param partner integer
local function close_together(win, partner)
  vim.api.nvim_create_autocmd('WinClosed', {
    group = group,
    pattern = tostring(win),
    once = true,
    callback = function()
      vim.schedule(function()
        if alone(partner) then
          pcall(vim.api.nvim_win_close, partner, false) -- the last window stays
        end
      end)
    end,
  })
end

--- Opens the composer below a transcript, unless it is on this tab already.
---@param win integer the transcript's
---@param room sidekicks.OpenRoom
---@return integer composer its window
local function open_composer(win, room)
  local buffers = require('sidekicks.buffers')
  local buf = buffers.get(names.compose_uri(room:channel()))
  buffers.compose(buf, room)
  local known = window_of(buf, vim.api.nvim_win_get_tabpage(win))
  if known then
    return known
  end
  local height = math.min(config.get().composer_height, math.max(1, vim.api.nvim_win_get_height(win) - 4))
  local composer = vim.api.nvim_open_win(buf, false, { split = 'below', win = win, height = height })
  close_together(win, composer)
  close_together(composer, win)
  M.adopt(composer, room)
  return composer
end

--- A window shows a transcript now: its options, and the composer below it, entered if the cursor was there.
---@param win integer
---@param buf integer
---@param room sidekicks.OpenRoom
function M.accompany(win, buf, room)
  if not vim.api.nvim_win_is_valid(win) or vim.api.nvim_win_get_buf(win) ~= buf then
    return
  end
  M.adopt(win, room)
  target.shown(room)
  local composer = open_composer(win, room)
  if vim.api.nvim_get_current_win() == win then
    vim.api.nvim_set_current_win(composer)
  end
end

local COMMANDS = {
  right = 'botright vertical %dsplit',
  left = 'topleft vertical %dsplit',
  top = 'topleft %dsplit',
  bottom = 'botright %dsplit',
}

---@param options sidekicks.Config
---@return integer
local function size_of(options)
  local whole = (options.position == 'right' or options.position == 'left') and vim.o.columns or vim.o.lines
  return options.size < 1 and math.max(10, math.floor(whole * options.size)) or math.floor(options.size)
end

--- A window for a transcript: that of the channel shown on this tab, one above its composer if that was left alone, else
--- a new one where the configuration says.
---@param buf integer the transcript's
---@param room sidekicks.OpenRoom
---@return integer
local function make_window(buf, room)
  local compose = require('sidekicks.composer').buffer(room)
  local below = compose and window_of(compose)
  if below then
    return vim.api.nvim_open_win(buf, true, { split = 'above', win = below })
  end
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == 'sidekicks' then
      return win
    end
  end
  local options = config.get()
  if options.position == 'tab' and not nothing_open() then
    vim.cmd.tabnew()
  elseif options.position ~= 'current' and options.position ~= 'tab' and not nothing_open() then
    vim.cmd('silent ' .. COMMANDS[options.position]:format(size_of(options)))
  end
  return vim.api.nvim_get_current_win()
end

--- Closes the composers on this tab that belong to another channel.
---@param room sidekicks.OpenRoom
local function close_other_composers(room)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buf = vim.api.nvim_win_get_buf(win)
    if vim.bo[buf].filetype == 'sidekicks-compose' and vim.b[buf].sidekicks_channel ~= room.id then
      vim.api.nvim_clear_autocmds({ group = group, pattern = tostring(win) })
      pcall(vim.api.nvim_win_close, win, true)
    end
  end
end

--- Shows a channel and enters its composer.
---@param room sidekicks.OpenRoom
---@param enter? boolean whether to begin typing
function M.show(room, enter)
  local buffers = require('sidekicks.buffers')
  local buf = buffers.get(names.uri(room:channel()))
  buffers.transcript(buf, room)
  local win = window_of(buf)
  if win == nil then
    win = make_window(buf, room)
    close_other_composers(room)
    vim.api.nvim_clear_autocmds({ group = group, pattern = tostring(win) })
    vim.api.nvim_win_set_buf(win, buf)
    M.adopt(win, room)
  end
  target.shown(room)
  vim.api.nvim_set_current_win(open_composer(win, room))
  if enter and config.get().start_insert then
    vim.cmd.startinsert({ bang = true })
  end
end

--- Takes a window back to what it showed before a link, or closes it if it was made for the link.
---@param win integer
---@param link integer
local function leave_link(win, link)
  local before = vim.api.nvim_win_call(win, function()
    return vim.fn.bufnr('#')
  end)
  if before > 0 and before ~= link and vim.api.nvim_buf_is_loaded(before) and vim.bo[before].buftype == '' then
    M.replace(win, link, before)
  else
    pcall(vim.api.nvim_win_close, win, true)
    pcall(vim.api.nvim_buf_delete, link, { force = true })
  end
end

---@param win integer
---@param message_id string
local function go_to_message(win, message_id)
  local row = require('sidekicks.view').of(vim.api.nvim_win_get_buf(win)):row_of(message_id)
  if row then
    vim.api.nvim_set_current_win(win)
    vim.api.nvim_win_set_cursor(win, { row + 1, 0 })
    vim.cmd('normal! zt')
  end
end

--- Shows a message of a channel in a window, in place of the link to it; or where the channel is shown already.
---@param win integer
---@param room sidekicks.OpenRoom
---@param message_id string
---@param link integer the buffer that stood for it
function M.show_message(win, room, message_id, link)
  local buffers = require('sidekicks.buffers')
  local buf = buffers.get(names.uri(room:channel()))
  buffers.transcript(buf, room)
  room:load_until(message_id, function()
    room:flush() -- the message may wait for the next drawing
    local shown = window_of(buf)
    if not vim.api.nvim_win_is_valid(win) then
      return
    elseif shown then
      leave_link(win, link)
    else
      M.replace(win, link, buf)
      M.accompany(win, buf, room)
      shown = win
    end
    go_to_message(shown, message_id)
  end)
end

--- Goes to a place of a file, in a window that shows files.
---@param place sidekicks.Location
function M.open_file(place)
  local win
  for _, id in ipairs({ vim.fn.win_getid(vim.fn.winnr('#')), unpack(vim.api.nvim_tabpage_list_wins(0)) }) do
    if win == nil and id ~= 0 and ordinary(id) then
      win = id
    end
  end
  if win then
    vim.api.nvim_set_current_win(win)
  else
    vim.cmd('topleft vertical split')
    vim.wo.winfixbuf = false
  end
  vim.cmd.edit({ args = { place.path }, magic = { file = false, bar = false } })
  if place.line then
    local line = math.max(1, math.min(place.line, vim.api.nvim_buf_line_count(0)))
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    vim.cmd('normal! zvzz')
  end
end

--- Shows or hides the channel on this tab.
---@return boolean hidden
function M.hide()
  local win = target.window()
  if win == nil then
    return false
  end
  if #vim.api.nvim_tabpage_list_wins(0) <= 2 and #vim.api.nvim_list_tabpages() == 1 then
    vim.api.nvim_win_call(win, function()
      vim.cmd('topleft vertical new')
    end)
  end
  vim.api.nvim_win_close(win, false)
  return true
end

return M
