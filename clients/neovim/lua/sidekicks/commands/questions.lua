--- Verbs that answer: permissions, what waits, what can be done here.
local actions = require('sidekicks.actions')
local elicitation = require('sidekicks.elicitation')
local log = require('sidekicks.log')
local permission = require('sidekicks.permission')

---@type table<string, sidekicks.Verb>
local M = {}

---@param verb "allow"|"reject"
---@return sidekicks.Verb
local function answer(verb)
  return {
    run = function(given)
      permission.decide(verb, given.args[1] == 'always')
    end,
    complete = function()
      return { 'always' }
    end,
  }
end

M.allow = answer('allow')
M.reject = answer('reject')

M.answer = {
  run = function(given)
    local asked = elicitation.current()
    if asked == nil then
      log.say('Nobody asks for anything but permission.')
    elseif given.args[1] == 'decline' then
      elicitation.decline(asked)
    else
      elicitation.begin(asked)
    end
  end,
  complete = function()
    return { 'decline' }
  end,
}

M.attention = {
  run = function()
    require('sidekicks.attention').go()
  end,
}

M.actions = { run = actions.choose }
M['goto'] = { run = actions.open }

M.next = {
  run = function()
    actions.move(1)
  end,
}

M.previous = {
  run = function()
    actions.move(-1)
  end,
}

return M
