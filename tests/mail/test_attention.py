"""What of mail waits for the person at the screen: nothing, as long as peers write to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.mail.world import PeerClient
    from tests.support.client import Client

pytestmark = pytest.mark.anyio


async def test_mail_between_others_waits_for_them(ann: PeerClient, bob: PeerClient, owner: Client) -> None:
    before = (await owner.request("attention/list"))["items"]
    await ann.call("tell", peer=bob.name, body="hello")
    channels = (await owner.request("state/get"))["channels"]
    pair = next(one for one in channels if sorted(one.get("peers", [])) == sorted([ann.name, bob.name]))
    assert pair["unread"] == 1  # shown in the list all the same
    assert (await owner.request("attention/list"))["items"] == before
