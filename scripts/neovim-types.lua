-- nvim --headless --clean -l scripts/neovim-types.lua EMMYLUA_LS FOLDER: checks the LuaCATS types of every Lua file in
-- the folder with a language server, prints what is wrong, fails if anything is.
local server, folder = arg[1], vim.fs.normalize(vim.fn.fnamemodify(arg[2], ':p')):gsub('/$', '')
vim.env.VIMRUNTIME = vim.env.VIMRUNTIME
local id = vim.lsp.start({
  name = 'types',
  cmd = { server },
  root_dir = folder,
  workspace_folders = { { name = 'plugin', uri = vim.uri_from_fname(folder) } },
}, { attach = false })
local client = assert(id and vim.lsp.get_client_by_id(id), 'the language server did not start')
assert(
  vim.wait(60000, function()
    return client.initialized
  end, 10),
  'the language server did not answer'
)
local wrong = 0
for _, path in ipairs(vim.fn.glob(folder .. '/**/*.lua', true, true)) do
  local buf = vim.fn.bufadd(path)
  vim.fn.bufload(buf)
  vim.bo[buf].filetype = 'lua'
  vim.lsp.buf_attach_client(buf, client.id)
  local params = { textDocument = { uri = vim.uri_from_bufnr(buf) } }
  local answer = client:request_sync('textDocument/diagnostic', params, 60000, buf)
  for _, item in ipairs(answer and answer.result and answer.result.items or {}) do
    wrong = wrong + 1
    local place = ('%s:%d:%d'):format(
      vim.fs.relpath(folder, path),
      item.range.start.line + 1,
      item.range.start.character + 1
    )
    print(('%s %s [%s]'):format(place, item.message:gsub('\n', ' '), tostring(item.code)))
  end
end
client:stop(true)
print(wrong == 0 and 'types are right' or wrong .. ' problems')
os.exit(wrong == 0 and 0 or 1)
