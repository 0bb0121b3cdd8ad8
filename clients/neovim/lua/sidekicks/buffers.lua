--- The `sidekicks://` buffers: what is read into them, how they are called, what happens when they go.
local log = require('sidekicks.log')
local names = require('sidekicks.names')
local rooms = require('sidekicks.room')
local session = require('sidekicks.session')
local state = require('sidekicks.state')
local view = require('sidekicks.view')

local M = {}

--- The buffer of that name, made if there is none; never a second one.
---@param uri string
---@return integer
function M.get(uri)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buf) == uri then
      if vim.api.nvim_buf_is_loaded(buf) then
        return buf
      end
      vim.api.nvim_buf_delete(buf, { force = true }) -- left behind by `:bdelete`: writing into it would read it
    end
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, uri)
  return buf
end

---@param buf integer
---@param buftype "nofile"|"acwrite"
local function plain(buf, buftype)
  local bo = vim.bo[buf]
  bo.buftype, bo.swapfile, bo.bufhidden, bo.buflisted, bo.undofile = buftype, false, 'hide', false, false
end

--- Makes a buffer the transcript of a room.
---@param buf integer
---@param room sidekicks.OpenRoom
function M.transcript(buf, room)
  local known = view.of(buf)
  if known and known.room == room then
    return
  end
  plain(buf, 'nofile')
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
  vim.b[buf].sidekicks_channel = room.id
  vim.bo[buf].filetype = 'sidekicks'
  vim.bo[buf].modifiable = false
  local here = view.attach(buf, room)
  room.on_tool = function(_, part)
    require('sidekicks.files').touched(part)
  end
  here:sync()
  require('sidekicks.transcript').watch(buf, room)
end

--- Makes a buffer the composer of a room.
---@param buf integer
---@param room sidekicks.OpenRoom
function M.compose(buf, room)
  if vim.b[buf].sidekicks_channel == room.id then
    return
  end
  plain(buf, 'acwrite')
  vim.b[buf].sidekicks_channel = room.id
  vim.bo[buf].filetype = 'sidekicks-compose'
  require('sidekicks.composer').setup(buf, room)
end

--- The channel of that slug, made if it is a direct conversation with a known agent.
---@param slug string
---@param done fun(room: sidekicks.OpenRoom)
---@param failed? fun()
function M.room(slug, done, failed)
  local channel = state.find(slug)
  if channel then
    rooms.open(channel.id, done, failed)
    return
  end
  local agent = slug:match('^@(.+)$')
  if agent then
    require('sidekicks.client').request('sidekicks/channel/direct', { agent = agent }, function(err, made)
      if made then
        rooms.open(made.id, done, failed)
      else
        log.error(log.sentence(err or { code = 0, message = 'There is no such agent.' }))
        if failed then
          failed()
        end
      end
    end)
    return
  end
  log.error(('There is no channel #%s. `:Sidekicks create %s` makes it.'):format(slug, slug))
  if failed then
    failed()
  end
end

--- BufReadCmd: shows at once what will be here, and fills it when the bridge has answered.
---@param buf integer
function M.read(buf)
  local slug, kind, message_id = names.parse(vim.api.nvim_buf_get_name(buf))
  if slug == nil then
    log.error('This is no channel: sidekicks://general or sidekicks://@scout is.')
    return
  end
  plain(buf, kind == 'compose' and 'acwrite' or 'nofile')
  local win = vim.api.nvim_get_current_win()
  session.ready(function()
    M.room(slug, function(room)
      if not vim.api.nvim_buf_is_valid(buf) then
        return
      end
      if kind == 'compose' then
        M.compose(buf, room)
        require('sidekicks.composer').restore(room) -- `:edit!` has emptied it
      elseif kind == 'message' then
        vim.schedule(function() -- once the quickfix jump that reads the link has ended
          require('sidekicks.layout').show_message(win, room, message_id or '', buf)
        end)
      else
        local uri = names.uri(room:channel())
        if vim.api.nvim_buf_get_name(buf) ~= uri then -- `sidekicks://General`, `sidekicks:///general`
          require('sidekicks.layout').replace(win, buf, M.get(uri))
          buf = M.get(uri)
        end
        M.transcript(buf, room)
        require('sidekicks.layout').accompany(win, buf, room)
      end
    end)
  end)
end

--- After a session was loaded: its `sidekicks://` buffers are there, empty.
function M.restore()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local slug, kind = names.parse(vim.api.nvim_buf_get_name(buf))
    if slug and kind ~= 'message' and vim.api.nvim_buf_is_loaded(buf) and not vim.b[buf].sidekicks_channel then
      plain(buf, kind == 'compose' and 'acwrite' or 'nofile')
      session.ready(function()
        M.room(slug, function(room)
          if kind == 'compose' then
            M.compose(buf, room)
          else
            M.transcript(buf, room)
          end
          for _, win in ipairs(vim.fn.win_findbuf(buf)) do
            require('sidekicks.layout').adopt(win, room)
          end
        end)
      end)
    end
  end
end

---@param buf integer
---@param name string
local function set_name(buf, name)
  local old = vim.api.nvim_buf_get_name(buf)
  vim.api.nvim_buf_set_name(buf, name)
  for _, other in ipairs(vim.api.nvim_list_bufs()) do -- renaming leaves a buffer with the old name
    if other ~= buf and vim.api.nvim_buf_get_name(other) == old then
      vim.api.nvim_buf_delete(other, { force = true })
    end
  end
end

--- A channel was renamed: so are its buffers.
---@param channel sidekicks.Channel
---@param before sidekicks.Channel
function M.rename(channel, before)
  local old, new = names.uri(before), names.uri(channel)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if name == old then
      set_name(buf, new)
    elseif name == names.compose_uri(before) then
      require('sidekicks.composer').detach(buf)
      set_name(buf, names.compose_uri(channel))
      require('sidekicks.composer').attach(buf)
    end
  end
end

--- Takes a deleted channel's buffers away.
---@param channel sidekicks.Channel
function M.forget(channel)
  for _, uri in ipairs({ names.compose_uri(channel), names.uri(channel) }) do
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_get_name(buf) == uri then
        vim.api.nvim_buf_delete(buf, { force = true })
      end
    end
  end
end

return M
