"""The method table: each request of the protocol and the call of the bridge that answers it, one line each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from sidekicks_bridge.bridge.agent_requests import AgentRequests, ConfigRequests, not_supported
from sidekicks_bridge.bridge.channel_requests import ChannelRequests
from sidekicks_bridge.bridge.mail_requests import MailRequests
from sidekicks_bridge.bridge.message_requests import MessageRequests
from sidekicks_bridge.bridge.owner_requests import OwnerRequests
from sidekicks_bridge.bridge.sign_ins import SignInRequests

if TYPE_CHECKING:
    from sidekicks_bridge.bridge.bridge import Bridge

Handler = Callable[..., Awaitable[Any]]

OPEN = "sidekicks/channel/open"
"""Answered in the step that subscribes, not through the table's ordinary way."""


def handlers(bridge: Bridge) -> dict[str, Handler]:
    """Method name → ``handler(client, params)``."""
    channels = ChannelRequests(bridge)
    messages = MessageRequests(bridge)
    agents = AgentRequests(bridge)
    config = ConfigRequests(bridge)
    owner = OwnerRequests(bridge)
    sign_ins = SignInRequests(bridge)
    return {
        "sidekicks/state/get": channels.state,
        "sidekicks/channel/create": channels.create,
        "sidekicks/channel/direct": channels.direct,
        OPEN: channels.open,
        "sidekicks/channel/close": channels.close,
        "sidekicks/channel/update": channels.update,
        "sidekicks/channel/delete": channels.delete,
        "sidekicks/channel/invite": channels.invite,
        "sidekicks/channel/remove": channels.remove,
        "sidekicks/channel/markRead": channels.mark_read,
        "sidekicks/channel/export": channels.export,
        "sidekicks/channel/prepare": channels.prepare,
        "sidekicks/message/send": messages.send,
        "sidekicks/message/preview": messages.preview,
        "sidekicks/message/list": messages.page,
        "sidekicks/message/part": messages.part,
        "sidekicks/message/search": messages.search,
        "sidekicks/message/prompt": messages.prompt,
        "sidekicks/message/complete": messages.complete,
        "sidekicks/message/remove": messages.remove,
        "sidekicks/turn/cancel": messages.cancel,
        "sidekicks/turn/retry": messages.retry,
        "sidekicks/permission/answer": messages.answer_permission,
        "sidekicks/elicitation/answer": messages.answer_elicitation,
        "sidekicks/permission/rules": not_supported,
        "sidekicks/permission/revoke": not_supported,
        "sidekicks/agent/start": agents.start,
        "sidekicks/agent/stop": agents.stop,
        "sidekicks/agent/restart": agents.restart,
        "sidekicks/agent/logs": agents.logs,
        "sidekicks/agent/authenticate": sign_ins.authenticate,
        "sidekicks/agent/logout": sign_ins.log_out,
        "sidekicks/agent/sessions": agents.sessions,
        "sidekicks/agent/deleteSession": agents.delete_session,
        "sidekicks/session/pickUp": agents.pick_up,
        "sidekicks/session/setMode": agents.set_mode,
        "sidekicks/session/setOption": agents.set_option,
        "sidekicks/config/get": config.get,
        "sidekicks/config/validate": config.validate,
        "sidekicks/config/edit": config.edit,
        "sidekicks/config/recent": config.recent,
        "sidekicks/attention/list": messages.attention,
        "sidekicks/draft/set": messages.set_draft,
        **_mail_handlers(bridge),
        "sidekicks/bridge/status": owner.status,
        "sidekicks/bridge/stop": owner.stop,
    }


def _mail_handlers(bridge: Bridge) -> dict[str, Handler]:
    mail = MailRequests(bridge)
    return {
        "sidekicks/mail/register": mail.register,
        "sidekicks/mail/unregister": mail.unregister,
        "sidekicks/mail/renew": mail.renew,
        "sidekicks/mail/agents": mail.agents,
        "sidekicks/mail/tell": mail.tell,
        "sidekicks/mail/ask": mail.ask,
        "sidekicks/mail/read": mail.read,
        "sidekicks/mail/peek": mail.peek,
        "sidekicks/mail/readAny": mail.read_any,
        "sidekicks/mail/post": mail.post,
        "sidekicks/mail/createRoom": mail.create_room,
        "sidekicks/mail/join": mail.join,
        "sidekicks/mail/leave": mail.leave,
        "sidekicks/mail/rooms": mail.rooms,
        "sidekicks/mail/participants": mail.participants,
        "sidekicks/mail/history": mail.history,
        "sidekicks/mail/purge": mail.purge,
        "sidekicks/mail/channels": mail.channels,
    }
