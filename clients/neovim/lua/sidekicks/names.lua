--- How channels and agents are called by people, and the `sidekicks:` URIs of their buffers. Pure.
local text = require('sidekicks.text')

local M = {}

local SCHEME = 'sidekicks://'
local COMPOSE = '/compose'

--- What a channel is called: `#general`, `@scout`, `ann ↔ bob`.
---@param channel sidekicks.Channel
---@return string
function M.title(channel)
  if channel.kind == 'direct' then
    return '@' .. text.one_line(channel.agent or '?', 64)
  elseif channel.kind == 'pair' then
    return text.one_line(table.concat(channel.peers or {}, ' ↔ '), 130)
  end
  return '#' .. text.one_line(channel.name or '?', 64)
end

--- The part of a URI that names the channel: `general`, `@scout`, `ann--bob`.
---@param channel sidekicks.Channel
---@return string
function M.slug(channel)
  if channel.kind == 'direct' then
    return '@' .. (channel.agent or '')
  elseif channel.kind == 'pair' then
    return table.concat(channel.peers or {}, '--')
  end
  return channel.name or ''
end

---@param channel sidekicks.Channel
---@return string
function M.uri(channel)
  return SCHEME .. M.slug(channel)
end

---@param channel sidekicks.Channel
---@return string
function M.compose_uri(channel)
  return M.uri(channel) .. COMPOSE
end

--- A link to a message, as search puts it into the quickfix list.
---@param channel sidekicks.Channel
---@param message sidekicks.Message
---@return string
function M.message_uri(channel, message)
  return ('%s/m/%s'):format(M.uri(channel), message.id)
end

--- What a buffer's name says.
---@param uri string
---@return string? slug
---@return "transcript"|"compose"|"message"|nil kind
---@return string? message_id
function M.parse(uri)
  local slug, rest = uri:match('^sidekicks:/*([^/]+)(.*)$')
  if slug == nil then
    return nil
  end
  slug = vim.uri_decode(slug):gsub('^#', '')
  if rest == COMPOSE then
    return slug, 'compose'
  end
  local message_id = (rest or ''):match('^/m/(%w+)$')
  if message_id then
    return slug, 'message', message_id
  end
  return slug, 'transcript'
end

--- The channel that `word` names (`#general`, `general`, `@scout`, `ann--bob`), of `root` if there are several.
---@param channels sidekicks.Channel[]
---@param word string
---@param root? string
---@return sidekicks.Channel?
function M.find(channels, word, root)
  local wanted = word:gsub('^#', ''):lower()
  local found
  for _, channel in ipairs(channels) do
    if M.slug(channel):lower() == wanted and (found == nil or channel.root == root) then
      found = channel
    end
  end
  return found
end

return M
