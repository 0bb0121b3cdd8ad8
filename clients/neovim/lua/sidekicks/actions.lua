--- What can be done with the thing under the cursor of a transcript: one list for `gra`, single keys for the usual ones.
local client = require('sidekicks.client')
local elicitation = require('sidekicks.elicitation')
local log = require('sidekicks.log')
local permission = require('sidekicks.permission')
local state = require('sidekicks.state')
local target = require('sidekicks.target')
local text = require('sidekicks.text')

local M = {}

---@class sidekicks.Action
---@field title string
---@field run fun()

---@param message sidekicks.Message
---@return boolean
function M.can_retry(message)
  local turn = message.turn
  return turn ~= nil and (turn.error ~= nil or turn.stopReason == 'failed' or turn.stopReason == 'interrupted')
end

---@param message sidekicks.Message
function M.retry(message)
  client.request('sidekicks/turn/retry', { messageId = message.id }, log.or_say())
end

---@param message sidekicks.Message
function M.take_back(message)
  local room = state.rooms[message.channelId]
  client.request(
    'sidekicks/message/remove',
    { messageId = message.id },
    log.or_say(function()
      local part = message.parts[1]
      local composer = require('sidekicks.composer')
      if room and part and part.text and composer.get(room) == '' then
        composer.set(room, part.text)
      end
    end)
  )
end

--- Shows exactly what an agent was sent for an answer.
---@param message sidekicks.Message
function M.prompt(message)
  client.request(
    'sidekicks/message/prompt',
    { messageId = message.id },
    log.or_say(function(prompt)
      local lines = {
        ('What @%s was sent (session %s, %d unseen, %d cut):'):format(
          message.author.name,
          prompt.session,
          prompt.unseen,
          prompt.cut
        ),
        '',
      }
      for _, block in ipairs(prompt.blocks) do
        local value = block.text or vim.json.encode(block)
        vim.list_extend(lines, (text.lines(value)))
        lines[#lines + 1] = ''
      end
      require('sidekicks.scratch').show('prompt', lines)
    end)
  )
end

--- Shows a part of a message whole: nothing shortened, nothing folded.
---@param message sidekicks.Message
---@param index integer from 1
function M.whole(message, index)
  client.request(
    'sidekicks/message/part',
    { messageId = message.id, part = index - 1 },
    log.or_say(function(result)
      local part, lines = result.part, {}
      if part.text then
        lines = text.lines(part.text)
      elseif part.type == 'toolCall' then
        local canvas = require('sidekicks.render.canvas').new()
        vim.list_extend(lines, { text.one_line(part.title), '' })
        for _, content in ipairs(part.content) do
          if content.type == 'diff' then
            local change = require('sidekicks.render.diff').changes(content)
            vim.list_extend(lines, { '--- ' .. text.one_line(content.path) })
            vim.list_extend(
              lines,
              vim.tbl_map(function(line)
                return (text.safe(line):gsub('\n', '↵'))
              end, change.lines)
            )
          else
            vim.list_extend(lines, (text.lines(content.text or vim.json.encode(content))))
          end
        end
        if #part.content == 0 and part.output ~= nil then
          vim.list_extend(
            lines,
            (text.lines(type(part.output) == 'string' and part.output or vim.json.encode(part.output)))
          )
        end
        vim.list_extend(lines, canvas.lines)
      end
      require('sidekicks.scratch').show('output', lines)
    end)
  )
end

--- Shows a tool call's change of a file as a diff of two buffers, in a tab of its own.
---@param content sidekicks.DiffContent
function M.diff(content)
  vim.cmd.tabnew()
  local function side(value, label)
    local buf = vim.api.nvim_get_current_buf()
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, (text.lines((value:gsub('\n$', '')))))
    vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].modifiable = 'nofile', 'wipe', false
    vim.bo[buf].filetype = vim.filetype.match({ filename = content.path }) or ''
    vim.api.nvim_buf_set_name(buf, ('sidekicks-%s %s [%d]'):format(label, vim.fs.basename(content.path), buf))
    vim.cmd.diffthis()
  end
  side(content.oldText or '', 'before')
  vim.cmd('rightbelow vertical new')
  side(content.newText, 'after')
end

---@param place sidekicks.Place
---@return integer? index of the part, from 1
local function part_index(place)
  for at, block in ipairs(place.entry and place.entry.blocks or {}) do
    if block == place.block and block.part then
      return at - 1
    end
  end
end

---@param actions sidekicks.Action[]
---@param request_id string
local function add_answers(actions, request_id)
  for _, asked in ipairs(state.permissions) do
    for _, option in ipairs(asked.requestId == request_id and asked.options or {}) do
      actions[#actions + 1] = {
        title = text.one_line(option.name),
        run = function()
          permission.answer(request_id, option.optionId)
        end,
      }
    end
  end
