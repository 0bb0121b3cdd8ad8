--- Text from agents made safe for a buffer. Pure; knows nothing of highlighting or of the protocol.
--- Whatever an agent, a file name or a configuration says is data: it must not move the cursor, change colours, reorder
--- what stands beside it (bidi controls) or hide. What is taken out stays visible.
local M = {}

--- Bytes after which a line is broken: Neovim draws longer ones slowly.
M.LONGEST_LINE = 1000

local REPLACEMENT = '\239\191\189'

---@param code integer
---@return string
local function utf8(code)
  return vim.fn.nr2char(code, true)
end

local CONTROLS = { ['\127'] = '␡' }
for code = 0, 31 do
  CONTROLS[string.char(code)] = utf8(0x2400 + code)
end

local HIDDEN = { [utf8(0x85)] = '\n', [utf8(0x2028)] = '\n', [utf8(0x2029)] = '\n' }
for code = 0x80, 0x9f do
  HIDDEN[utf8(code)] = HIDDEN[utf8(code)] or ('‹%02X›'):format(code)
end
for _, range in ipairs({
  { 0xad, 0xad },
  { 0x61c, 0x61c },
  { 0x200b, 0x200b },
  { 0x200e, 0x200f },
  { 0x202a, 0x202e },
  { 0x2060, 0x2060 },
  { 0x2066, 0x2069 },
  { 0xfeff, 0xfeff },
  { 0xfff9, 0xfffb },
  { 0xe0000, 0xe007f },
}) do
  for code = range[1], range[2] do
    HIDDEN[utf8(code)] = ('‹U+%04X›'):format(code)
  end
end

--- How many bytes the UTF-8 character at `at` has; 0 if there is none.
---@param bytes string
---@param at integer
---@return integer
local function size_at(bytes, at)
  local a, b, c, d = bytes:byte(at, at + 3)
  if a < 0x80 then
    return 1
  end
  local function continues(byte, low, high)
    return byte ~= nil and byte >= (low or 0x80) and byte <= (high or 0xbf)
  end
  if a >= 0xc2 and a <= 0xdf then
    return continues(b) and 2 or 0
  elseif a >= 0xe0 and a <= 0xef then
    local fits = continues(b, a == 0xe0 and 0xa0 or nil, a == 0xed and 0x9f or nil)
    return fits and continues(c) and 3 or 0
  elseif a >= 0xf0 and a <= 0xf4 then
    local fits = continues(b, a == 0xf0 and 0x90 or nil, a == 0xf4 and 0x8f or nil)
    return fits and continues(c) and continues(d) and 4 or 0
  end
  return 0
end

---@param run string bytes above 127
---@param shown table<string, string> characters that are replaced
---@return string
local function valid(run, shown)
  local out, at = {}, 1
  while at <= #run do
    local size = size_at(run, at)
    local char = run:sub(at, at + size - 1)
    out[#out + 1] = size == 0 and REPLACEMENT or shown[char] or char
    at = at + math.max(size, 1)
  end
  return table.concat(out)
end

local function visible(run)
  return valid(run, HIDDEN)
end

local NONE = {}

--- `text` as valid UTF-8: what Neovim sends must be, or the bridge cannot read it.
---@param text string
---@return string
function M.utf8(text)
  return (text:gsub('[\128-\255]+', function(run)
    return valid(run, NONE)
  end))
end

--- Whether there is nothing but printable ASCII, tabs and line ends. A loop over bytes: LuaJIT compiles it, and not patterns.
---@param text string
---@return boolean
local function is_plain(text)
  for at = 1, #text do
    local byte = text:byte(at)
    if byte > 126 or (byte < 32 and byte ~= 9 and byte ~= 10) then
      return false
    end
  end
  return true
end

--- `text` with every control made visible; colours are dropped, line ends are `\n`, tabs stay.
---@param text string
---@return string
function M.safe(text)
  if is_plain(text) then
    return text
  end
  text = text:gsub('\27%[[%d;:]*m', ''):gsub('\r\n?', '\n'):gsub('[%z\1-\8\11-\31\127]', CONTROLS)
  return (text:gsub('[\128-\255]+', visible))
end

--- Where a line that is too long is broken: after a blank if there is one near, never inside a character.
---@param text string
---@param at integer where the line, or what is left of it, begins
---@return integer last byte of its first piece
local function break_at(text, at)
  local last = at + M.LONGEST_LINE - 1
  local blank = text:sub(at, last):find('%s%S*$')
  if blank and blank > M.LONGEST_LINE / 2 then
    return at + blank - 1
  end
  local after = text:byte(last + 1)
  while last > at and after and after >= 0x80 and after < 0xc0 do
    last = last - 1
    after = text:byte(last + 1)
  end
  return last
end

--- Safe lines of `text`, none longer than `LONGEST_LINE` (before controls were made visible).
---@param text string
---@return string[] lines
---@return integer last_start where in `text` the last piece of a line begins (from 1)
---@return integer last_rows how many of the lines came from that piece
function M.lines(text)
  local lines, at, rows, count, plain = {}, 1, 0, 0, is_plain(text)
  local function add(piece)
    rows = 0
    for row in vim.gsplit(M.safe(piece), '\n', { plain = true }) do
      rows, count = rows + 1, count + 1
      lines[count] = row
    end
  end
  local stop ---@type integer?
  repeat
    stop = text:find('\n', at, true)
    local last = stop and stop - 1 or #text
    while last - at >= M.LONGEST_LINE do
      local cut = break_at(text, at)
      add(text:sub(at, cut))
      at = cut + 1
    end
    local line = text:sub(at, last)
    if plain or is_plain(line) then -- nearly all are so
      rows, count = 1, count + 1
      lines[count] = line
    else
      add((line:gsub('\r$', '')))
    end
    at = stop and stop + 1 or at
  until stop == nil
  return lines, at, rows
end

--- `text` on one line: line ends become blanks, at most `limit` characters, a cut ends with `…`.
---@param text string
---@param limit? integer
---@return string
function M.one_line(text, limit)
  limit = limit or 200
  local line = vim.trim((M.safe(text:sub(1, limit * 4)):gsub('%s+', ' ')))
  if vim.fn.strchars(line) <= limit then
    return line
  end
  return vim.fn.strcharpart(line, 0, limit - 1) .. '…'
end

--- `path` relative to the folder `root` if it lies inside, else with `~` for the home folder; safe, on one line.
---@param path string
---@param root? string
---@return string
function M.short_path(path, root)
  if root and vim.startswith(path, root:gsub('/$', '') .. '/') then
    return M.one_line(path:sub(#root:gsub('/$', '') + 2))
  end
  return M.one_line(vim.fn.fnamemodify(path, ':~'))
end

--- `count` and a noun.
---@param count integer
---@param noun string
---@return string
function M.count(count, noun)
  return ('%d %s%s'):format(count, noun, count == 1 and '' or 's')
end

return M
