"""Signing in: every shape of method is read, an agent signs in when asked, and one that forgets is started anew."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from sidekicks_bridge.agents.errands import Errands
from sidekicks_bridge.agents.sign_in import read_offers, terminal_command
from sidekicks_bridge.protocol.errors import SidekicksError
from tests.agents.test_bad import still_answers
from tests.agents.world import Spec, fake, world

if TYPE_CHECKING:
    from pathlib import Path

ALL = "--auth agent,terminal,env_var,bogus --auth-required new"


def offer(**fields: Any) -> Any:
    return read_offers({"authMethods": [{"id": "x", **fields}]})[0]


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, "agent"),
        ({"type": None}, "agent"),
        ({"type": 5}, "agent"),
        ({"type": "agent"}, "agent"),
        ({"type": "terminal"}, "terminal"),
        ({"_meta": {"terminal-auth": {"command": "x"}}}, "terminal"),
        ({"_meta": {"terminal-auth": 5}}, "agent"),
        ({"type": "env_var"}, "envVar"),
        ({"type": "passkey"}, "other"),
    ],
)
def test_the_kinds(fields: dict[str, Any], kind: str) -> None:
    assert offer(**fields).method.kind == kind


@pytest.mark.parametrize("raw", [None, 5, {}, [], [{}], [5], [{"id": 5}], {"authMethods": None}])
def test_what_is_no_list_of_methods(raw: Any) -> None:
    assert read_offers({"authMethods": raw}) == []


def test_variables_of_both_shapes() -> None:
    new = offer(type="env_var", vars=[{"name": "A", "label": "The A", "secret": False, "optional": True}, {"no": 1}])
    (variable,) = new.method.variables
    assert (variable.name, variable.label, variable.secret, variable.optional) == ("A", "The A", False, True)
    (old,) = offer(type="env_var", varName="B").method.variables
    assert (old.name, old.secret) == ("B", True)


def test_the_command_for_a_terminal(tmp_path: Path) -> None:
    spec = Spec(name="bob", command=sys.executable, args=["own"], env={"A": "1", "B": "1"})
    method = offer(type="terminal", args=["--login", 5], env={"B": "2", "C": 3})
    command = terminal_command(method, spec, str(tmp_path))
    assert command.program == sys.executable
    assert command.args == ["own", "--login"]
    assert command.env == {"A": "1", "B": "2"}
    listed = terminal_command(offer(type="terminal", env=[{"name": "D", "value": "4"}]), spec, str(tmp_path))
    assert listed.env["D"] == "4"
    zed = offer(_meta={"terminal-auth": {"command": "/bin/login", "args": ["-x"], "env": {"E": "5"}}})
    whole = terminal_command(zed, spec, str(tmp_path))
    assert (whole.program, whole.args, whole.env["E"]) == ("/bin/login", ["-x"], "5")
    assert terminal_command(offer(type="terminal", args=5), spec, str(tmp_path)).args == ["own"]
    with pytest.raises(SidekicksError, match="not found"):
        terminal_command(method, Spec(name="bob", command="no-such"), str(tmp_path))


def test_of_two_commands_for_a_terminal_the_one_of_the_protocol_counts(tmp_path: Path) -> None:
    """Kimi puts `login` beside its program there, Qoder calls the bare interpreter: only ACP's own arguments work."""
    spec = Spec(name="bob", command=sys.executable, args=["acp"])
    zed = {"terminal-auth": {"command": "/usr/bin/node", "args": ["login"], "env": {"A": "1"}}}
    command = terminal_command(offer(type="terminal", args=["--login"], _meta=zed), spec, str(tmp_path))
    assert (command.program, command.args, command.env) == (sys.executable, ["acp", "--login"], {})


def test_a_bare_name_for_a_terminal_is_looked_for_beside_the_agent(tmp_path: Path) -> None:
    beside = tmp_path / "opencode"
    beside.write_text("", encoding="utf-8")
    beside.chmod(0o755)
    method = offer(_meta={"terminal-auth": {"command": "opencode", "args": ["auth", "login"]}})
    assert terminal_command(method, Spec(name="bob", command=str(beside)), str(tmp_path)).program == str(beside)
    assert terminal_command(method, Spec(name="bob", command=sys.executable), str(tmp_path)).program == "opencode"


@pytest.mark.anyio
async def test_an_agent_signs_in_when_asked(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(f"{ALL} --caps logout"))
        errands = Errands(w.manager)
        assert errands.sign_in_methods("fake") == []
        assert not errands.can_log_out("fake")
        assert (await w.fails("hi")).code == "agentAuthRequired"
        assert [method.id for method in errands.sign_in_methods("fake")] == ["agent", "terminal", "env_var"]
        assert errands.can_log_out("fake")
        await errands.authenticate("fake", "agent")
        await still_answers(w)
        await errands.log_out("fake")
        assert (await w.fails("hi", channel="c2")).code == "agentAuthRequired"
        starts = [state for _, state, _ in w.sink.states].count("starting")
        assert starts == 1


@pytest.mark.anyio
async def test_what_goes_wrong_is_said(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(f"{ALL} --error authenticate=-32603:denied"))
        errands = Errands(w.manager)
        with pytest.raises(SidekicksError, match="could not sign you in: denied"):
            await errands.authenticate("fake", "agent")
        with pytest.raises(SidekicksError, match="does not offer to sign out"):
            await errands.log_out("fake")
        assert errands.sign_in_command("fake", "agent", str(tmp_path)) is None
        command = errands.sign_in_command("fake", "terminal", str(tmp_path))
        assert command is not None
        assert command.args[-1] == "--login"


@pytest.mark.anyio
async def test_an_agent_that_forgets_that_it_signed_in_is_started_anew_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake(f"{ALL} --auth-stale"))
        await Errands(w.manager).authenticate("fake", "agent")
        assert (await w.fails("hi")).code == "agentAuthRequired"
        assert [state for _, state, _ in w.sink.states].count("starting") == 2
        assert (await w.fails("hi")).code == "agentAuthRequired"
        assert [state for _, state, _ in w.sink.states].count("starting") == 2, "the new one never signed in"


@pytest.mark.anyio
async def test_a_stored_session_is_not_given_up_for_want_of_signing_in(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.configure(fake("--auth agent --auth-required load --caps load --sessions old"))
        with pytest.raises(SidekicksError) as caught:
            async with w.session(stored="old"):
                pass
        assert caught.value.code == "agentAuthRequired"
