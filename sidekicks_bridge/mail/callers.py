"""Who makes a mail request: a peer by its signature, an agent by the token of its session. Nothing else is believed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sidekicks_bridge.mail.checking import Replays, is_key, verify
from sidekicks_bridge.mail.registry import Registry, seconds
from sidekicks_bridge.mail.signing import payload
from sidekicks_bridge.protocol.base import to_builtins
from sidekicks_bridge.protocol.errors import SidekicksError
from sidekicks_bridge.protocol.mail import MailOrigin

if TYPE_CHECKING:
    from typing import Literal

    from sidekicks_bridge.agents.contract import Agents
    from sidekicks_bridge.clock import Clock
    from sidekicks_bridge.protocol.mail import MailRequest, RegisterPeer

_MOST_NONCE = 128


@dataclass(frozen=True)
class Caller:
    """Who asks. ``channel_id``: where an agent's session is. ``origin``: the signed request of a peer.

    ``folder``: where the peer registered.
    """

    name: str
    kind: Literal["agent", "peer"]
    channel_id: str | None
    origin: MailOrigin
    folder: str | None = None


class Tokens:
    """The tokens of agents' sessions. One session of an agent in a channel has one; the next one's replaces it."""

    def __init__(self) -> None:
        self._by_token: dict[str, tuple[str, str]] = {}
        self._by_session: dict[tuple[str, str], str] = {}

    def issue(self, agent: str, channel_id: str) -> str:
        """A new token; the one before is worth nothing from now on."""
        self._by_token.pop(self._by_session.get((agent, channel_id), ""), None)
        token = secrets.token_urlsafe(32)
        self._by_token[token] = (agent, channel_id)
        self._by_session[agent, channel_id] = token
        return token

    def find(self, token: str) -> tuple[str, str] | None:
        """The agent and channel of a token."""
        return self._by_token.get(token)


class Callers:
    """Identifies callers. ``began``: when this bridge did, in seconds since 1970."""

    def __init__(self, registry: Registry, agents: Agents, clock: Clock, began: float) -> None:
        self.tokens = Tokens()
        self._registry = registry
        self._agents = agents
        self._clock = clock
        self._replays = Replays(began)

    async def identify(self, method: str, params: MailRequest) -> Caller:
        """The caller, its lease renewed. Raises unauthorized, invalidParams."""
        if params.token is not None:
            return self._agent(params.token)
        auth = params.auth
        if auth is None:
            raise _unauthorized("The request is not signed: register a name and say --as NAME.", None)
        peer = self._registry.live(auth.name)
        if peer is None:
            unread = self._registry.unread
            why = f" Earlier registrations were not read: {unread}" if unread is not None else ""
            sentence = f"@{auth.name} is not registered (any more): `sidekicks register {auth.name}`.{why}"
            raise _unauthorized(sentence, auth.name)
        origin = self._check(method, params, peer.key, peer.name)
        await self._registry.renew(peer)
        return Caller(peer.name, "peer", None, origin, peer.folder)

    def check_registration(self, method: str, params: RegisterPeer) -> str:
        """The name that a registration is signed for, by the key it brings."""
        if params.auth is None:
            raise _unauthorized("A registration must be signed with the key that it registers.", None)
        if not is_key(params.key):
            raise SidekicksError("invalidParams", "`key` is not the hex of an Ed25519 public key.")
        if params.folder is not None and not Path(params.folder).is_absolute():
            raise SidekicksError("invalidParams", f"`folder` is not an absolute path: {params.folder!r}.")
        self._check(method, params, params.key, params.auth.name)
        return params.auth.name

    def _agent(self, token: str) -> Caller:
        found = self._tokens_of(token)
        if found is None:
            raise _unauthorized("The token is not that of a session that is open.", None)
        agent, channel_id = found
        return Caller(agent, "agent", channel_id, MailOrigin())

    def _tokens_of(self, token: str) -> tuple[str, str] | None:
        """The agent and channel of a token whose session is still open."""
        found = self.tokens.find(token)
        return found if found is not None and self._agents.has_session(*found) else None

    def _check(self, method: str, params: MailRequest, key: str, name: str) -> MailOrigin:
        auth = params.auth
        assert auth is not None
        if not (0 < len(auth.nonce) <= _MOST_NONCE and auth.nonce.isascii() and auth.nonce.isprintable()):
            raise SidekicksError("invalidParams", f"A nonce has 1 to {_MOST_NONCE} printable ASCII characters.")
        try:
            signed_at = seconds(auth.time)
        except ValueError as problem:
            raise SidekicksError("invalidParams", f"The time {auth.time!r} is not RFC 3339.") from problem
        fields = {field: value for field, value in to_builtins(params).items() if field not in ("auth", "token")}
        if not verify(key, payload(method, fields, auth.name, auth.time, auth.nonce), auth.signature):
            raise _unauthorized(f"The signature is not that of @{auth.name}'s key over this request.", auth.name)
        if refusal := self._replays.problem(key, auth.nonce, signed_at, seconds(self._clock.now())):
            raise _unauthorized(refusal, auth.name)
        return MailOrigin(
            method=method.rpartition("/")[2],
            time=auth.time,
            nonce=auth.nonce,
            key=key,
            signature=auth.signature,
            target=fields.get("peer") or fields.get("room"),
            signer=None if auth.name == name else auth.name,
            timeout=fields.get("timeout"),
        )


def _unauthorized(why: str, name: str | None) -> SidekicksError:
    return SidekicksError("unauthorized", why, {} if name is None else {"name": name})
