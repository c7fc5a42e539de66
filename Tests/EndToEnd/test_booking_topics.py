"""A booking's topic from outside: its user hears it, and a stranger with a token of its own gets nowhere near."""

import pytest

from Fixtures.processes.gateway import command, error_code
from Fixtures.redis import outbox
from Fixtures.waiting import eventually

CHANGE = "booking:status_change"


@pytest.fixture
def site(gateway, worker, server):
    """A gateway with a worker and a shop that takes bookings."""
    gw = gateway(server=server)
    worker(server=server)
    with gw.http() as service, server.client() as db:
        for shop in ("yours", "mine"):
            assert service.patch(f"/v1/shops/{shop}/settings", json={"utcOffsetMinutes": 0}).status_code == 200
        yield gw, service, db


def admitted(db, topic, user):
    """Waits until the worker has admitted the user to the topic, and has passed on everything."""
    eventually(lambda: db.sismember(topic + "#members", user) and not outbox.waiting(db), what=f"a member of {topic}")


def test_a_stranger_with_the_same_number_is_not_admitted(site, token):
    """Whoever booked the same number at a shop of his own became a member of the victim's topic and wrote into it."""
    gw, service, db = site
    command(service, "create_booking", shopId="yours", bookingId="B-1001", userId="victim", tier="standard")
    with gw.client(token=token("victim")) as victim, gw.client(token=token("stranger")) as stranger:
        admitted(db, "booking:B-1001", "victim")
        victim.subscribe("booking:B-1001")
        for shop in ("ghost", "mine", "yours"):
            stranger.send("create_booking", {"bookingId": "B-1001", "shopId": shop, "tier": "standard"}, ref=shop)
            stranger.expect("error", ref=shop)
        # A shop whose backend numbers alike is honest, and is not admitted either.
        command(service, "create_booking", shopId="mine", bookingId="B-1001", userId="stranger", tier="standard")
        command(service, "move_booking", shopId="mine", bookingId="B-1001", status="cancelled")
        admitted(db, "booking:mine::B-1001", "stranger")
        stranger.subscribe("booking:mine::B-1001")
        stranger.refused("subscribe", {"bookingId": "B-1001"}, "forbidden")
        stranger.refused("subscribe", {"topic": "booking:yours::B-1001"}, "forbidden")
        command(service, "move_booking", shopId="yours", bookingId="B-1001", status="confirmed")
        heard = victim.expect(CHANGE, topic="booking:B-1001")
        assert heard["data"] == {"bookingId": "B-1001", "status": "confirmed"}
        assert db.smembers("booking:B-1001#members") == {b"victim"}
    with gw.http(key=None) as stranger:
        stranger.headers["Authorization"] = f"Bearer {token('stranger')}"
        for path in ("/v1/topics/booking:B-1001", "/v1/topics/booking:B-1001/events"):
            assert error_code(stranger.get(path)) == "forbidden"


def test_a_user_books_and_follows_the_booking(site, token):
    """What a phone does: it books, subscribes by the id of the answer, and hears each change."""
    gw, service, db = site
    with gw.client(token=token("ann")) as phone:
        answer = phone.request("create_booking", {"shopId": "yours"})["data"]
        number = answer["bookingId"]
        for topic in (f"booking:{number}", f"booking:yours::{number}"):
            admitted(db, topic, "ann")
        assert phone.subscribe(answer["topic"])["state"] == {
            "bookingId": number, "shopId": "yours", "status": "pending"}
        assert phone.request("subscribe", {"bookingId": number})["event"] == "subscribed"
        command(service, "move_booking", shopId="yours", bookingId=number, status="confirmed", tier="blackCard")
        heard = {phone.expect(CHANGE, data={"bookingId": number, "status": "confirmed"})["topic"] for _ in range(2)}
        assert heard == {answer["topic"], f"booking:{number}"}
    with gw.client(token=token("bob")) as phone:
        for _ in range(3):
            assert phone.request("create_booking", {"shopId": "yours"})["event"] == "ack"
        phone.refused("create_booking", {"shopId": "yours"}, "too_many")
        phone.refused("create_booking", {"shopId": "ghost"}, "not_found")
        phone.refused("create_booking", {"shopId": "mine", "tier": "blackCard"}, "forbidden")
