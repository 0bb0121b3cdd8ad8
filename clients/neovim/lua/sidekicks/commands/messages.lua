--- Verbs about messages: send, cancel, retry, take back, attachments, prompts, search, export, changed files.
local actions = require('sidekicks.actions')
local client = require('sidekicks.client')
local composer = require('sidekicks.composer')
local log = require('sidekicks.log')
local names = require('sidekicks.names')
local state = require('sidekicks.state')
local target = require('sidekicks.target')
local text = require('sidekicks.text')

---@type table<string, sidekicks.Verb>
local M = {}

--- Calls `fn` with the channel that is meant, else says that there is none.
---@param fn fun(room: sidekicks.OpenRoom, given: sidekicks.Given)
---@return fun(given: sidekicks.Given)
local function in_room(fn)
  return function(given)
    local room = target.room()
    if room then
      fn(room, given)
    else
      log.error('No channel is open: :Sidekicks #general opens one.')
    end
  end
end

M.send = {
  run = in_room(function(room)
    composer.send(room)
  end),
}

M.cancel = {
  run = in_room(function(room)
    if #room.snapshot.turns == 0 then
      log.say('Nothing runs here.')
      return
    end
    client.request('sidekicks/turn/cancel', { channelId = room.id }, log.or_say())
  end),
}

M.retry = {
  run = in_room(function()
    local message = target.message(actions.can_retry)
    if message then
      actions.retry(message)
    else
      log.say('Nothing has failed here.')
    end
  end),
}

---@param message sidekicks.Message
---@return boolean
local function is_queued(message)
  return message.state == 'queued'
end

M.unqueue = {
  run = in_room(function()
    local message = target.message(is_queued)
    if message then
      actions.take_back(message)
    else
      log.say('Nothing is queued here.')
    end
  end),
}

M.prompt = {
  run = in_room(function()
    local message = target.message(function(message)
      return message.author.kind == 'agent'
    end)
    if message then
      actions.prompt(message)
    else
      log.say('No agent has answered here yet.')
    end
  end),
}

M.history = {
  run = in_room(function(room, given)
    require('sidekicks.history').step(room, given.args[1] == 'next' and -1 or 1)
  end),
  complete = function()
    return { 'previous', 'next' }
  end,
}

--- The buffer, or its lines in `range`, as an attachment.
---@param buf integer
---@param range? { [1]: integer, [2]: integer }
---@return sidekicks.Attachment
local function attachment_of(buf, range)
  local name = vim.api.nvim_buf_get_name(buf)
  local short = name == '' and 'unnamed buffer' or text.short_path(name, client.connection().root)
  local first, last = range and range[1] - 1 or 0, range and range[2] or -1
  local value = text.utf8(table.concat(vim.api.nvim_buf_get_lines(buf, first, last, false), '\n')) .. '\n'
  local attachment = { uri = vim.uri_from_bufnr(buf), title = short }
  if range then
    attachment.title = ('%s:%d-%d'):format(short, range[1], range[2])
    attachment.range = { start = { line = first, character = 0 }, ['end'] = { line = last, character = 0 } }
    attachment.text = value
  elseif vim.bo[buf].modified or vim.bo[buf].buftype ~= '' or name == '' then
    attachment.text = value
  end
  return attachment
end

M.add = {
  run = function(given)
    local buf = vim.api.nvim_get_current_buf()
    if target.room_of(buf) then
      log.say('Go to the buffer that is to be sent along first.')
      return
    end
    local attachment = attachment_of(buf, given.range)
    local function add(room)
      table.insert(room.attachments, attachment)
      composer.refresh(room)
      log.say(('%s goes with the next message to %s.'):format(attachment.title, names.title(room:channel())))
    end
    local room = target.room()
    if room then
      add(room)
      return
    end
    local channels = vim.tbl_filter(function(channel)
      return channel.kind ~= 'pair'
    end, state.channels)
    vim.ui.select(channels, { prompt = 'Send it to', format_item = names.title }, function(channel)
      if channel then
        require('sidekicks.room').open(channel.id, function(opened)
          require('sidekicks.layout').show(opened)
          add(opened)
        end)
      end
    end)
  end,
}

M.drop = {
  run = in_room(function(room)
    room.attachments = {}
    composer.refresh(room)
  end),
}

M.output = {
  run = function()
    local place = target.place()
    for at, block in ipairs(place and place.entry and place.entry.blocks or {}) do
      local message = place and place.entry and place.entry.message
      if message and place.block == block and block.part then
        actions.whole(message, at - 1)
        return
      end
    end
    log.say('Put the cursor on a tool call first.')
  end,
}

M.diff = {
  run = function()
    local place = target.place()
    local part = place and place.block and place.block.part
    for _, content in ipairs(part and part.content or {}) do
      if content.type == 'diff' then
        actions.diff(content)
        return
      end
    end
    log.say('Put the cursor on a tool call that changes a file first.')
  end,
}

---@param hit sidekicks.SearchHit
---@return vim.quickfix.entry
local function quickfix_entry(hit)
  local channel = state.channel(hit.channelId)
  local author = hit.message.author
  return {
    filename = channel and names.message_uri(channel, hit.message) or '',
    text = ('%s: %s'):format(author.name or author.kind, text.one_line(hit.snippet)),
    lnum = 1,
    valid = channel ~= nil,
  }
end

M.search = {
  run = function(given)
    local query = table.concat(given.args, ' ')
    if query == '' then
      log.say('What for? :Sidekicks search {words}')
      return
    end
    client.request(
      'sidekicks/message/search',
      { query = query, limit = 200 },
      log.or_say(function(result)
        if #result.hits == 0 then
          log.say(('No message has all of: %s'):format(query))
          return
        end
        vim.fn.setqflist({}, ' ', { title = 'Sidekicks: ' .. query, items = vim.tbl_map(quickfix_entry, result.hits) })
        vim.cmd('botright copen')
      end)
    )
  end,
}

--- Everything said in a channel, page by page.
---@param room sidekicks.OpenRoom
---@param done fun(messages: sidekicks.Message[])
---@param messages? sidekicks.Message[]
local function all_messages(room, done, messages)
  messages = messages or {}
  local last = messages[#messages]
  local params = { channelId = room.id, after = last and last.seq or 0, limit = 500 }
  client.request(
    'sidekicks/message/list',
    params,
    log.or_say(function(page)
      vim.list_extend(messages, page.messages)
      local more = page.hasMore and #page.messages > 0 and messages[#messages].seq
      if more then
        all_messages(room, done, messages)
      else
        done(messages)
      end
    end)
  )
end

M.export = {
  run = in_room(function(room, given)
    all_messages(room, function(messages)
      local lines = require('sidekicks.export').markdown(room:channel(), messages)
      local path = given.args[1] and vim.fn.fnamemodify(given.args[1], ':p')
      if path == nil then
        require('sidekicks.scratch').show('export', lines, 'markdown')
      elseif vim.fn.writefile(lines, path) == 0 then
        log.say(('%s written.'):format(text.short_path(path)))
      end
    end)
  end),
  complete = function()
    return vim.fn.getcompletion('', 'file')
  end,
}

M.changes = {
  run = in_room(function(room)
    local items = require('sidekicks.changes').list(room.snapshot.messages)
    if #items == 0 then
      log.say('The last answers changed no file.')
      return
    end
    vim.fn.setqflist({}, ' ', { title = 'Sidekicks: changed files', items = items })
    vim.cmd('botright copen')
  end),
}

return M
