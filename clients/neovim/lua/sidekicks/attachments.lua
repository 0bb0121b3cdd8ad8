--- What goes along with the next message: a buffer or lines of it, a file, a picture from the clipboard.
local client = require('sidekicks.client')
local text = require('sidekicks.text')

local M = {}

--- How a picture is taken from the clipboard: the program, and what makes it usable.
---@type { command: string[], when?: string }[]
local CLIPBOARDS = {
  { command = { 'wl-paste', '--type', 'image/png' }, when = 'WAYLAND_DISPLAY' },
  { command = { 'xclip', '-selection', 'clipboard', '-t', 'image/png', '-o' }, when = 'DISPLAY' },
  { command = { 'pngpaste', '-' } },
}

local PNG = '\137PNG'

--- The buffer, or its lines in `range`.
---@param buf integer
---@param range? { [1]: integer, [2]: integer }
---@return sidekicks.Attachment
function M.of_buffer(buf, range)
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

--- A file; agents that take images are given a picture as one.
---@param path string
---@return sidekicks.Attachment? attachment nil if it cannot be read
function M.of_file(path)
  local whole = vim.fs.normalize(vim.fn.fnamemodify(path, ':p'))
  if vim.fn.filereadable(whole) == 0 then
    return nil
  end
  return { uri = vim.uri_from_fname(whole), title = text.short_path(whole, client.connection().root) }
end

--- The picture in the clipboard.
---@param done fun(attachment?: sidekicks.Attachment, problem?: string)
function M.of_clipboard(done)
  for _, clipboard in ipairs(CLIPBOARDS) do
    local usable = clipboard.when == nil or (vim.env[clipboard.when] or '') ~= ''
    if usable and vim.fn.executable(clipboard.command[1]) == 1 then
      vim.system(
        clipboard.command,
        { timeout = 5000 },
        vim.schedule_wrap(function(result)
          local data = result.stdout or ''
          if result.code == 0 and vim.startswith(data, PNG) then
            local title = os.date('picture %H:%M:%S') --[[@as string]]
            done({ uri = 'clipboard:', mimeType = 'image/png', data = vim.base64.encode(data), title = title })
          else
            done(nil, 'There is no picture in the clipboard.')
          end
        end)
      )
      return
    end
  end
  done(nil, 'No program that reads pictures from the clipboard is found: wl-paste, xclip or pngpaste.')
end

return M
