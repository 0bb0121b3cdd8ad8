--- A channel that works in another folder than this client: asked before anything is sent there.
local client = require('sidekicks.client')
local log = require('sidekicks.log')
local names = require('sidekicks.names')
local rooms = require('sidekicks.room')
local text = require('sidekicks.text')

local M = {}

---@param room sidekicks.OpenRoom
local function settled(room)
  room.decided = true
  room:touch()
  require('sidekicks.status').changed()
end

---@param room sidekicks.OpenRoom
---@param done fun(room: sidekicks.OpenRoom)
local function work_here(room, done)
  local params = { channelId = room.id, root = client.connection().root }
  client.request(
    'sidekicks/channel/update',
    params,
    log.or_say(function()
      settled(room)
      done(room)
    end)
  )
end

--- A good channel name after a folder's.
---@param folder string
---@return string
local function folder_name(folder)
  local name = vim.fs.basename(folder):gsub('[^%w._-]+', '-'):gsub('%-%-+', '-'):sub(1, 60):gsub('^[._-]+', '')
  name = name:gsub('[._-]+$', '')
  return name ~= '' and name or 'project'
end

--- Makes a channel for this folder, with the same members, under the first free name.
---@param room sidekicks.OpenRoom
---@param done fun(room: sidekicks.OpenRoom)
---@param number? integer
local function make_for_here(room, done, number)
  local folder = client.connection().root or ''
  local members = {}
  for _, member in ipairs(room:channel().members) do
    if member.kind == 'agent' then
      members[#members + 1] = member.name
    end
  end
  local name = folder_name(folder) .. (number and '-' .. number or '')
  client.request('sidekicks/channel/create', { name = name, members = members, root = folder }, function(err, channel)
    if err and err.data and err.data.code == 'channelExists' and (number or 1) < 99 then
      make_for_here(room, done, (number or 1) + 1)
    elseif err or not channel then
      log.error(log.sentence(err or { code = 0, message = 'The channel was not made.' }))
    else
      rooms.open(channel.id, function(made)
        require('sidekicks.layout').show(made)
        done(made)
      end)
    end
  end)
end

--- Asks where to work.
---@param room sidekicks.OpenRoom
---@param done fun(room: sidekicks.OpenRoom) with the channel that is meant; not called if nothing was chosen
function M.ask(room, done)
  local there = room.snapshot.otherRoot or room:channel().root or ''
  local here = client.connection().root or ''
  local choices = {
    { 'Make a channel for this folder: ' .. text.short_path(here), make_for_here },
    {
      'Work there: ' .. text.short_path(there),
      function(_, decided)
        settled(room)
        decided(room)
      end,
    },
    { 'Make it work here; its agents start fresh', work_here },
  }
  vim.ui.select(choices, {
    prompt = ('%s works in %s, you are in %s.'):format(
      names.title(room:channel()),
      text.short_path(there),
      text.short_path(here)
    ),
    format_item = function(choice)
      return choice[1]
    end,
  }, function(choice)
    if choice then
      choice[2](room, done)
    end
  end)
end

--- Calls `done` with the channel to send to: at once if there is nothing to decide.
---@param room sidekicks.OpenRoom
---@param done fun(room: sidekicks.OpenRoom)
function M.decide(room, done)
  if room.snapshot.otherRoot and not room.decided then
    M.ask(room, done)
  else
    done(room)
  end
end

return M
