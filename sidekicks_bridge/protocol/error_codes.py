"""The string codes of errors: a contract. `errors` says what carries them."""

from __future__ import annotations

from typing import Literal, get_args

ErrorCode = Literal[
    "invalidParams",
    "protocolMismatch",
    "channelNotFound",
    "agentNotFound",
    "messageNotFound",
    "notMember",
    "channelExists",
    "invalidName",
    "tooLarge",
    "confirmationMissing",
    "agentSpawnFailed",
    "agentExited",
    "agentProtocol",
    "agentAuthRequired",
    "turnFailed",
    "noSlot",
    "untrusted",
    "configInvalid",
    "configUnwritable",
    "storeUnavailable",
    "storeClosed",
    "pathOutsideWorkspace",
    "notSupported",
    "shuttingDown",
    "unauthorized",
    "peerNotFound",
    "nameTaken",
    "roomFull",
    "readPending",
    "waitCircle",
    "messagingRefused",
    "timeout",
    "closed",
]

ERROR_CODES: dict[ErrorCode, str] = {
    "invalidParams": "The request's parameters are missing, of the wrong type, or name something not offered.",
    "protocolMismatch": "The client speaks another protocol version; the message names both.",
    "channelNotFound": "No channel has that id.",
    "agentNotFound": "No agent of the configuration has that name.",
    "messageNotFound": "No message has that id, or it is not of the kind the request needs.",
    "notMember": "The agent is not a member of the channel.",
    "channelExists": "Another channel has that name.",
    "invalidName": "The name breaks the one name rule; the message says how.",
    "tooLarge": "The text is larger than the limit that the message names.",
    "confirmationMissing": "Deleting needs the channel's name (or agent) repeated in `confirm`.",
    "agentSpawnFailed": "The agent's command could not be started.",
    "agentExited": "The agent's process ended while it was needed.",
    "agentProtocol": "The agent answered something that is not ACP version 1, or did not answer in time.",
    "agentAuthRequired": "The agent wants the user to sign in first.",
    "turnFailed": "The agent answered the prompt with an error.",
    "noSlot": "Every slot for running agents is taken by a busy agent.",
    "untrusted": "The workspace is not trusted, so no agent may run there.",
    "configInvalid": "The configuration cannot be read; its problems say where.",
    "configUnwritable": "The configuration file cannot be written.",
    "storeUnavailable": "The history cannot be read or written right now.",
    "storeClosed": "The bridge has closed its store.",
    "pathOutsideWorkspace": "The path lies outside the session's root.",
    "notSupported": "This is not supported (yet).",
    "shuttingDown": "The bridge is stopping.",
    "unauthorized": "Mail: the caller is not registered, or its signature or token does not hold.",
    "peerNotFound": "Mail: no agent or registered peer has that name.",
    "nameTaken": "Mail: the name is an agent's, or another key's.",
    "roomFull": "Mail: the room has as many peers as it may.",
    "readPending": "Mail: the caller already waits on that channel.",
    "waitCircle": "Mail: whom the caller asks waits, directly or through others, for the caller.",
    "messagingRefused": "Mail: agents may not write to each other here (`messaging.agents`).",
    "timeout": "Mail: nothing came within the time.",
    "closed": "Mail: the registration, membership or channel ended while the caller waited.",
}

RETRYABLE: frozenset[ErrorCode] = frozenset(
    {"agentExited", "agentProtocol", "turnFailed", "noSlot", "storeUnavailable", "shuttingDown"}
)

assert set(ERROR_CODES) == set(get_args(ErrorCode))
