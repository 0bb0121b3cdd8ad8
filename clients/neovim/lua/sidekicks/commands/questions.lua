--- Verbs that answer: permissions, what waits, what can be done here.
local actions = require('sidekicks.actions')
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
