--- The highlight groups, as links that a colour scheme or a person may set otherwise.
local M = {}

---@type table<string, string>
M.links = {
  SidekicksTitle = 'Title',
  SidekicksHead = 'CursorLine',
  SidekicksUser = 'Title',
  SidekicksPeer = 'Identifier',
  SidekicksAgent1 = 'Function',
  SidekicksAgent2 = 'String',
  SidekicksAgent3 = 'DiagnosticHint',
  SidekicksAgent4 = 'DiagnosticWarn',
  SidekicksAgent5 = 'Question',
  SidekicksAgent6 = 'Identifier',
  SidekicksMeta = 'Comment',
  SidekicksThought = 'Comment',
  SidekicksTool = '@markup.strong',
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
  SidekicksPermissionCard = 'CursorLine',
  SidekicksKey = 'Special',
}

function M.define()
  for name, link in pairs(M.links) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

return M
