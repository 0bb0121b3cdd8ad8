-- LuaJIT inside Neovim; the line length and all spacing are stylua's business.
std = "luajit"
globals = { "vim" }
max_line_length = false
exclude_files = { "lua/sidekicks/protocol.lua" }
