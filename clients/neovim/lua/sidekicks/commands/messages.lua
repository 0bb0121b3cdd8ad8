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

M.send = {
  run = target.in_room(function(room)
    composer.send(room)
  end),
}

M.cancel = {
  run = target.in_room(function(room)
    if #room.snapshot.turns == 0 then
      log.say('Nothing runs here.')
      return
    end
    client.request('sidekicks/turn/cancel', { channelId = room.id }, log.or_say())
  end),
}

M.retry = {
  run = target.in_room(function()
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
  run = target.in_room(function()
    local message = target.message(is_queued)
    if message then
      actions.take_back(message)
    else
      log.say('Nothing is queued here.')
    end
  end),
}

M.prompt = {
  run = target.in_room(function()
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
  run = target.in_room(function(room, given)
    require('sidekicks.history').step(room, given.args[1] == 'next' and -1 or 1)
  end),
  complete = function()
    return { 'previous', 'next' }
  end,
}

--- Puts something beside the next message of a channel, which is asked for if none is meant.
---@param attachment sidekicks.Attachment
---@param room? sidekicks.OpenRoom
local function send_along(attachment, room)
  local function add(there)
    table.insert(there.attachments, attachment)
    composer.refresh(there)
    log.say(('%s goes with the next message to %s.'):format(attachment.title, names.title(there:channel())))
  end
  if room then
    add(room)
    return
  end
  vim.ui.select(state.channels, { prompt = 'Send it to', format_item = names.title }, function(channel)
    if channel then
      require('sidekicks.room').open(channel.id, function(opened)
        require('sidekicks.layout').show(opened)
        add(opened)
      end)
    end
  end)
end

M.add = {
  run = function(given)
    local attachments, buf = require('sidekicks.attachments'), vim.api.nvim_get_current_buf()
    local path = given.args[1] and table.concat(given.args, ' ')
    local file = path and attachments.of_file(path)
    if file then
      send_along(file, target.room())
    elseif path then
      log.error(('%s cannot be read.'):format(text.short_path(path)))
    elseif target.room_of(buf) then
      log.say('Go to the buffer that is to be sent along first, or name a file.')
    else
      send_along(attachments.of_buffer(buf, given.range), target.room())
    end
  end,
  complete = function()
    return vim.fn.getcompletion('', 'file')
  end,
}

M.paste = {
  run = function()
    local room = target.room()
    require('sidekicks.attachments').of_clipboard(function(attachment, problem)
      if attachment then
        send_along(attachment, room)
      else
        log.say(problem or '')
      end
    end)
  end,
}

M.drop = {
  run = target.in_room(function(room)
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
  run = target.in_room(function(room, given)
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
  run = target.in_room(function(room)
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
