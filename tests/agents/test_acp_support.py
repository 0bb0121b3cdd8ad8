"""What is served of ACP: the page that says so, held against the code; and where each thing that goes wrong is tested.

Each row: what a complete client must do or what real clients got wrong → the test that shows it here.

- initialize: version, capabilities
  → tests/agents/test_sessions.py::test_what_an_agent_is_told
- initialize: another version
  → tests/agents/test_start.py::test_an_agent_that_is_not_acp
- capabilities missing or of the wrong type
  → tests/agents/test_sessions.py::test_a_stored_session_that_cannot_be_taken_up
- auth: the three kinds
  → tests/e2e/test_sign_in.py::test_the_channel_says_what_is_needed_and_the_agent_does_it
- auth: terminal, then a new process
  → tests/e2e/test_sign_in.py::test_a_method_for_the_terminal
- auth: variables
  → tests/e2e/test_sign_in.py::test_a_method_by_variables
- auth: success but stale, one retry
  → tests/agents/test_sign_in.py::test_an_agent_that_forgets_that_it_signed_in_is_started_anew_once
- session/new: absolute cwd, mcpServers always an array
  → tests/agents/test_sessions.py::test_what_an_agent_is_told
- MCP servers by capability
  → tests/e2e/test_attachments.py::test_servers_are_passed_on_by_what_is_taken
- load: replay is not live output
  → tests/agents/test_sessions.py::test_a_stored_session_is_loaded_without_its_replay
- load, resume: fail in every way
  → tests/agents/test_sessions.py::test_a_stored_session_that_cannot_be_taken_up
- list, delete: pages, capability lies
  → tests/agents/test_elicitation.py::test_the_sessions_that_an_agent_remembers
- close
  → tests/agents/test_sessions.py::test_closing_tells_an_agent_that_wants_to_know
- prompt blocks by capability
  → tests/e2e/test_attachments.py::test_an_image_file_counts_and_others_are_embedded_or_linked
- one prompt in flight
  → tests/agents/test_sessions.py::test_one_prompt_at_a_time
- stop reasons, unknown ones
  → tests/agents/test_bad.py::test_odd_answers_end_the_turn
- updates of every kind, unknown ones kept
  → tests/agents/test_edge.py::test_any_update_is_translated
- tool content, agents' own terminals
  → tests/agents/test_edge.py::test_terminal_text_costs_what_it_is_long
- permission without a tool call, unknown kinds
  → tests/agents/test_cancel.py::test_odd_permissions_reach_the_user
- cancel: open permissions are answered
  → tests/agents/test_cancel.py::test_cancel_answers_open_permissions
- cancel: bounded wait, then kill
  → tests/agents/test_cancel.py::test_an_ignored_cancel_ends_the_process
- $/cancel_request from the agent
  → tests/agents/test_cancel.py::test_the_agent_withdraws_a_question
- $/cancel_request of ours
  → tests/agents/test_elicitation.py::test_a_request_that_nobody_waits_for_is_cancelled
- modes, models
  → tests/agents/test_sessions.py::test_modes_and_models
- options: grouped, boolean, unknown; preferred
  → tests/agents/test_sessions.py::test_options_of_every_shape
- a refused setting is shown
  → tests/e2e/test_settings.py::test_a_choice_that_is_no_longer_offered_is_said_once
- fs: buffers first, windows, parents, missing files
  → tests/agents/test_files.py::test_reading_and_writing_through_the_bridge
- elicitation: form, url, complete
  → tests/agents/test_elicitation.py::test_a_form_is_filled_in
- unknown requests are answered
  → tests/agents/test_acp_support.py::test_what_is_not_served_is_refused_in_words
- slash commands before, after, later
  → tests/agents/test_sessions.py::test_commands_around_the_answer_to_session_new
- permission card lost under tool updates
  → tests/e2e/test_scenarios.py::test_a_tool_call_goes_on_while_its_permission_waits
- sub-agent asks under an unknown session
  → tests/agents/test_bad.py::test_wire_and_contents
- limbo after cancel
  → tests/e2e/test_scenarios_cancel.py::test_cancel_and_send_at_once
- permission leaks after stop
  → tests/e2e/test_scenarios.py::test_cancel_while_a_permission_waits
- tool call not found; shown twice
  → tests/agents/test_bad.py::test_wire_and_contents
- garbled text
  → tests/agents/test_turn.py::test_twenty_thousand_chunks_in_order
- last chunk missing
  → tests/agents/test_edge.py::test_text_survives_any_noise_in_any_blocks
- updates after the end
  → tests/e2e/test_scenarios.py::test_what_comes_after_the_answer_is_a_message_of_its_own
- stuck in the handshake
  → tests/agents/test_start.py::test_an_agent_that_exits_at_once
- banner, escapes, non-objects
  → tests/agents/test_start.py::test_banner_and_escapes_before_the_first_frame
- large tool output
  → tests/agents/test_processes.py::test_ten_megabytes_in_one_line
- chatty commands, growing output
  → tests/e2e/test_scenarios.py::test_output_that_grows_costs_what_changed
- orphans
  → tests/agents/test_processes.py::test_a_killed_wrapper_leaves_nothing_and_fails_its_turn_at_once
- resume fails hard
  → tests/e2e/test_rules_restart.py::test_without_its_session_an_agent_is_told_everything
- cancelled turn looks finished
  → tests/e2e/test_scenarios_cancel.py::test_an_agent_that_ends_a_cancelled_turn_as_if_nothing_was
- environment trimmed, npm variables
  → tests/agents/test_processes.py::test_what_an_agent_finds_in_its_environment
- newlines in titles
  → tests/agents/test_sessions.py::test_titles_are_one_line_that_hides_nothing
- prompt never settles
  → tests/e2e/test_rules_agents.py::test_a_silent_agent_is_asked_about
- ids forged through _meta
  → tests/agents/test_cancel.py::test_odd_permissions_reach_the_user
- much on stderr
  → tests/agents/test_processes.py::test_much_on_stderr_blocks_nothing
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sidekicks_bridge.agents.acp_client import CLIENT_CAPABILITIES
from sidekicks_bridge.agents.translate import session_update
from tests.agents.world import world

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "acp-support.md").read_text(encoding="utf-8")
ROWS = re.findall(r"→ (tests/[\w/]+\.py)::(\w+)", __doc__)


def table(section: str) -> list[str]:
    """The names in the first column of a section's table."""
    part = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE)


