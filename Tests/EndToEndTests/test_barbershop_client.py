"""The barbershop app's own client, played frame by frame as its document writes it.

What the client sends, and what it waits for:

| where | frame (always binary) | then it waits for |
|---|---|---|
| each connect | {"event":"authenticate","data":"<token>"} | authenticated |
| /queue | {"event":"subscribe","data":{"shopId":"42"}} | subscribed {shopId}, queue:update, booking:status_change |
| /queue | {"event":"unsubscribe","data":{"shopId":"42"}} | |
| /dj | {"event":"subscribe","data":{"shopId":"42"}} | queue:update of a track, track:added, track:playing |
| /dj | {"event":"vote","data":{"trackId":"t1","vote":"up"}} | queue:update, or error {message} |
| /dj | {"event":"add_track","data":{"trackId":"t1"}} | track:added |
| /bookings, /social, /challenges | only authenticate | events of its user |

It never sends `ref`, `topic` or `since`, and it drops events that it does not know.
"""

import json

import pytest
from websockets.exceptions import InvalidStatus

from client import Client
from gateway_process import API_KEY


class Phone(Client):
    """One socket of the app: `write(data:)` sends bytes."""

    def say(self, event, data):
        self.send_raw(json.dumps({"event": event, "data": data}).encode())

    def hears(self, event, **wanted):
        """The next message of that name with these members in its data; others before it are dropped."""
        while True:
            message = self.receive()
            if message["event"] == event and wanted.items() <= message.get("data", {}).items():
                return message.get("data")


@pytest.fixture
def phone(gw):
    """Opens a socket of the app at a path."""
    opened = []

    def open_at(path, token=None, gateway=gw):
        host, port = gateway.address()
        opened.append(Phone(f"wss://{host}:{port}{path}", gateway.certificate.trusting_context()))
        if token is not None:
            opened[-1].say("authenticate", token)
            opened[-1].hears("authenticated")
        return opened[-1]

    yield open_at
    for one in opened:
        one.close()


def test_the_client_sends_binary_frames(gw, phone, topic):
    """Starscream's write(data:) sends binary frames, and the gateway refused each of them."""
    one = phone("/queue")
    one.say("subscribe", {"shopId": topic.split(":")[1]})
    one.hears("subscribed", shopId=topic.split(":")[1])
    gw.publish(topic, "queue:update", {"n": 1})
    one.hears("queue:update", n=1)
    one.send_raw(b'{"event":"\xff"}')
    assert "UTF-8" in one.hears("error", code="bad_request")["message"]
    one.send("ping")
    one.hears("pong")


def test_the_client_authenticates_with_the_bare_token(phone, token):
    """The backend takes the token itself as data, and the gateway refused it."""
    one = phone("/queue")
    one.say("authenticate", token("u1"))
    one.hears("authenticated", userId="u1")
    other = phone("/queue")
    other.say("authenticate", "no.token.atall")
    other.hears("error", code="unauthorized")
    other.expect_close(4401)


def test_a_subprotocol_is_chosen(gw):
    """A browser that offers a subprotocol and gets none fails with 1006, and the gateway chose none."""
    for offered in (["switchboard.v1"], ["other.v9", "switchboard.v1"]):
        with gw.client(subprotocols=offered) as client:
            assert client.connection.subprotocol == "switchboard.v1"
            client.expect_nothing()
    with gw.client(subprotocols=["other.v9"]) as client:
        assert client.connection.subprotocol is None


def test_a_page_authenticates_by_subprotocol(gateway, token, topic):
    """A page can set no header but the subprotocols; its token is taken from there, never said again or logged."""
    gw, secret = gateway(), token("u-page")
    with gw.client(subprotocols=[f"bearer.{secret}", "switchboard.v1"]) as page:
        assert page.connection.subprotocol == "switchboard.v1"
        assert secret[-20:] not in str(page.connection.response.headers)
        page.subscribe("user:u-page")
        page.refused("subscribe", {"topic": "user:other"}, "forbidden")
    for offered, status in [
            ([f"bearer.{secret}x", "switchboard.v1"], 401), (["bearer.", "switchboard.v1"], 401),
            ([f"bearer.{secret}"], 400), ([f"bearer.{secret}", "bearer.x", "switchboard.v1"], 400)]:
        with pytest.raises(InvalidStatus) as refused:
            gw.client(subprotocols=offered)
        assert refused.value.response.status_code == status, offered
        assert secret[-20:].encode() not in refused.value.response.body
    with pytest.raises(InvalidStatus) as refused:
        gw.client(subprotocols=[f"bearer.{secret}", "switchboard.v1"], headers=[("apikey", API_KEY)])
    assert refused.value.response.status_code == 400
    gw.stop()
    assert secret[-20:] not in gw.log_text
