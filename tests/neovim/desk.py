"""Where the editor tests work: a bridge's files, Neovims on it, and a test's hold on one channel in one of them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.neovim.editor import Editor
from tests.support.sandbox import REPOSITORY, BridgeSandbox

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLUGIN = REPOSITORY / "clients" / "neovim"


class Chat:
    """A channel in an editor. ``slug``: `general`, `@scout`."""

    def __init__(self, editor: Editor, slug: str) -> None:
        self.editor = editor
        self.uri = f"sidekicks://{slug}"

    def lines(self) -> list[str]:
        """The transcript's lines."""
        return self.editor.buffer(self.uri)

    def text(self) -> str:
        """The transcript."""
        return "\n".join(self.lines())

    def composer(self) -> str:
        """What stands in the composer."""
        return "\n".join(self.editor.buffer(f"{self.uri}/compose"))

    def type(self, text: str) -> None:
        """Type text as it is: no key notation."""
        self.editor.keys(text.replace("<", "<lt>").replace("\n", "<CR>"))

    def say(self, text: str) -> None:
        """Type a message into the composer and send it."""
        self.type(text)
        self.editor.keys("<C-s>")
        self.editor.until(lambda: self.composer() == "", "the composer is empty")

    def heard(self, text: str) -> str:
        """Wait until the transcript has the text; the transcript."""
        self.editor.until(lambda: text in self.text(), f"{text!r} in {self.uri}:\n{self.text()}")
        return self.text()

    def gone(self, text: str) -> str:
        """Wait until the transcript has the text no more; the transcript."""
        self.editor.until(lambda: text not in self.text(), f"no {text!r} in {self.uri}")
        return self.text()

    def quiet(self) -> None:
        """Wait until no turn is left here."""
        self.editor.until(lambda: self.room("#room.snapshot.turns") == 0, "no turn is left")

    def room(self, expression: str) -> Any:
        """The value of a Lua expression about ``room``; None while the channel is not open."""
        code = f"""for _, room in pairs(require('sidekicks.state').rooms) do
                     if require('sidekicks.names').uri(room:channel()) == ... then return {expression} end
                   end"""
        return self.editor.lua(code, self.uri)

    def ask(self, text: str, answer: str) -> str:
        """Send, wait for the answer's text and the end of all turns; the transcript."""
        self.say(text)
        self.heard(answer)
        self.quiet()
        return self.text()

    def up(self) -> None:
        """Go to the transcript, in normal mode, to its last line."""
        self.editor.keys("<Esc><C-w>kG")
        self.editor.until(lambda: self.editor.mode() == "n" and self.editor.name() == self.uri, "the transcript")

    def down(self) -> None:
        """Go to the composer and begin typing."""
        self.editor.keys("<Esc><C-w>jA")
        self.editor.until(lambda: self.editor.mode() == "i", "the composer")

    def ripe(self) -> None:
        """Wait until no permission card is inert any more: by Neovim's clock, which the plugin reads."""
        self.editor.lua("vim.g.ripe = vim.uv.now() + 520")
        self.editor.until(lambda: self.editor.lua("vim.uv.update_time() return vim.uv.now() > vim.g.ripe"))

    def find(self, text: str) -> None:
        """Put the cursor of the transcript on a line with the text; `up` first."""
        self.editor.keys(f"gg/\\V{text}<CR>")


