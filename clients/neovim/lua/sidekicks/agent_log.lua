--- Buffers with what agents write to standard error; they grow as the agents go on.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local text = require('sidekicks.text')

local M = {}

--- Agent → buffer.
---@type table<string, integer>
local buffers = {}

---@param buf integer
---@param from integer
---@param lines string[]
local function write(buf, from, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(
    buf,
    from,
    -1,
    false,
    vim.tbl_map(function(line)
      return (text.safe(line):gsub('\n', '␊'))
    end, lines)
  )
  vim.bo[buf].modifiable = false
end

--- A line that a followed agent wrote.
---@param agent string
---@param line string
function M.append(agent, line)
  local buf = buffers[agent]
  if buf and vim.api.nvim_buf_is_loaded(buf) then
    write(buf, -1, { line })
  end
end

--- Shows an agent's log.
---@param agent string
function M.show(agent)
  client.request(
    'sidekicks/agent/logs',
    { agent = agent },
    log.or_say(function(result)
      local buf = require('sidekicks.scratch').show('log of ' .. agent, { '' })
      buffers[agent] = buf
      write(buf, 0, #result.lines > 0 and result.lines or { '(nothing so far)' })
    end)
  )
end

return M
