"""What an agent said about itself in ``initialize``, read tolerantly: what is missing or odd is not supported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sidekicks_bridge.agents.quirks import quirks_of
from sidekicks_bridge.agents.raw import integer, record, text
from sidekicks_bridge.agents.sign_in import Offer, read_offers

if TYPE_CHECKING:
    from sidekicks_bridge.protocol.types import SignInMethod

PROTOCOL_VERSION = 1


class Capabilities(msgspec.Struct):
    """What we may ask of an agent. Changed to False when it turns out to be a lie."""

    load: bool = False
    resume: bool = False
    close: bool = False
    lists: bool = False
    delete: bool = False
    embedded: bool = False
    http: bool = False
    sse: bool = False
    image: bool = False
    logout: bool = False
    reload: bool = False
    """Its session must be loaded anew after a turn that did not end by itself."""
    missing_is_empty: bool = False
    """It is given an empty text for a file that is not there."""
    renamed_tools: bool = False
    """The bridge's own MCP server needs another name in each session."""
    offers: list[Offer] = []
    """Its ways to sign in."""

    @property
    def sign_in(self) -> list[SignInMethod]:
        """Its ways to sign in, as clients see them."""
        return [offer.method for offer in self.offers]

    def takes(self, server: dict[str, Any]) -> bool:
        """Whether an MCP server of the configuration may be passed on."""
        match server.get("type"):
            case "http":
                return self.http
            case "sse":
                return self.sse
        return True


def read_version(result: Any) -> int | None:
    """The protocol version of an ``initialize`` answer; None if there is none."""
    version = record(result).get("protocolVersion")
    if isinstance(version, str) and version.isdecimal():
        return int(version)
    return integer(version)


def read_capabilities(result: Any, *known_as: str) -> Capabilities:
    """The capabilities of an ``initialize`` answer; ``known_as``: words that the table of quirks looks for."""
    said = record(record(result).get("agentCapabilities"))
    session = record(said.get("sessionCapabilities"))
    prompt, mcp = record(said.get("promptCapabilities")), record(said.get("mcpCapabilities"))
    quirks = quirks_of(*known_as, text(record(record(result).get("agentInfo")).get("name")) or "")
    return Capabilities(
        load=said.get("loadSession") is True,
        resume=isinstance(session.get("resume"), dict) and quirks.resume,
        close=isinstance(session.get("close"), dict),
        lists=isinstance(session.get("list"), dict),
        delete=isinstance(session.get("delete"), dict),
        embedded=prompt.get("embeddedContext") is True,
        http=mcp.get("http") is True,
        sse=mcp.get("sse") is True,
        image=prompt.get("image") is True,
        reload=quirks.reload,
        missing_is_empty=quirks.missing_is_empty,
        renamed_tools=quirks.renamed_tools,
        logout=isinstance(record(said.get("auth")).get("logout"), dict),
        offers=read_offers(record(result)),
    )
