--- Answering permission questions. A question is inert for half a second after it came into sight, so that a key meant
--- for something else answers nothing. Which keys answer is not decided here.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local state = require('sidekicks.state')
local text = require('sidekicks.text')

local M = {}

local INERT_MS = 500

--- Question → when it came into sight, in milliseconds.
---@type table<string, number>
local since = {}

--- The question stands on the screen; only the first time counts.
---@param request_id string
function M.drawn(request_id)
  since[request_id] = since[request_id] or vim.uv.now()
end

---@param request_id string
---@return sidekicks.Permission?
local function open(request_id)
  for _, permission in ipairs(state.permissions) do
    if permission.requestId == request_id then
      return permission
    end
  end
end

--- Answers a question; says why nothing happened if nothing did.
---@param request_id string
---@param option_id string
function M.answer(request_id, option_id)
  local seen = since[request_id]
  if seen == nil or vim.uv.now() - seen < INERT_MS then
    log.say('The question has only just come; answer again to mean it.')
    return
  end
  local params = { requestId = request_id, optionId = option_id }
  client.request(
    'sidekicks/permission/answer',
    params,
    log.or_say(function(result)
      if not result.accepted then
        log.say('It was answered elsewhere already.')
      end
    end)
  )
end

--- The options that `allow` or `reject` may mean: those of the wanted kind, else all that begin so.
---@param permission sidekicks.Permission
---@param verb "allow"|"reject"
---@param always boolean
---@return sidekicks.PermissionOption[]
local function meant(permission, verb, always)
  local kind = verb .. (always and '_always' or '_once')
  for _, wanted in ipairs({ kind, verb }) do
    local fitting = vim.tbl_filter(function(option)
      return wanted == verb and not always and vim.startswith(option.kind, verb) or option.kind == wanted
    end, permission.options)
    if #fitting > 0 then
      return fitting
    end
  end
  return permission.options
end

--- Answers with the one option that is meant, else asks which.
---@param permission sidekicks.Permission
---@param options sidekicks.PermissionOption[]
function M.choose(permission, options)
  if #options == 1 then
    M.answer(permission.requestId, options[1].optionId)
    return
  end
  vim.ui.select(options, {
    prompt = require('sidekicks.render.words').asks(permission),
    format_item = function(option)
      return text.one_line(option.name)
    end,
  }, function(option)
    if option then
      M.answer(permission.requestId, option.optionId)
    end
  end)
end

--- The question that is meant here: the one under the cursor, else the oldest in this channel.
---@return sidekicks.Permission?
function M.current()
  local target = require('sidekicks.target')
  local id = target.question()
  if id then
    return open(id)
  end
  local room = target.room()
  for _, permission in ipairs(state.permissions) do
    if room and permission.channelId == room.id then
      return permission
    end
  end
end

---@param verb "allow"|"reject"
---@param always boolean
function M.decide(verb, always)
  local permission = M.current()
  if permission then
    local options = meant(permission, verb, always)
    local fits = vim.startswith(options[1] and options[1].kind or '', verb)
    M.choose(permission, fits and options or permission.options)
  elseif #state.permissions > 0 then
    log.say('The question is in another channel: :Sidekicks attention goes there.')
  else
    log.say('Nobody asks for permission.')
  end
end

return M
