"""What a complete client of ACP does (P) and what real clients got wrong (F): where each is tested here.

P1 initialize: our version, another one
  → tests/agents/test_acp_support.py::test_the_page_and_the_agent_are_told_the_same
  → tests/agents/test_start.py::test_an_agent_that_is_not_acp
  → tests/agents/test_introductions.py::test_what_an_agent_says_of_itself_is_read_tolerantly
P2 the capabilities we announce
  → tests/agents/test_acp_support.py::test_the_page_and_the_agent_are_told_the_same
P3 signing in: three kinds, at every request; logout where offered
  → tests/e2e/test_sign_in.py::test_the_channel_says_what_is_needed_and_the_agent_does_it
  → tests/e2e/test_sign_in.py::test_a_method_for_the_terminal
  → tests/e2e/test_sign_in.py::test_a_method_by_variables
  → tests/agents/test_sign_in.py::test_a_stored_session_is_not_given_up_for_want_of_signing_in
  → tests/server/test_plain_questions.py::test_signing_in
P4 session/new: an absolute folder, lists always there, MCP servers by what is taken
  → tests/agents/test_sessions.py::test_what_an_agent_is_told
  → tests/e2e/test_attachments.py::test_servers_are_passed_on_by_what_is_taken
P5 load, resume, list, close, delete: each gated, each survives a lie
  → tests/agents/test_sessions.py::test_a_stored_session_is_loaded_without_its_replay
  → tests/agents/test_sessions.py::test_a_stored_session_that_cannot_be_taken_up
  → tests/agents/test_sessions.py::test_closing_tells_an_agent_that_wants_to_know
  → tests/agents/test_elicitation.py::test_the_sessions_that_an_agent_remembers
P6 prompt blocks by what is taken; one prompt at a time
  → tests/e2e/test_attachments.py::test_an_image_file_counts_and_others_are_embedded_or_linked
  → tests/agents/test_sessions.py::test_one_prompt_at_a_time
P7 stop reasons, unknown ones, our own cancel
  → tests/agents/test_bad.py::test_odd_answers_end_the_turn
  → tests/agents/test_cancel.py::test_cancel_keeps_what_was_said_and_waits_for_the_answer
P8 updates of every kind, unknown ones kept
  → tests/agents/test_edge.py::test_any_update_is_translated
  → tests/agents/test_acp_support.py::test_the_page_names_every_update
P9 tool content, terminals that the agent owns
  → tests/agents/test_edge.py::test_any_update_is_translated
  → tests/agents/test_edge.py::test_terminal_text_costs_what_it_is_long
P10 permissions: any kinds, by id, without an announced tool call
  → tests/agents/test_cancel.py::test_odd_permissions_reach_the_user
  → tests/agents/test_cancel.py::test_a_permission_is_answered
P11 cancel: questions answered, late updates taken, unfinished tools ended, bounded
  → tests/agents/test_cancel.py::test_cancel_answers_open_permissions
  → tests/e2e/test_scenarios.py::test_cancel_while_a_permission_waits
  → tests/agents/test_cancel.py::test_an_ignored_cancel_ends_the_process
P12 $/cancel_request both ways
  → tests/agents/test_cancel.py::test_the_agent_withdraws_a_question
  → tests/agents/test_elicitation.py::test_a_request_that_nobody_waits_for_is_cancelled
P13 modes and models, options preferred
  → tests/agents/test_sessions.py::test_modes_and_models
  → tests/agents/test_sessions.py::test_options_of_every_shape
P14 files: windows of lines, unsaved text first, parents made, what is missing
  → tests/agents/test_files.py::test_reading_and_writing_through_the_bridge
  → tests/agents/test_files.py::test_windows_of_lines
P15 terminals: announced as not served, and refused
  → tests/agents/test_acp_support.py::test_what_is_not_served_is_refused_in_words
P16 forms and pages
  → tests/agents/test_elicitation.py::test_a_form_is_filled_in
  → tests/agents/test_elicitation.py::test_a_page_is_visited_or_not
  → tests/e2e/test_elicitation.py::test_a_form_outside_a_turn_has_a_message_of_its_own
P17 unknown requests answered, unknown notifications ignored
  → tests/agents/test_acp_support.py::test_what_is_not_served_is_refused_in_words
  → tests/agents/test_bad.py::test_wire_and_contents
P18 slash commands before, after and later; unknown ones go through
  → tests/agents/test_sessions.py::test_commands_around_the_answer_to_session_new
  → tests/e2e/test_rules_commands.py::test_forms_of_commands

F1 a permission lost under tool updates
  → tests/e2e/test_scenarios.py::test_a_tool_call_goes_on_while_its_permission_waits
F2 a sub-agent asks under a session nobody knows
  → tests/agents/test_bad.py::test_wire_and_contents
F3 limbo after a cancel
  → tests/e2e/test_scenarios_cancel.py::test_cancel_and_send_at_once
F4 permissions that stay after a stop
  → tests/e2e/test_scenarios.py::test_cancel_while_a_permission_waits
  → tests/agents/test_cancel.py::test_an_end_withdraws_permissions
F5 a tool call announced late or never, or without an id
  → tests/agents/test_bad.py::test_tool_calls_without_a_proper_id_are_shown
  → tests/agents/test_cancel.py::test_odd_permissions_reach_the_user
F6 one tool call shown twice
  → tests/agents/test_bad.py::test_wire_and_contents
F7 garbled text
  → tests/agents/test_turn.py::test_twenty_thousand_chunks_in_order
F8 the last chunk missing
  → tests/agents/test_edge.py::test_text_survives_any_noise_in_any_blocks
F9 updates after the end of a turn
  → tests/e2e/test_scenarios.py::test_what_comes_after_the_answer_is_a_message_of_its_own
F10 no slash commands
  → tests/agents/test_sessions.py::test_commands_around_the_answer_to_session_new
F11 stuck in the handshake
  → tests/agents/test_start.py::test_an_agent_that_exits_at_once
F12 banners, escapes, what is no object
  → tests/agents/test_start.py::test_banner_and_escapes_before_the_first_frame
  → tests/agents/test_edge.py::test_frames_glued_to_other_things
F13 large output
  → tests/agents/test_processes.py::test_ten_megabytes_in_one_line
F14 chatty commands, output that grows
  → tests/e2e/test_scenarios.py::test_output_that_grows_costs_what_changed
F15 orphans
  → tests/agents/test_processes.py::test_a_killed_wrapper_leaves_nothing_and_fails_its_turn_at_once
  → tests/agents/test_processes.py::test_a_killed_bridge_leaves_nothing
F16 history doubled by a load
  → tests/e2e/test_rules_restart.py::test_a_session_is_loaded_and_its_replay_not_shown
F17 a session that cannot be resumed, or is gone
  → tests/e2e/test_rules_restart.py::test_without_its_session_an_agent_is_told_everything
  → tests/e2e/test_lost_session.py::test_a_lost_session_is_loaded_or_told_everything
F18 new files, stale reads
  → tests/agents/test_files.py::test_reading_and_writing_through_the_bridge
F19 lists left out of session/new
  → tests/agents/test_sessions.py::test_what_an_agent_is_told
F20 an unknown kind of update
  → tests/agents/test_bad.py::test_wire_and_contents
F21 options of which only one shape is read, refusals swallowed
  → tests/agents/test_sessions.py::test_options_of_every_shape
  → tests/e2e/test_settings.py::test_a_choice_that_is_no_longer_offered_is_said_once
F22 a cancelled turn that looks finished
  → tests/e2e/test_scenarios_cancel.py::test_an_agent_that_ends_a_cancelled_turn_as_if_nothing_was
F23 requests that nobody answers
  → tests/agents/test_acp_support.py::test_what_is_not_served_is_refused_in_words
F24 loops of signing in
  → tests/agents/test_sign_in.py::test_an_agent_that_forgets_that_it_signed_in_is_started_anew_once
F25 the environment: trimmed, npm's variables
  → tests/agents/test_processes.py::test_what_an_agent_finds_in_its_environment
F26 everything waits for a start
  → tests/agents/test_introductions.py::test_others_are_answered_while_an_agent_starts
F27 newlines in titles
  → tests/agents/test_sessions.py::test_titles_are_one_line_that_hides_nothing
F28 a prompt that is never answered
  → tests/e2e/test_rules_agents.py::test_a_silent_agent_is_asked_about
F29 terminal text without bounds, cut inside a character
  → tests/agents/test_edge.py::test_terminal_text_is_bounded
F30 ids forged through _meta
  → tests/agents/test_cancel.py::test_odd_permissions_reach_the_user
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = re.findall(r"^([PF]\d+) [^\n]+\n((?:  → \S+\n)+)", __doc__ + "\n", re.MULTILINE)


def test_every_row_is_there() -> None:
    assert [number for number, _ in ROWS] == [f"P{n}" for n in range(1, 19)] + [f"F{n}" for n in range(1, 31)]


def test_every_row_has_its_tests() -> None:
    wanted = {test for _, tests in ROWS for test in re.findall(r"→ (\S+)", tests)}
    missing = []
    for path, _, name in (test.partition("::") for test in sorted(wanted)):
        file = ROOT / path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if not re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE):
            missing.append(f"{path}::{name}")
    assert missing == []
