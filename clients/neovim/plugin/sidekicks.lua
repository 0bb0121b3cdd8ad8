-- What is loaded at start: the command, the <Plug> maps, the `sidekicks://` buffers. Everything else is required when
-- it is used, so that starting Neovim costs nothing.
if vim.g.loaded_sidekicks then
  return
end
vim.g.loaded_sidekicks = 1

vim.api.nvim_create_user_command('Sidekicks', function(given)
  require('sidekicks.commands').run(given)
end, {
  nargs = '*',
  range = true,
  desc = 'Channels of coding agents: :Sidekicks #general, :Sidekicks @scout, :Sidekicks {verb}',
  complete = function(lead, line)
    return require('sidekicks.commands').complete(lead, line)
  end,
})

local group = vim.api.nvim_create_augroup('sidekicks', {})
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'sidekicks://*',
  nested = true,
  callback = function(event)
    require('sidekicks.buffers').read(event.buf)
  end,
})
vim.api.nvim_create_autocmd('FileType', {
  group = group,
  callback = function(event)
    local given = vim.g.sidekicks
    if type(given) == 'function' or type(given) == 'table' and given.complete_in then
      require('sidekicks.completion').ordinary(event.buf)
    end
  end,
})
-- A session names these buffers with `:file`, which tells so and then wants a key; the session resets 'shortmess' itself.
vim.api.nvim_create_autocmd('BufFilePost', {
  group = group,
  pattern = 'sidekicks://*',
  callback = function()
    if vim.g.SessionLoad then
      vim.opt.shortmess:append('F')
    end
  end,
})
vim.api.nvim_create_autocmd('SessionLoadPost', {
  group = group,
  nested = true,
  callback = function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.startswith(vim.api.nvim_buf_get_name(buf), 'sidekicks://') then
        require('sidekicks.buffers').restore()
        return
      end
    end
  end,
})

---@param name string after `Sidekicks` in the map's name
---@param modes string[]
---@param words string[] the words of the `:Sidekicks` command
---@param desc string
local function plug(name, modes, words, desc)
  vim.keymap.set(modes, '<Plug>(Sidekicks' .. name .. ')', function()
    require('sidekicks.commands').press(words)
  end, { desc = 'Sidekicks: ' .. desc })
end

plug('Pick', { 'n' }, { 'pick' }, 'pick a channel')
plug('Toggle', { 'n' }, { 'toggle' }, 'show or hide the channel')
plug('Attention', { 'n' }, { 'attention' }, 'go to what waits for you')
plug('Allow', { 'n' }, { 'allow' }, 'allow what an agent asks for, once')
plug('AllowAlways', { 'n' }, { 'allow', 'always' }, 'allow it from now on')
plug('Reject', { 'n' }, { 'reject' }, 'reject what an agent asks for')
plug('Answer', { 'n' }, { 'answer' }, 'give an agent what it asks for beside permission')
plug('Send', { 'n', 'i' }, { 'send' }, 'send the message')
plug('Cancel', { 'n' }, { 'cancel' }, 'cancel the running turn')
plug('Add', { 'n', 'x' }, { 'add' }, 'send this buffer or these lines along')
plug('Actions', { 'n' }, { 'actions' }, 'what can be done with this')
plug('Open', { 'n' }, { 'goto' }, 'go to the file, toggle the fold')
plug('Next', { 'n' }, { 'next' }, 'next message')
plug('Previous', { 'n' }, { 'previous' }, 'previous message')
plug('HistoryPrevious', { 'n', 'i' }, { 'history', 'previous' }, 'what you sent before')
plug('HistoryNext', { 'n', 'i' }, { 'history', 'next' }, 'what you sent after that')
