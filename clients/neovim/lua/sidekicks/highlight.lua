--- Markdown highlighting of finished blocks, once each, from a string parser: a highlighter on the whole buffer would
--- parse a long channel again with every word that arrives. Work is done newest first, in slices.
local M = {}

M.namespace = vim.api.nvim_create_namespace('sidekicks.markdown')

local SLICE_NS = 6e6
local SKIPPED = { spell = true, nospell = true, none = true, conceal = true }

---@class sidekicks.HighlightJob
---@field buf integer
---@field row fun(): integer? where the rows begin now; nil: they are gone
---@field lines string[]

---@type sidekicks.HighlightJob[]
local jobs = {}
local running = false
---@type table<string, vim.treesitter.Query|false>
local queries = {}

---@param lang string
---@return vim.treesitter.Query|false
local function query_of(lang)
  if queries[lang] == nil then
    local ok, query = pcall(vim.treesitter.query.get, lang, 'highlights')
    queries[lang] = ok and query or false
  end
  return queries[lang]
end

---@param buf integer
---@param row integer
---@param source string
local function draw(buf, row, source)
  local parser = vim.treesitter.get_string_parser(source, 'markdown')
  parser:parse(true)
  parser:for_each_tree(function(tree, language)
    local lang = language:lang()
    local query = query_of(lang)
    if not query then
      return
    end
    for id, node, meta in query:iter_captures(tree:root(), source) do
      local name = query.captures[id]
      if not SKIPPED[name] and name:sub(1, 1) ~= '_' then
        local first, col, last, stop = node:range()
        vim.api.nvim_buf_set_extmark(buf, M.namespace, row + first, col, {
          end_row = row + last,
          end_col = stop,
          hl_group = ('@%s.%s'):format(name, lang),
          conceal = meta.conceal or (meta[id] and meta[id].conceal),
          priority = lang:find('^markdown') and 100 or 110,
          strict = false,
        })
      end
    end
  end)
end

---@param job sidekicks.HighlightJob
local function run(job)
  local row = vim.api.nvim_buf_is_valid(job.buf) and job.row()
  if row then
    pcall(draw, job.buf, row, table.concat(job.lines, '\n') .. '\n')
  end
end

local function slice()
  local stop = vim.uv.hrtime() + SLICE_NS
  repeat
    local job = table.remove(jobs)
    if job == nil then
      running = false
      return
    end
    run(job)
  until vim.uv.hrtime() > stop
  vim.defer_fn(slice, 2)
end

--- Highlights rows soon.
---@param job sidekicks.HighlightJob
function M.add(job)
  jobs[#jobs + 1] = job
  if not running then
    running = true
    vim.schedule(slice)
  end
end

--- Whether nothing is left to highlight.
---@return boolean
function M.idle()
  return not running
end

return M
