-- The composer of a channel.
local buf = vim.api.nvim_get_current_buf()
require('sidekicks.keymaps').set_composer(buf)
vim.bo[buf].textwidth = 0
vim.bo[buf].commentstring = ''
vim.b[buf].undo_ftplugin = 'setlocal textwidth< commentstring< | lua require("sidekicks.keymaps").clear(0)'
