--- The moving sign before a turn that runs, and for how long it has. One timer for all; it stops when nothing runs.
local M = {}

local FRAMES = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' }
local INTERVAL = 100
local namespace = vim.api.nvim_create_namespace('sidekicks.spinner')
local timer = assert(vim.uv.new_timer())
local ticking, frame = false, 1

---@class sidekicks.Spin
---@field id integer its marks have this and the next
---@field row integer where it begins; its marks move with the text
---@field since number milliseconds

--- What turns, by buffer.
---@type table<integer, sidekicks.Spin[]>
local spins = {}

---@param buf integer
---@param spin sidekicks.Spin
---@param row integer
local function draw(buf, spin, row)
  local seconds = math.floor((vim.uv.now() - spin.since) / 1000)
  vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
    id = spin.id,
    virt_text = { { FRAMES[frame], 'SidekicksRunning' } },
    virt_text_pos = 'overlay',
    strict = false,
  })
  if seconds >= 2 then
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
      id = spin.id + 1,
      virt_text = { { (' %d s'):format(seconds), 'SidekicksMeta' } },
      virt_text_pos = 'eol',
      strict = false,
    })
  end
end

local function tick()
  frame = frame % #FRAMES + 1
  for buf, here in pairs(spins) do
    if not vim.api.nvim_buf_is_loaded(buf) then
      spins[buf] = nil
    elseif vim.fn.bufwinid(buf) ~= -1 then
      for _, spin in ipairs(here) do
        local place = vim.api.nvim_buf_get_extmark_by_id(buf, namespace, spin.id, {})
        if place[1] then
          draw(buf, spin, place[1])
        end
      end
    end
  end
  if next(spins) == nil then
    timer:stop()
    ticking = false
  end
end

--- What turns in a buffer from now on; nothing stops it.
---@param buf integer
---@param here sidekicks.Spin[]
function M.set(buf, here)
  for _, spin in ipairs(spins[buf] or {}) do -- not by range: that looks at every mark of the buffer
    vim.api.nvim_buf_del_extmark(buf, namespace, spin.id)
    vim.api.nvim_buf_del_extmark(buf, namespace, spin.id + 1)
  end
  spins[buf] = #here > 0 and here or nil
  for _, spin in ipairs(here) do
    draw(buf, spin, spin.row)
  end
  if #here > 0 and not ticking then
    ticking = true
    timer:start(INTERVAL, INTERVAL, vim.schedule_wrap(tick))
  end
end

return M