def test_every_row_has_its_test() -> None:
    assert len(ROWS) > 45
    missing = [
        f"{path}::{name}"
        for path, name in ROWS
        if not re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert missing == []


def test_the_page_names_every_method_that_is_asked() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sidekicks_bridge" / "agents").glob("*.py"))
    literals = set(re.findall(r'"((?:session/[a-z_]+|initialize|authenticate|logout|\$/cancel_request))"', sources))
    ours = literals - {"session/update", "session/request_permission"}
    assert ours == set(table("What the bridge asks of an agent"))


def test_the_page_names_every_method_that_is_served() -> None:
    source = (ROOT / "sidekicks_bridge" / "agents" / "acp_client.py").read_text(encoding="utf-8")
    served = set(re.findall(r'"((?:session|fs|terminal|elicitation)/[a-z_]+)"', source))
    notified = {"elicitation/complete", "session/update"}
    assert served - notified == set(table("What an agent may ask of the bridge"))
    assert CLIENT_CAPABILITIES["terminal"] is False
    assert CLIENT_CAPABILITIES["elicitation"] == {"form": {}, "url": {}}


def test_the_page_names_every_update() -> None:
    source = (ROOT / "sidekicks_bridge" / "agents" / "translate.py").read_text(encoding="utf-8")
    cases = source.partition("match kind:")[2].partition("return other_update(kind, update)\n\n")[0]
    known = set(re.findall(r'"(\w+_(?:chunk|update)|tool_call|plan)"', cases))
    assert known == set(table("Session updates"))
    assert type(session_update({"sessionUpdate": "compaction_update"})).__name__ == "OtherUpdate"


def test_the_page_names_what_is_not_used() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sidekicks_bridge" / "agents").glob("*.py"))
    unused = PAGE.partition("\nNot used: ")[2].partition("\n\n")[0]
    names = re.findall(r"`([\w/*]+)`", unused)
    assert names == ["session/fork", "providers/*", "nes/*", "document/*", "additionalDirectories"]
    assert [name for name in names if name.rstrip("*") in sources] == []


@pytest.mark.anyio
async def test_what_is_not_served_is_refused_in_words(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.ask('!request terminal/create {"command":"ls"} !request _own/thing !request nes/start')
        assert w.sink.text().count("error -32601 Method not found: ") == 3
