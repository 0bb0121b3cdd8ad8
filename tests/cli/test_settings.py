"""Setting an agent's options in the terminal client."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from tests.fake_agent import command

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


def test_the_picker_of_options(desk: Desk) -> None:
    program, *args = command("--name", "fake", "--config-options", "grouped,boolean")
    config = desk.folder / "c.yaml"
    config.write_text(json.dumps({"agents": [{"name": "fake", "command": program, "args": args}]}), encoding="utf-8")
    desk.env["SIDEKICKS_CONFIG"] = str(config)
    chat = desk.open(desk.sidekicks("chat", "@fake"))
    try:
        chat.wait_for("F1 keys")
        chat.send("hello")
        chat.wait_for("fake heard: hello")
        chat.key("ctrl-g")
        chat.wait_for("fake: Web search is off")
        chat.type("model")
        chat.wait_for(lambda text: "Web search" not in text)
        chat.key("enter")
        chat.wait_for("Large  Strong")
        chat.type("large")
        chat.wait_for(lambda text: "Medium" not in text)
        chat.key("enter")
        chat.wait_for("fake: model is large now.")
        chat.key("ctrl-g")
        chat.wait_for("fake: Model is Large")
        chat.type("web")
        chat.wait_for(lambda text: "Model is" not in text)
        chat.key("enter")
        chat.wait_for("fake: web is on now.")
    finally:
        subprocess.run(desk.sidekicks("stop"), env=desk.env, cwd=desk.folder, capture_output=True, check=True)
