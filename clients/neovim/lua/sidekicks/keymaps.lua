--- Buffer-local maps of the transcript and the composer, all through <Plug>; one that a person has mapped already is
--- left alone.
local M = {}

---@class sidekicks.Map
---@field [1] string the mode
---@field [2] string the keys
---@field [3] string the name after `Sidekicks` of the Plug map
---@field [4] string what it does

---@type sidekicks.Map[]
M.transcript = {
  { 'n', '<CR>', 'Open', 'Go to the file, toggle the fold, answer' },
  { 'n', ']]', 'Next', 'Next message' },
  { 'n', '[[', 'Previous', 'Previous message' },
  { 'n', 'gra', 'Actions', 'What can be done with this' },
  { 'n', '<C-c>', 'Cancel', 'Cancel the running turn' },
}

---@type sidekicks.Map[]
M.composer = {
  { 'n', '<CR>', 'Send', 'Send' },
  { 'n', '<C-s>', 'Send', 'Send' },
  { 'i', '<C-s>', 'Send', 'Send' },
  { 'n', '<C-c>', 'Cancel', 'Cancel the running turn' },
  { 'n', '<C-p>', 'HistoryPrevious', 'What you sent before' },
  { 'n', '<C-n>', 'HistoryNext', 'What you sent after that' },
}

---@param buf integer
---@param maps sidekicks.Map[]
local function set(buf, maps)
  local own = {}
  for _, map in ipairs(maps) do
    local plug = '<Plug>(Sidekicks' .. map[3] .. ')'
    local key = map[1] .. plug
    if own[key] == nil then -- asked before our own maps can be found
      own[key] = vim.fn.hasmapto(plug, map[1]) == 1
    end
    if not own[key] then
      vim.keymap.set(map[1], map[2], plug, { buffer = buf, remap = true, desc = 'Sidekicks: ' .. map[4] })
    end
  end
end

--- A key that does something only where it fits, and is itself elsewhere.
---@param buf integer
---@param key string
---@param desc string
---@param fits fun(): fun()?
local function where_it_fits(buf, key, desc, fits)
  vim.keymap.set('n', key, function()
    local run = vim.v.count == 0 and fits()
    if not run then
      return key
    end
    vim.schedule(run)
    return '<Ignore>'
  end, { buffer = buf, expr = true, desc = 'Sidekicks: ' .. desc })
end

---@param digit integer
---@return fun()?
local function answer(digit)
  local target = require('sidekicks.target')
  local request_id = target.question()
  local place = request_id and target.place()
  local part = place and place.block and place.block.part
  local option = part and part.options and part.options[digit]
  return request_id
    and function()
      if option then
        require('sidekicks.permission').answer(request_id, option.optionId)
      end
    end
end

--- The message under the cursor, if it fits.
---@param fits fun(message: sidekicks.Message): boolean
---@return sidekicks.Message?
local function message_here(fits)
  local place = require('sidekicks.target').place()
  local message = place and place.entry and place.entry.message
  return message and fits(message) and message or nil
end

---@param buf integer
function M.set_transcript(buf)
  if not require('sidekicks.config').get().keymaps then
    return
  end
  set(buf, M.transcript)
  for digit = 1, 9 do
    where_it_fits(buf, tostring(digit), ('Answer %d on a question'):format(digit), function()
      return answer(digit)
    end)
  end
  local actions = require('sidekicks.actions')
  where_it_fits(buf, 'R', 'Retry a failed answer', function()
    local message = message_here(actions.can_retry)
    return message and function()
      actions.retry(message)
    end
  end)
  where_it_fits(buf, 'x', 'Take a queued message back', function()
    local message = message_here(function(message)
      return message.state == 'queued'
    end)
    return message and function()
      actions.take_back(message)
    end
  end)
  vim.keymap.set('n', 'gd', actions.go_to, { buffer = buf, desc = 'Sidekicks: Go to the file' })
  for _, key in ipairs({ 'i', 'a', 'o' }) do
    vim.keymap.set('n', key, function()
      local room = require('sidekicks.target').room()
      if room then
        require('sidekicks.layout').show(room, true)
      end
    end, { buffer = buf, desc = 'Sidekicks: Write' })
  end
end

---@param buf integer
function M.set_composer(buf)
  if not require('sidekicks.config').get().keymaps then
    return
  end
  set(buf, M.composer)
  for key, plug in pairs({ ['<C-p>'] = 'HistoryPrevious', ['<C-n>'] = 'HistoryNext' }) do
    vim.keymap.set('i', key, function()
      return vim.fn.pumvisible() == 1 and key or ('<Plug>(Sidekicks%s)'):format(plug)
    end, { buffer = buf, expr = true, remap = true, desc = 'Sidekicks: ' .. plug })
  end
end

--- Takes away every map of this plugin in a buffer.
---@param buf integer
function M.clear(buf)
  for _, mode in ipairs({ 'n', 'i' }) do
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
      if (map.desc or ''):find('^Sidekicks: ') then
        vim.api.nvim_buf_del_keymap(buf, mode, map.lhs or '')
      end
    end
  end
end

return M
