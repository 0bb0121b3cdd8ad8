--- The one command: `:Sidekicks #general`, `:Sidekicks @scout`, `:Sidekicks {verb} {arguments}`. Finds the verb; what a
--- verb does is in the modules beside this one.
local log = require('sidekicks.log')
local session = require('sidekicks.session')

local M = {}

---@class sidekicks.Given how a verb was called
---@field args string[]
---@field range? { [1]: integer, [2]: integer } lines from 1

---@class sidekicks.Verb
---@field run fun(given: sidekicks.Given)
---@field complete? fun(args: string[]): string[] what may come after `args`
---@field offline? boolean whether it works without the bridge

---@type table<string, sidekicks.Verb>
M.verbs = {}
for _, name in ipairs({ 'channels', 'agents', 'sessions', 'messages', 'questions', 'other' }) do
  for verb, described in pairs(require('sidekicks.commands.' .. name)) do
    M.verbs[verb] = described
  end
end

---@param words string[]
---@param range? { [1]: integer, [2]: integer }
local function run(words, range)
  if words[1] == nil then
    words = { 'pick' }
  elseif words[1]:find('^[#@]') then
    words = vim.list_extend({ 'open' }, words)
  end
  local word = words[1] or ''
  local verb = M.verbs[word]
  if verb == nil then
    local near = vim.fn.matchfuzzy(vim.tbl_keys(M.verbs), word)[1]
    log.error(('There is no :Sidekicks %s.%s'):format(word, near and (' Did you mean %s?'):format(near) or ''))
    return
  end
  local given = { args = vim.list_slice(words, 2), range = range }
  if verb.offline then
    verb.run(given)
  else
    session.ready(function()
      verb.run(given)
    end)
  end
end

--- Runs the command.
---@param given vim.api.keyset.create_user_command.command_args
function M.run(given)
  run(given.fargs, given.range > 0 and { given.line1, given.line2 } or nil)
end

--- Runs the command from a map; in Visual mode for the selected lines.
---@param words string[]
function M.press(words)
  local range
  if vim.fn.mode():find('^[vV\22]') then
    local from, to = vim.fn.line('v'), vim.fn.line('.')
    range = { math.min(from, to), math.max(from, to) }
    vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  end
  run(vim.deepcopy(words), range)
end

---@return string[]
local function everything()
  local state = require('sidekicks.state')
  local found = {}
  for _, channel in ipairs(state.channels) do
    if channel.kind ~= 'pair' then
      found[#found + 1] = require('sidekicks.names').title(channel)
    end
  end
  for _, name in ipairs(state.agent_names) do
    if not vim.list_contains(found, '@' .. name) then
      found[#found + 1] = '@' .. name
    end
  end
  local verbs = vim.tbl_keys(M.verbs)
  table.sort(verbs)
  return vim.list_extend(found, verbs)
end

--- Completes the command line.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line:sub(1, #line - #lead)), '%s+')
  local args = vim.list_slice(words, 3)
  local found = {}
  if #words < 2 then
    found = everything()
    if not require('sidekicks.state').known then
      require('sidekicks.client').start()
    end
  elseif M.verbs[words[2]] and M.verbs[words[2]].complete then
    found = M.verbs[words[2]].complete(args)
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word:lower(), lead:lower())
  end, found)
end

return M
