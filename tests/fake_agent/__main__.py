"""Start a fake agent: ``python -m tests.fake_agent`` or by the path of this file, from any folder.

It owns the order of a start (log, children, noise, gate, serving) and the end; what an agent does is
elsewhere.
"""

from __future__ import annotations

import os
import signal
import sys
import time

if not __package__:  # run by path: the package is two folders up, and this folder must not shadow modules
    here = __file__.rpartition(os.sep)[0]
    sys.path[:] = [here.rsplit(os.sep, 2)[0], *(folder for folder in sys.path if folder != here)]

from tests.fake_agent import (  # noqa: F401 - they register their directives
    ask,
    bad_content,
    bad_shapes,
    mcp,
    talk,
    tools,
    trouble,
)
from tests.fake_agent.agent import Agent, serve
from tests.fake_agent.gates import Gates
from tests.fake_agent.log import Recorder
from tests.fake_agent.options import Options, from_environment
from tests.fake_agent.wire import Wire

BANNER = b"Fake agent v1.0 \xe2\x80\x94 ready\n\n\x1b[32mok\x1b[0m\n\x1b]0;fake agent\x07\nUpdate available: 1.1\n"
STUBBORN_LIFE = 120.0  # seconds with --ignore-eof: a failed test must not leave the agent for ever


def main() -> None:
    try:
        options = from_environment(sys.argv[1:])
    except ValueError as error:
        sys.stderr.write(f"fake agent: {error}\n")
        sys.exit(2)
    if options.login:
        log_in()
        return
    recorder = Recorder(os.environ.get("FAKE_AGENT_LOG", ""), options.name)
    recorder.start()
    prefix = b"\x1b]0;fake agent\x07" if options.osc_prefix else b""
    wire = Wire(recorder, string_ids=options.string_ids, prefix=prefix)
    before_serving(options, recorder, wire)
    serve(Agent(options, recorder, wire))
    if options.ignore_eof:
        time.sleep(STUBBORN_LIFE)
    os._exit(0)  # turns may still run on their threads; nothing is left to flush


def before_serving(options: Options, recorder: Recorder, wire: Wire) -> None:
    """What happens before the first message is read."""
    if options.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.stderr:
        sys.stderr.write(options.stderr + "\n")
        sys.stderr.flush()
    if options.exit >= 0:
        os._exit(options.exit)
    if options.spawn_child:
        from tests.fake_agent.children import spawn  # only here: it imports subprocess

        spawn(options.spawn_child, recorder)
    if options.banner:
        wire.raw(BANNER)
    parent = os.getppid()
    while options.noise and os.getppid() == parent:
        wire.raw(b"still loading the model, please wait\n" * 100)
        time.sleep(0.005)
    if options.slow_start:
        recorder.write("holding", gate=options.slow_start)
        Gates(os.environ.get("FAKE_AGENT_GATES", "")).wait(options.slow_start)


def log_in() -> None:
    """What the terminal sign-in method runs: leave the credentials that the next start finds."""
    file = os.environ["FAKE_AGENT_CREDENTIALS"]
    os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
    sys.stdout.write("Signed in.\n")


if __name__ == "__main__":
    main()
