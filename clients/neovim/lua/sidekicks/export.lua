--- A channel as a Markdown document. Pure.
local diff = require('sidekicks.render.diff')
local names = require('sidekicks.names')
local text = require('sidekicks.text')

local M = {}

---@param lines string[]
---@param part sidekicks.ToolCallPart
local function add_tool(lines, part)
  lines[#lines + 1] = ('> %s (%s)'):format(text.one_line(part.title), part.status)
  for _, content in ipairs(part.content) do
    if content.type == 'diff' then
      ---@cast content sidekicks.DiffContent
      local fence = ('`'):rep(4)
      vim.list_extend(lines, { '', fence .. 'diff', '--- ' .. text.one_line(content.path) })
      for _, line in ipairs(diff.changes(content).lines) do
        lines[#lines + 1] = (text.safe(line):gsub('\n', '↵'))
      end
      lines[#lines + 1] = fence
    end
  end
  lines[#lines + 1] = ''
end

--- A text with its code blocks closed, so that the next message is not inside them.
---@param lines string[]
---@param value string
local function add_text(lines, value)
  local fence
  for _, line in ipairs((text.lines(vim.trim(value)))) do
    local marks = line:match('^%s*(```+)') or line:match('^%s*(~~~+)')
    if marks and fence == nil then
      fence = marks
    elseif marks and marks:sub(1, #fence) == fence and line:match('^%s*[`~]+%s*$') then
      fence = nil
    end
    lines[#lines + 1] = line
  end
  lines[#lines + 1] = fence
  lines[#lines + 1] = ''
end

---@param channel sidekicks.Channel
---@param messages sidekicks.Message[]
---@return string[]
function M.markdown(channel, messages)
  local lines = { '# ' .. names.title(channel), '' }
  for _, message in ipairs(messages) do
    local author = message.author
    if author.kind ~= 'system' then
      vim.list_extend(lines, { ('## %s · %s'):format(author.name or 'You', message.createdAt), '' })
    end
    for _, part in ipairs(message.parts) do
      if part.type == 'text' then
        ---@cast part sidekicks.TextPart
        add_text(lines, part.text)
      elseif part.type == 'toolCall' then
        ---@cast part sidekicks.ToolCallPart
        add_tool(lines, part)
      elseif part.type == 'notice' then
        ---@cast part sidekicks.NoticePart
        vim.list_extend(lines, { ('*%s*'):format(text.one_line(part.text, 500)), '' })
      end
    end
    for _, attachment in ipairs(message.attachments or {}) do
      vim.list_extend(lines, { '📎 ' .. text.one_line(attachment.title or attachment.uri), '' })
    end
  end
  return lines
end

return M
