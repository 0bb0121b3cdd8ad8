---@meta
--- The few functions of libuv that the plugin uses, for the type check: Neovim's runtime does not describe them.

---@class uv.uv_timer_t
---@field start fun(self: uv.uv_timer_t, timeout: integer, again: integer, callback: fun())
---@field stop fun(self: uv.uv_timer_t)

---@class sidekicks.uv
---@field now fun(): integer
---@field hrtime fun(): integer
---@field new_timer fun(): uv.uv_timer_t?
---@field fs_realpath fun(path: string): string?
---@field os_getpid fun(): integer

---@type sidekicks.uv
vim.uv = vim.uv