class Desk:
    """A bridge's files, and the editors opened on it."""

    _channels = 0

    def __init__(self, box: BridgeSandbox) -> None:
        self.box = box
        self.editors: list[Editor] = []
        self._owner: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """The bridge's command line."""
        return [sys.executable, "-m", "sidekicks_bridge", "serve", "--config", str(self.box.config_path)]

    def start(self) -> None:
        """Start a bridge that stays: what editors start then only relays, which is quick."""
        self._owner = subprocess.Popen(
            self.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.box.environment(),
        )
        assert self._owner.stdin is not None
        assert self._owner.stdout is not None
        params: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
        self._owner.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._owner.stdin.flush()
        assert self._owner.stdout.readline().startswith(b"Content-Length")

    def open(
        self,
        *arguments: str,
        settings: Mapping[str, Any] | None = None,
        init: str = "",
        size: tuple[int, int] = (110, 34),
        cwd: Path | None = None,
    ) -> Editor:
        """A Neovim with the plugin, set up by ``settings``; ``init`` is Lua that runs before plugins are loaded."""
        folder = self.box.folder
        given = json.dumps({"cmd": self.command(), **(settings or {})})
        script = folder / f"init-{len(self.editors)}.lua"
        script.write_text(
            f"vim.opt.runtimepath:prepend({json.dumps(str(PLUGIN))})\n"
            "vim.opt.swapfile, vim.o.shortmess = false, vim.o.shortmess .. 'I'\n"
            "vim.g.loaded_python3_provider = 0\n"  # looking for it takes seconds
            f"vim.g.sidekicks = vim.json.decode({json.dumps(given)})\n{init}\n",
            encoding="utf-8",
        )
        home = {f"XDG_{name}_HOME": str(folder / "home") for name in ("DATA", "STATE", "CACHE")}
        env = {**self.box.environment(), **home, "TZ": "UTC", "NVIM_LOG_FILE": str(folder / "nvim.log")}
        start = ["--clean", "-i", "NONE", "-u", str(script), *arguments]
        editor = Editor(start, env, cwd or self.box.workspace, size)
        self.editors.append(editor)
        return editor

    def connected(self, **options: Any) -> Editor:
        """A Neovim with the plugin that knows the bridge's state; nothing is shown yet."""
        editor = self.open(**options)
        self.connect(editor)
        return editor

    def connect(self, editor: Editor) -> None:
        """Wait until an editor knows the bridge's state."""
        editor.lua("require('sidekicks.session').ready(function() vim.g.is_ready = true end)")
        editor.until(lambda: editor.lua("return vim.g.is_ready"), "the bridge is ready")

    def chat(self, *members: str, name: str | None = None, editor: Editor | None = None, **options: Any) -> Chat:
        """A new channel with these members (by default alice and bob), open in an editor with its composer entered."""
        editor = editor or self.connected(**options)
        if name is None:
            Desk._channels += 1
            name = f"room-{Desk._channels}"
            root = str(self.box.workspace)
            self.request(editor, "channel/create", name=name, members=list(members or ("alice", "bob")), root=root)
        mark = "" if name.startswith("@") else "#"
        editor.keys(f"<Esc>:Sidekicks {mark}{name}<CR>")
        chat = Chat(editor, name)
        wanted = f"{chat.uri}/compose"
        editor.until(lambda: editor.mode() == "i" and editor.name() == wanted, f"the composer of {name}")
        return chat

    def request(self, editor: Editor, method: str, **params: Any) -> Any:
        """A request of the protocol from inside an editor, answered."""
        editor.lua(
            """local method, params = ...
               vim.g.answered = nil
               require('sidekicks.client').request('sidekicks/' .. method, params, function(err, result)
                 vim.g.answered = { err = err and err.message, result = result }
               end)""",
            method,
            params,
        )
        answer = editor.until(lambda: editor.lua("return vim.g.answered"), f"the answer to {method}")
        assert "err" not in answer, answer
        return answer.get("result")

    def calm(self) -> None:
        """Cancel every turn that a test left behind, so that the next finds its agents idle."""
        loaded = "return package.loaded['sidekicks.client'] and require('sidekicks.client').lsp() ~= nil"
        connected = [editor for editor in self.editors if editor.process.poll() is None and editor.lua(loaded)]
        if self._owner is None or not connected:
            return
        editor = connected[0]
        code = """local busy = {}
                  for _, turn in ipairs(...) do busy[turn.channelId] = true end
                  for id in pairs(busy) do
                    require('sidekicks.client').request('sidekicks/turn/cancel', { channelId = id })
                  end
                  return next(busy) == nil"""
        editor.until(lambda: editor.lua(code, self.request(editor, "state/get")["turns"]), "all turns have ended")

    def close_editors(self) -> None:
        """End all Neovims."""
        while self.editors:
            self.editors.pop().close()

    def close(self) -> None:
        """End everything."""
        self.close_editors()
        if self._owner is not None:
            assert self._owner.stdin is not None
            assert self._owner.stdout is not None
            self._owner.stdin.close()
            self._owner.stdout.close()
            self._owner.wait(10)
