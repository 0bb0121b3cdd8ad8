--- The highlight groups, as links that a colour scheme or a person may set otherwise.
local M = {}

---@type table<string, string>
M.links = {
  SidekicksTitle = 'Title',
  SidekicksHead = 'CursorLine',
  SidekicksUser = 'Title',
  SidekicksPeer = 'Identifier',
  SidekicksAgent1 = 'Function',
  SidekicksAgent2 = 'Constant',
  SidekicksAgent3 = 'Type',
  SidekicksAgent4 = 'Special',
  SidekicksAgent5 = 'Statement',
  SidekicksAgent6 = 'PreProc',
  SidekicksMeta = 'Comment',
  SidekicksThought = 'Comment',
  SidekicksTool = 'Normal',
  SidekicksPath = 'Directory',
  SidekicksCode = '@markup.raw',
  SidekicksOutput = 'Comment',
  SidekicksAdded = 'Added',
  SidekicksRemoved = 'Removed',
  SidekicksRunning = 'DiagnosticInfo',
  SidekicksOk = 'DiagnosticOk',
  SidekicksWarning = 'DiagnosticWarn',
  SidekicksError = 'DiagnosticError',
  SidekicksNotice = 'DiagnosticInfo',
  SidekicksNew = 'DiagnosticHint',
  SidekicksPermission = 'ColorColumn',
  SidekicksKey = 'Special',
}

function M.define()
  for name, link in pairs(M.links) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

return M
