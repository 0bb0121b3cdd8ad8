-- The transcript of a channel.
local buf = vim.api.nvim_get_current_buf()
require('sidekicks.keymaps').set_transcript(buf)
vim.b[buf].undo_ftplugin = 'lua require("sidekicks.keymaps").clear(0)'
