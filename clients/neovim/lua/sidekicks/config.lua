--- What a person can set: `vim.g.sidekicks`, a table or a function that returns one. Owns the defaults and their check.
local M = {}

--- What may be set; everything is optional.
---@class sidekicks.UserConfig
---@field cmd? string[] the bridge's command line
---@field config_path? string use this configuration and no other
---@field workspace_trusted? boolean true: read the folder's own `.sidekicks.yaml`; false: no agent runs there
---@field root? string|fun(): string the folder that is worked in
---@field position? sidekicks.Where where a channel opens
---@field size? number columns (or rows), or below 1 a share of the screen
---@field composer_height? integer rows of the composer when it is empty
---@field composer_max_height? integer rows it grows to
---@field start_insert? boolean enter insert mode when `:Sidekicks` opens a channel
---@field completion? "auto"|"builtin"|"none" whose completion menu
---@field complete_in? string[] filetypes of ordinary buffers in which `@` completes agents
---@field history? integer messages that are loaded when a channel opens
---@field markdown? boolean highlight agents' Markdown
---@field reload? boolean reload buffers that an agent has written
---@field keymaps? boolean buffer-local maps in the transcript and the composer

---@alias sidekicks.Where "right"|"left"|"top"|"bottom"|"tab"|"current"

---@class sidekicks.Config
---@field cmd string[]
---@field config_path? string
---@field workspace_trusted? boolean
---@field root? string|fun(): string
---@field position sidekicks.Where
---@field size number
---@field composer_height integer
---@field composer_max_height integer
---@field start_insert boolean
---@field completion "auto"|"builtin"|"none"
---@field complete_in string[]
---@field history integer
---@field markdown boolean
---@field reload boolean
---@field keymaps boolean

---@type sidekicks.Config
M.defaults = {
  cmd = { 'sidekicks', 'serve' },
  position = 'right',
  size = 0.45,
  composer_height = 4,
  composer_max_height = 12,
  start_insert = true,
  completion = 'auto',
  complete_in = {},
  history = 100,
  markdown = true,
  reload = true,
  keymaps = true,
}

local POSITIONS = { right = true, left = true, top = true, bottom = true, tab = true, current = true }
local COMPLETIONS = { auto = true, builtin = true, none = true }

local function positive(value)
  return type(value) == 'number' and value > 0
end

--- Option → what it must be (a type's name or a predicate) and how to say that.
local RULES = {
  cmd = {
    function(value)
      return vim.islist(value) and #value > 0 and type(value[1]) == 'string'
    end,
    'a list of words',
  },
  config_path = { 'string', 'a path' },
  workspace_trusted = { 'boolean', 'true or false' },
  root = { { 'string', 'function' }, 'a folder or a function that returns one' },
  position = {
    function(value)
      return POSITIONS[value]
    end,
    'one of right, left, top, bottom, tab, current',
  },
  size = { positive, 'a number above 0' },
  composer_height = { positive, 'a number above 0' },
  composer_max_height = { positive, 'a number above 0' },
  start_insert = { 'boolean', 'true or false' },
  completion = {
    function(value)
      return COMPLETIONS[value]
    end,
    'one of auto, builtin, none',
  },
  complete_in = { vim.islist, 'a list of filetypes' },
  history = { positive, 'a number above 0' },
  markdown = { 'boolean', 'true or false' },
  reload = { 'boolean', 'true or false' },
  keymaps = { 'boolean', 'true or false' },
}

---@return table given what stands in `vim.g.sidekicks`
---@return string? problem
local function given()
  local value = vim.g.sidekicks
  if type(value) == 'function' then
    local ok, result = pcall(value)
    if not ok then
      return {}, 'vim.g.sidekicks failed: ' .. tostring(result)
    end
    value = result
  end
  if value == nil then
    return {}
  end
  if type(value) ~= 'table' then
    return {}, 'vim.g.sidekicks must be a table or a function that returns one'
  end
  return value
end

--- The configuration in force and what is wrong with what was given; a wrong value is replaced by the default.
---@return sidekicks.Config config
---@return string[] problems
function M.read()
  local user, problem = given()
  local problems = {} ---@type string[]
  problems[1] = problem
  local config = vim.deepcopy(M.defaults)
  for name, value in pairs(user) do
    local rule = RULES[name]
    if rule == nil then
      problems[#problems + 1] = ('vim.g.sidekicks.%s is not an option'):format(name)
    elseif pcall(vim.validate, name, value, rule[1]) then
      config[name] = value
    else
      problems[#problems + 1] = ('vim.g.sidekicks.%s must be %s'):format(name, rule[2])
    end
  end
  return config, problems
end

--- The configuration in force.
---@return sidekicks.Config
function M.get()
  return (M.read())
end

--- The folder that is worked in: given, else the current directory.
---@return string
function M.root()
  local root = M.get().root
  if type(root) == 'function' then
    root = root()
  end
  return (vim.fs.normalize(vim.fn.fnamemodify(root or vim.fn.getcwd(), ':p')):gsub('(.)/$', '%1'))
end

return M
