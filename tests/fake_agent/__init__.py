r"""A fake ACP agent: the tests' agent, a real process over real ACP, steered by options and by the prompt's
text.

Standard library only and quick to start. It owns nothing of the bridge and imports nothing of it. Start it
with `command`; read what it received with `tests.fake_agent.log`; open gates with
`tests.fake_agent.gates.Gates`.

Environment
    ``FAKE_AGENT_LOG`` file that gets every received message (format: `log`) · ``FAKE_AGENT_LOG_ENV`` further
    variables to show there · ``FAKE_AGENT_GATES`` folder of the gates · ``FAKE_AGENT_OPTIONS`` further
    options, read first · ``FAKE_AGENT_KEY`` signed in by variable · ``FAKE_AGENT_CREDENTIALS`` file that
    ``--login`` makes: signed in by terminal

Options (METHOD: last part of the method, ``new``, ``load``, ``prompt``, ``set_mode`` …; lists separated by
commas)
    ==============================  ========================================================================
    --name --title --version TEXT   who it is; default ``fake``
    --protocol N                    the protocolVersion it answers
    --caps LIST                     of load resume close list delete fork dirs image audio embedded http sse
                                    logout
    --raw-capabilities JSON         agentCapabilities as given, whatever the caps
    --unserved METHODS              answered -32601 though announced
    --modes --models LIST           modes; legacy models; the first is current
    --config-options LIST           of mode model grouped thought plain boolean unknown-category unknown-type
    --commands LIST                 of ``name[:description[:hint]]``
    --commands-at WHEN              before or after (default) the session/new answer, or at the first prompt
    --auth LIST                     sign-in methods, of agent terminal env_var bogus
    --auth-required METHODS         answered -32000 until signed in
    --auth-stale                    authenticate succeeds and changes nothing
    --login                         sign in by terminal and end (the terminal method runs this)
    --sessions LIST                 ids of sessions it knows at start
    --replay N                      session/load replays N questions and answers
    --page-size N                   session/list gives N at a time
    --message-ids                   chunks carry a messageId
    --string-ids                    its own requests have strings as ids
    --hang METHODS                  never answered
    --null METHODS                  answered with result null
    --error METHOD=CODE[:TEXT]      answered with this error
    --hold METHOD=GATE              answered when the gate opens
    --exit-in METHOD=CODE           ends instead of answering
    --stderr TEXT --exit CODE       writes, and ends at once
    --banner                        lines that are no JSON before anything else
    --osc-prefix                    each frame has a terminal title glued before it
    --noise                         endless lines, nothing else
    --slow-start GATE               reads nothing until the gate opens
    --ignore-eof --ignore-term      outlives its input (2 minutes), SIGTERM
    --spawn-child FILE              starts two children (`children`), writes the pids to the file
    ==============================  ========================================================================

Script
    The user's text, without the bridge's frame and leading mentions. ``!word`` at a line's start or after
    white space begins a directive, its argument goes to the next one. Text without directives is answered
    ``NAME heard: TEXT``, word by word. Escapes in arguments: ``\n \t \s`` (space) ``\e \\``. A path that is
    not absolute is in the session's folder.

    ==============================  ========================================================================
    !for NAME                       what follows is for this agent only (``all``: everyone again)
    !say TEXT                       one chunk
    !words TEXT                     a chunk a word
    !chunks N [SIZE]                N chunks ``0 1 2 …`` as fast as possible, padded with dots to SIZE
    !paced N RATE                   chunks ``N MONOTONIC_NS\n`` at RATE a second
    !think TEXT                     a thought
    !message ID                     further chunks carry this messageId
    !name-prefix [TEXT]             ``Title: `` (or TEXT) letter by letter
    !big BYTES                      one chunk, one line
    !image                          an image chunk
    !empty                          nothing
    !plan A;B;C                     ``+A`` is completed, ``>A`` in progress
    !usage USED SIZE [COST CUR]     usage_update
    !mode ID                        current_mode_update
    !config ID VALUE                sets a configuration option and announces all
    !commands LIST                  announces other commands
    !title TEXT                     session_info_update
    !update JSON                    any session update
    !tool KIND TITLE [| PATH:LINE]  pending, in progress, completed
    !tool-failed KIND TITLE         the same, failed
    !tool-open KIND TITLE           in progress, never ended
    !tool-update-only [TITLE]       an update of a call never announced
    !diff PATH|OLD|NEW              a completed edit with its diff; OLD empty: a new file
    !output BYTES                   a tool call with that much output on one line
    !grow UPDATES LINES             a tool call whose whole output is sent again with each update
    !permit TITLE [ids=A,B:KIND]    asks, says ``permit TITLE: OPTION\n``; ids allow always reject never know
                                    their kind
    !permit-diff PATH|OLD|NEW       asks with a diff
    !permit-before-tool TITLE       asks before the tool call is announced
    !permit-bare TITLE              asks with nothing but the tool call's id
    !permit-busy TITLE              the tool call goes on while it waits
    !permit-all A;B;C               asks all at once
    !permit-withdraw GATE TITLE     asks, and withdraws when the gate opens
    !late-permit GATE TITLE         asks after the answer, when the gate opens
    !read PATH[|LINE[|LIMIT]]       says ``read PATH: TEXT\n`` or ``read PATH refused: CODE MESSAGE\n``
    !write PATH|TEXT                says ``write PATH: ok\n`` or the refusal
    !terminal COMMAND               create, wait, output, release
    !elicit form|choices|url [TEXT] says ``elicit MODE: RESULT\n``; choices: a form with lists to tick
    !late-elicit GATE TEXT          asks with a form after the answer, when the gate opens
    !request METHOD [JSON]          any request, says ``METHOD: RESULT\n``
    !notify METHOD [JSON]           any notification
    !mcp TOOL [JSON]                calls a tool of the MCP server `sidekicks`, says ``TOOL: TEXT\n`` or
                                    ``TOOL refused: TEXT\n``
    !run COMMAND                    a shell command in the session's folder, says ``run exit CODE: OUTPUT\n``
    !hold GATE                      waits for the gate (or a cancel)
    !hang                           never ends, but obeys a cancel
    !ignore-cancel                  from here on cancels change nothing
    !on-cancel TEXT                 what it says after a cancel, before it answers
    !cancelled-as REASON            the stopReason after a cancel
    !stop REASON                    the stopReason
    !error CODE MESSAGE             the prompt is answered with this error
    !late [gate=GATE] TEXT          a chunk after the answer
    !no-answer                      the prompt is never answered
    !crash [CODE]                   lines on stderr, then the end; -9 kills itself
    !lose-session                   after the answer it does not know the session any more
    !leave [CODE]                   ends as soon as it has answered
    !garbage                        lines that are no JSON objects
    !stderr BYTES                   noise without a newline
    !stderr-say TEXT                a line
    !spawn-child [FILE]             starts two children (`children`)
    !bad KIND [ARGUMENT]            any of `bad.KINDS`
    ==============================  ========================================================================
"""

from __future__ import annotations

import os
import sys


def command(*options: str) -> list[str]:
    """The arguments that start a fake agent, from any folder; without site packages, which only cost time."""
    return [sys.executable, "-I", "-S", f"{__path__[0]}{os.sep}__main__.py", *options]
