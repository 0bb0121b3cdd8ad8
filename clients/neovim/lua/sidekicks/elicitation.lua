--- What agents ask for beside permissions: a form, gone through field by field, or a page to visit. Nothing is sent before
--- the last field has its value; leaving a question leaves it open, and what was given is offered the next time.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local state = require('sidekicks.state')
local text = require('sidekicks.text')

local M = {}

--- Request → field → value, as far as it was given.
---@type table<string, table<string, any>>
local given = {}

---@param asked sidekicks.Elicitation
---@param action "accept"|"decline"
---@param content table<string, any>
local function reply(asked, action, content)
  local params = { requestId = asked.requestId, action = action, content = content }
  if next(content) == nil then
    params.content = vim.empty_dict()
  end
  client.request(
    'sidekicks/elicitation/answer',
    params,
    log.or_say(function(result)
      given[asked.requestId] = nil
      if not result.accepted then
        log.say('It was answered or withdrawn already.')
      end
    end)
  )
end

---@param field sidekicks.FormField
---@return string
local function label(field)
  local said = text.one_line(field.title, 60) .. (field.required and '' or ' (may be left out)')
  return field.description and ('%s: %s'):format(said, text.one_line(field.description, 100)) or said
end

--- What was typed as the field wants it; nil if it cannot be that.
---@param field sidekicks.FormField
---@param typed string
---@return any
local function value_of(field, typed)
  if field.kind == 'integer' or field.kind == 'number' then
    local number = tonumber(typed)
    return number and (field.kind == 'number' or number % 1 == 0) and number or nil
  elseif field.kind == 'other' then
    local ok, value = pcall(vim.json.decode, typed)
    return ok and value or typed
  end
  return typed
end

---@param field sidekicks.FormField
---@param known any
---@param done fun(value: any) nil: left out
local function type_in(field, known, done)
  local default = known == nil and '' or type(known) == 'table' and vim.json.encode(known) or tostring(known)
  vim.ui.input({ prompt = label(field) .. ': ', default = default }, function(typed)
    if typed == nil then
      return
    end
    local value = typed ~= '' and value_of(field, typed) or nil
    if value ~= nil or (typed == '' and not field.required) then
      done(value)
      return
    end
    log.say(('%s %s.'):format(text.one_line(field.title, 60), typed == '' and 'is needed' or 'must be a number'))
    vim.schedule(function()
      type_in(field, known, done)
    end)
  end)
end

---@alias sidekicks.Value { title: string, value: any }

---@param field sidekicks.FormField
---@return sidekicks.Value[]
local function choices_of(field)
  if field.kind == 'boolean' then
    return { { title = 'yes', value = true }, { title = 'no', value = false } }
  end
  return vim.list_slice(field.choices or {})
end

---@param field sidekicks.FormField
---@param known any
---@param done fun(value: any)
local function choose_one(field, known, done)
  local choices = choices_of(field)
  if not field.required then
    choices[#choices + 1] = { title = 'leave it out' }
  end
  vim.ui.select(choices, {
    prompt = label(field),
    format_item = function(choice)
      return (choice.value ~= nil and choice.value == known and '● ' or '  ') .. text.one_line(choice.title, 80)
    end,
  }, function(choice)
    if choice then
      done(choice.value)
    end
  end)
end

--- Values are put in and taken out until that is enough.
---@param field sidekicks.FormField
---@param known any
---@param done fun(value: any)
local function choose_some(field, known, done)
  local chosen = type(known) == 'table' and known or {}
  local items = choices_of(field)
  table.insert(items, 1, { title = 'These: go on' })
  vim.ui.select(items, {
    prompt = label(field),
    format_item = function(choice)
      local mark = choice.value == nil and '' or vim.list_contains(chosen, choice.value) and '[x] ' or '[ ] '
      return mark .. text.one_line(choice.title, 80)
    end,
  }, function(choice)
    if choice == nil then
      return
    elseif choice.value == nil then
      done((field.required or #chosen > 0) and chosen or nil)
      return
    end
    local others = vim.tbl_filter(function(value)
      return value ~= choice.value
    end, chosen)
    if #others == #chosen then
      others[#others + 1] = choice.value
    end
    vim.schedule(function()
      choose_some(field, others, done)
    end)
  end)
end

local ASK = { boolean = choose_one, choice = choose_one, choices = choose_some }

--- Asks for the fields from number `at` on, then answers.
---@param asked sidekicks.Elicitation
---@param at integer
---@param values table<string, any>
local function fill(asked, at, values)
  local field = (asked.fields or {})[at]
  if field == nil then
    reply(asked, 'accept', values)
    return
  end
  local known = values[field.name]
  if known == nil then
    known = field.default
  end
  local ask = ASK[field.kind] or type_in
  ask(field, known, function(value)
    values[field.name] = value
    vim.schedule(function()
      fill(asked, at + 1, values)
    end)
  end)
end

---@param asked sidekicks.Elicitation
local function visit(asked)
  local url = asked.url or ''
  local web = url:find('^https?://') ~= nil
  local choices = { 'I have been there', 'Decline' }
  if web then
    table.insert(choices, 1, 'Open ' .. (text.safe(url):gsub('\n', '↵')))
  end
  vim.ui.select(choices, { prompt = require('sidekicks.render.words').asks(asked) }, function(choice, at)
    if choice == nil then
      return
    elseif choice == 'Decline' then
      reply(asked, 'decline', {})
      return
    elseif web and at == 1 then
      vim.ui.open(url)
    end
    reply(asked, 'accept', {})
  end)
end

--- Asks for what the agent wants, and gives it.
---@param asked sidekicks.Elicitation
function M.begin(asked)
  if asked.mode == 'url' then
    visit(asked)
    return
  end
  given[asked.requestId] = given[asked.requestId] or {}
  fill(asked, 1, given[asked.requestId])
end

--- The agent gets nothing.
---@param asked sidekicks.Elicitation
function M.decline(asked)
  reply(asked, 'decline', {})
end

--- An open one by its id.
---@param request_id? string
---@return sidekicks.Elicitation?
function M.open(request_id)
  for _, asked in ipairs(state.elicitations) do
    if asked.requestId == request_id then
      return asked
    end
  end
end

--- What is meant here: what stands under the cursor, else the oldest in this channel, else the oldest.
---@return sidekicks.Elicitation?
function M.current()
  local target = require('sidekicks.target')
  local here = M.open(target.asked())
  if here then
    return here
  end
  local room = target.room()
  for _, asked in ipairs(state.elicitations) do
    if room and asked.channelId == room.id then
      return asked
    end
  end
  return state.elicitations[1]
end

return M
