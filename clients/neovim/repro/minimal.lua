-- For reports: nvim --clean -u repro/minimal.lua, from the plugin's folder. Nothing but Neovim and this plugin.
vim.opt.runtimepath:prepend(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h'))
vim.g.sidekicks = {}