end

---@param actions sidekicks.Action[]
---@param part sidekicks.Part
---@param message sidekicks.Message
---@param index integer
local function add_tool(actions, part, message, index)
  for _, content in ipairs(part.content or {}) do
    if content.type == 'diff' then
      actions[#actions + 1] = {
        title = 'Show the change of ' .. vim.fs.basename(content.path),
        run = function()
          M.diff(content)
        end,
      }
    end
  end
  actions[#actions + 1] = {
    title = 'Show all of it',
    run = function()
      M.whole(message, index)
    end,
  }
end

---@param message sidekicks.Message
---@param part sidekicks.NoticePart
---@return sidekicks.Action
local function suggestion(message, part)
  return {
    title = 'Write it again with ' .. text.one_line(part.suggestion or '', 60),
    run = function()
      local room = state.rooms[message.channelId]
      for _, other in ipairs(room and room.snapshot.messages or {}) do
        if room and other.id == message.inReplyTo and other.parts[1] then
          local wrong = part.text:match('named (@[%w._-]+)')
          local value = other.parts[1].text or ''
          local from, to = value:find(wrong or '', 1, true)
          value = wrong and from and value:sub(1, from - 1) .. part.suggestion .. value:sub(to + 1) or value
          require('sidekicks.composer').set(room, value)
        end
      end
    end,
  }
end

--- What can be done with what is under the cursor.
---@return sidekicks.Action[]
function M.list()
  local place, actions = target.place(), {}
  local asked = elicitation.open(target.asked())
  if asked then
    actions[1] = {
      title = 'Answer',
      run = function()
        elicitation.begin(asked)
      end,
    }
    actions[2] = {
      title = 'Decline',
      run = function()
        elicitation.decline(asked)
      end,
    }
  end
  local message = place and place.entry and place.entry.message
  if place == nil or message == nil then
    return actions
  end
  local part = place.block and place.block.part
  local request_id = target.question()
  if request_id then
    add_answers(actions, request_id)
  end
  if part and part.type == 'toolCall' then
    add_tool(actions, part, message, part_index(place) or 1)
  elseif part and part.type == 'notice' and part.suggestion then
    ---@cast part sidekicks.NoticePart
    actions[#actions + 1] = suggestion(message, part)
  end
  local function add(title, run)
    actions[#actions + 1] = {
      title = title,
      run = function()
        run(message)
      end,
    }
  end
  if M.can_retry(message) then
    add('Retry', M.retry)
  end
  if message.state == 'queued' then
    add('Take it back', M.take_back)
  end
  if message.author.kind == 'agent' then
    add(('What did @%s see?'):format(message.author.name), M.prompt)
  end
  return actions
end

--- Asks what to do.
function M.choose()
  local actions = M.list()
  if #actions == 0 then
    log.say('There is nothing to do here.')
    return
  end
  vim.ui.select(actions, {
    prompt = 'Do',
    format_item = function(action)
      return action.title
    end,
  }, function(action)
    if action then
      action.run()
    end
  end)
end

--- Goes to the file under the cursor, answers on an option's row or a question's, else toggles the fold.
function M.open()
  local asked = elicitation.open(target.asked())
  if asked then
    elicitation.begin(asked)
    return
  end
  local place = target.place()
  local request_id, option_id = target.question()
  if request_id and option_id then
    permission.answer(request_id, option_id)
    return
  end
  local location = target.location(place)
  if place and vim.fn.foldclosed(place.row + 1) ~= -1 then
    vim.cmd('normal! zo')
  elseif location then
    require('sidekicks.layout').open_file(location)
  elseif place and vim.fn.foldlevel(place.row + 1) > 0 then
    vim.cmd('normal! zc')
  end
end

--- Goes to the file under the cursor.
function M.go_to()
  local location = target.location(target.place())
  if location == nil then
    log.say('There is no file on this line.')
    return
  end
  require('sidekicks.layout').open_file(location)
end

--- Moves the cursor to the next (1) or previous (-1) message.
---@param step 1|-1
function M.move(step)
  local place = target.place()
  if place == nil then
    return
  end
  local row
  for _, entry in ipairs(place.view.entries) do
    if step == 1 and entry.row > place.row then
      row = entry.row
      break
    elseif step == -1 and entry.row < place.row then
      row = entry.row
    end
  end
  if row then
    vim.api.nvim_win_set_cursor(place.win, { row + 1, 0 })
  elseif step == -1 then
    vim.api.nvim_win_set_cursor(place.win, { 1, 0 })
    place.view.room:load_older()
  end
end

return M
