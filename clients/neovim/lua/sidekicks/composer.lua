--- The composer: a buffer whose text is sent. Completion and problems come from the bridge over LSP, the route from its
--- preview; nothing typed is ever a command of this plugin.
local client = require('sidekicks.client')
local config = require('sidekicks.config')
local delivery = require('sidekicks.delivery')
local log = require('sidekicks.log')
local names = require('sidekicks.names')
local text = require('sidekicks.text')

local M = {}

local PREVIEW_MS, DRAFT_MS = 80, 400
local namespace = vim.api.nvim_create_namespace('sidekicks.composer')

---@class sidekicks.Composer
---@field buf integer
---@field room sidekicks.OpenRoom
---@field route? sidekicks.Route
---@field preview_timer uv.uv_timer_t
---@field draft_timer uv.uv_timer_t
---@field asked integer how many previews were asked for
---@field draft string what the bridge has as the draft

--- By buffer.
---@type table<integer, sidekicks.Composer>
local composers = {}

---@param room sidekicks.OpenRoom
---@return sidekicks.Composer?
local function composer_of(room)
  for _, composer in pairs(composers) do
    if composer.room == room then
      return composer
    end
  end
end

---@param buf integer
---@return string
local function text_of(buf)
  return text.utf8(table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n'))
end

---@param buf integer
---@param value string
local function set_text(buf, value)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(value, '\n', { plain = true }))
  vim.bo[buf].modified = false
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local last = vim.api.nvim_buf_line_count(buf)
    vim.api.nvim_win_set_cursor(win, { last, #vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1] })
  end
end

--- Gives a window as many rows as its text and the route below it need, within what is configured.
---@param win integer
function M.resize(win)
  local options = config.get()
  local rows = vim.api.nvim_win_text_height(win, {}).all
  local above = vim.o.lines - 6
  local height = math.max(options.composer_height, math.min(rows, options.composer_max_height, above))
  local bar = vim.wo[win].winbar ~= '' and 1 or 0
  if vim.api.nvim_win_get_height(win) ~= height + bar then
    vim.api.nvim_win_set_height(win, height + bar)
  end
end

---@param composer sidekicks.Composer
---@param lines sidekicks.Chunk[][]
local function draw_below(composer, lines)
  local last = vim.api.nvim_buf_line_count(composer.buf) - 1
  vim.api.nvim_buf_set_extmark(composer.buf, namespace, last, 0, { id = 1, virt_lines = lines, strict = false })
end

--- Shows what belongs to the text but is not of it: a hint while it is empty, attachments, the route.
---@param composer sidekicks.Composer
local function draw(composer)
  if not vim.api.nvim_buf_is_loaded(composer.buf) then
    return
  end
  local empty = text_of(composer.buf) == ''
  if empty then
    local hint = ('Write to %s: @ mentions, / commands, <C-s> sends'):format(names.title(composer.room:channel()))
    local mark = { id = 2, virt_text = { { hint, 'SidekicksMeta' } }, virt_text_pos = 'overlay' }
    vim.api.nvim_buf_set_extmark(composer.buf, namespace, 0, 0, mark)
  else
    vim.api.nvim_buf_del_extmark(composer.buf, namespace, 2)
  end
  local lines = {}
  for _, attachment in ipairs(composer.room.attachments) do
    lines[#lines + 1] = {
      { '📎 ' .. text.one_line(attachment.title or attachment.uri, 80), 'SidekicksPath' },
      { '  :Sidekicks drop removes', 'SidekicksMeta' },
    }
  end
  local route = not empty and composer.route and require('sidekicks.render.words').route(composer.route) or {}
  if #route > 0 then
    lines[#lines + 1] = route
  end
  draw_below(composer, lines)
  for _, win in ipairs(vim.fn.win_findbuf(composer.buf)) do
    M.resize(win)
  end
end

---@param composer sidekicks.Composer
local function preview(composer)
  if not vim.api.nvim_buf_is_loaded(composer.buf) then
    return
  end
  composer.asked = composer.asked + 1
  local asked, value = composer.asked, text_of(composer.buf)
  if vim.trim(value) == '' then
    composer.route = nil
    draw(composer)
    return
  end
  local params = { channelId = composer.room.id, text = value }
  client.request('sidekicks/message/preview', params, function(err, route)
    if asked == composer.asked then
      composer.route = not err and route or nil
      draw(composer)
    end
  end)
end

---@param composer sidekicks.Composer
local function keep_draft(composer)
  if not vim.api.nvim_buf_is_loaded(composer.buf) then
    return
  end
  local value = text_of(composer.buf)
  if value ~= composer.draft and client.lsp() then
    composer.draft = value
    client.request('sidekicks/draft/set', { channelId = composer.room.id, text = value })
  end
end

---@param composer sidekicks.Composer
local function changed(composer)
  vim.bo[composer.buf].modified = false -- the draft is kept: nothing is lost by closing
  composer.preview_timer:start(
    PREVIEW_MS,
    0,
    vim.schedule_wrap(function()
      preview(composer)
    end)
  )
  composer.draft_timer:start(
    DRAFT_MS,
    0,
    vim.schedule_wrap(function()
      keep_draft(composer)
    end)
  )
  draw(composer)
end

--- Draws the route and the attachments of a room's composer anew.
---@param room sidekicks.OpenRoom
function M.refresh(room)
  local composer = composer_of(room)
  if composer then
    preview(composer)
    draw(composer)
  end
end

---@param composer sidekicks.Composer
---@param sending sidekicks.Sending
local function bring_back(composer, sending)
  local now = text_of(composer.buf)
  set_text(composer.buf, vim.trim(now) == '' and sending.text or sending.text .. '\n' .. now)
  composer.room.attachments = vim.list_extend(sending.attachments, composer.room.attachments)
  changed(composer)
end

---@param composer sidekicks.Composer
local function send(composer)
  local value, room = text_of(composer.buf), composer.room
  local attachments = room.attachments
  room.attachments = {}
  require('sidekicks.history').add(room.id, value)
  set_text(composer.buf, '')
  changed(composer)
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local buf = vim.api.nvim_win_get_buf(win)
    if vim.b[buf].sidekicks_channel == room.id and vim.bo[buf].filetype == 'sidekicks' then
      vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
    end
  end
  delivery.send(room, value, attachments, function(sending)
    bring_back(composer, sending)
  end)
end

--- Sends what stands in a room's composer; asks first if the channel works in another folder.
---@param room sidekicks.OpenRoom
function M.send(room)
  local composer = composer_of(room)
  if composer == nil then
    return
  end
  if vim.trim(text_of(composer.buf)) == '' then
    log.say('There is nothing to send: write something first.')
    return
  end
  require('sidekicks.roots').decide(room, function(there)
    local other = composer_of(there)
    if there ~= room and other then -- a channel for here was made: what was written goes there
      set_text(other.buf, text_of(composer.buf))
      set_text(composer.buf, '')
      changed(composer)
      changed(other)
    end
    send(other or composer)
  end)
end

--- Replaces what stands in a room's composer.
---@param room sidekicks.OpenRoom
---@param value string
function M.set(room, value)
  local composer = composer_of(room)
  if composer then
    set_text(composer.buf, value)
    changed(composer)
  end
end

---@param room sidekicks.OpenRoom
---@return string
function M.get(room)
  local composer = composer_of(room)
  return composer and text_of(composer.buf) or ''
end

---@param room sidekicks.OpenRoom
---@return integer?
function M.buffer(room)
  local composer = composer_of(room)
  return composer and composer.buf
end

--- Lets the bridge know the buffer as an LSP document.
---@param buf integer
function M.attach(buf)
  local lsp = client.lsp()
  if lsp then
    vim.lsp.buf_attach_client(buf, lsp.id)
    require('sidekicks.completion').attach(buf, lsp)
  end
end

---@param buf integer
function M.detach(buf)
  local lsp = client.lsp()
  if lsp and vim.lsp.buf_is_attached(buf, lsp.id) then
    vim.lsp.buf_detach_client(buf, lsp.id)
  end
end

--- Another client has changed the draft: taken where nobody is writing.
---@param room sidekicks.OpenRoom
---@param value string
function M.take_draft(room, value)
  local composer = composer_of(room)
  if composer and text_of(composer.buf) == composer.draft and value ~= composer.draft then
    composer.draft = value
    set_text(composer.buf, text.safe(value))
    changed(composer)
  end
end

--- The bridge runs again: attach, and bring back what was being sent when it ended, unless it has arrived.
---@param room sidekicks.OpenRoom
function M.reconnect(room)
  local composer = composer_of(room)
  if composer == nil then
    return
  end
  M.attach(composer.buf)
  local lost = delivery.lost(room)
  for at = #lost, 1, -1 do -- the oldest comes to stand first
    bring_back(composer, lost[at])
  end
  composer.draft = ''
  changed(composer)
end

--- Brings the draft back into a composer that was emptied.
---@param room sidekicks.OpenRoom
function M.restore(room)
  local composer = composer_of(room)
  if composer and text_of(composer.buf) == '' and composer.draft ~= '' then
    set_text(composer.buf, text.safe(composer.draft))
    M.attach(composer.buf)
    changed(composer)
  end
end

--- Makes an empty buffer a room's composer.
---@param buf integer
---@param room sidekicks.OpenRoom
function M.setup(buf, room)
  local composer = {
    buf = buf,
    room = room,
    asked = 0,
    draft = room.snapshot.draft or '',
    preview_timer = assert(vim.uv.new_timer()),
    draft_timer = assert(vim.uv.new_timer()),
  }
  composers[buf] = composer
  if composer.draft ~= '' and text_of(buf) == '' then
    set_text(buf, text.safe(composer.draft))
  end
  local group = vim.api.nvim_create_augroup('sidekicks.composer.' .. buf, {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback, nested = true })
  end
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, function()
    changed(composer)
  end)
  on('BufWriteCmd', function()
    M.send(room)
  end)
  on('BufWinEnter', function()
    require('sidekicks.layout').adopt(vim.api.nvim_get_current_win(), room)
  end)
  on({ 'BufUnload', 'BufHidden' }, function()
    keep_draft(composer)
  end)
  on('BufWipeout', function()
    composers[buf] = nil
  end)
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = group,
    callback = function()
      keep_draft(composer)
    end,
  })
  M.attach(buf)
  changed(composer)
end

return M
