"""The life of a token: shown at the upgrade or in an event, refreshed in place, warned of, ended."""

import json
import time

import pytest
from websockets.exceptions import InvalidStatus

from Fixtures.clients import raw
from Fixtures.clients.tokens import sign
from Fixtures.waiting import eventually, pass_time


def test_token_at_the_upgrade(gw, token):
    with gw.client(token=token("u1")) as client:
        client.subscribe("user:u1")
        client.refused("subscribe", {"topic": "user:u2"}, "forbidden")


def test_token_in_an_event(gw, token):
    expiry = int(time.time()) + 500
    with gw.client() as client:
        client.refused("subscribe", {"topic": "user:u1"}, "unauthorized")
        assert client.authenticate(token("u1", exp=expiry)) == {"userId": "u1", "expiresAt": expiry}
        client.subscribe("user:u1")


def test_bad_token_at_the_upgrade_is_401(gw, secret):
    for bad in ("x", "a.b.c", sign(secret, ttl=-3_600), sign(b"another-secret-of-more-than-32-bytes!!!!")):
        with pytest.raises(InvalidStatus) as refused:
            gw.client(token=bad)
        assert refused.value.response.status_code == 401
        assert b"unauthorized" in refused.value.response.body


def test_bad_token_in_an_event_closes(gw, secret):
    with gw.client() as client:
        client.send("authenticate", {"token": sign(secret, ttl=-3_600)}, ref=1)
        client.expect_error("unauthorized", ref=1)
        client.expect_close(4401)


def test_anonymous_may_be_forbidden(gateway):
    gw = gateway("--anonymous=false")
    with pytest.raises(InvalidStatus) as refused:
        gw.client()
    assert refused.value.response.status_code == 401


def test_expiry_is_warned_of_and_then_closes(gateway, token):
    gw = gateway(limits={"tokenLeewaySeconds": 0, "tokenWarningMs": 1_500})
    expiry = int(time.time()) + 4
    with gw.client(token=token("u1", exp=expiry)) as client:
        client.subscribe("user:u1")
        client.expect("token:expiring", data={"expiresAt": expiry}, timeout=6)
        assert expiry - 1.7 <= time.time() <= expiry
        client.expect_close(4401, timeout=6, after=("error",))
        assert expiry - 0.2 <= time.time() <= expiry + 1, "at most one second late"


def test_refresh_in_place_keeps_the_connection_and_its_topics(gateway, token):
    gw = gateway(limits={"tokenLeewaySeconds": 0, "tokenWarningMs": 1_500})
    first = int(time.time()) + 4
    with gw.client(token=token("u1", exp=first)) as client:
        client.subscribe("user:u1")
        client.expect("token:expiring", timeout=6)
        assert client.authenticate(token("u1", exp=first + 60))["expiresAt"] == first + 60
        pass_time(first + 1 - time.time(), "the first token has ended")
        gw.publish("user:u1", "e", {})
        client.expect("e", topic="user:u1")


def test_refresh_cannot_change_the_user(gw, token):
    with gw.client(token=token("u1")) as client:
        client.subscribe("user:u1")
        client.refused("authenticate", {"token": token("u2")}, "forbidden")
        client.refused("subscribe", {"topic": "user:u2"}, "forbidden")


def test_refresh_with_fewer_rights_ends_subscriptions(gw, token, topics):
    kept, lost = topics("order"), topics("order")
    with gw.client(token=token("u1", topics=[kept, lost])) as client:
        client.subscribe(kept)
        client.subscribe(lost)
        client.send("authenticate", {"token": token("u1", topics=[kept])}, ref="r")
        client.expect("authenticated", ref="r")
        client.expect("unsubscribed", topic=lost)
        client.expect_error("forbidden", topic=lost)
        gw.publish(lost, "e", {})
        gw.publish(kept, "e", {})
        client.expect("e", topic=kept)
        client.expect_nothing()


@pytest.mark.parametrize("data", [None, {}, {"token": None}, {"token": 1}, {"token": ["x"]}], ids=repr)
def test_authenticate_without_a_token(gw, data):
    with gw.client() as client:
        client.refused("authenticate", data, "bad_request")


@pytest.mark.parametrize("leeway,late,accepted", [(30, 20, True), (30, 40, False), (0, 2, False)])
def test_leeway(gateway, token, leeway, late, accepted):
    gw = gateway(limits={"tokenLeewaySeconds": leeway})
    with gw.client() as client:
        answer = client.request("authenticate", {"token": token("u1", exp=int(time.time()) - late)})
        assert answer["event"] == ("authenticated" if accepted else "error")


def test_membership_set_grants(gw, db, token, topics):
    conversation = topics("conversation")
    db.sadd(conversation + "#members", "u1")
    with gw.client(token=token("u1")) as member, gw.client(token=token("u2")) as other:
        member.subscribe(conversation)
        other.refused("subscribe", {"topic": conversation}, "forbidden")


def test_subscribing_again_before_membership_is_known_joins_once(gw, db, token, topics):
    conversation = topics("conversation")
    db.sadd(conversation + "#members", "u1")
    connection, status, received = raw.upgrade(gw, "Authorization: Bearer " + token("u1"))
    assert status == 101
    with connection, gw.http() as http:
        subscribe = raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": conversation}}).encode())
        connection.sendall(subscribe * 3)
        while b"subscribed" not in received:
            received += connection.recv(4_096)
        gw.publish(conversation, "note", {"n": 1})
        assert http.get(f"/v1/topics/{conversation}").json()["subscribers"]["sessions"] == 1
        connection.sendall(raw.frame(raw.PING, b"end"))
        while b"end" not in received:
            received += connection.recv(4_096)
        assert received.count(b'"note"') == 1
        connection.sendall(
            raw.frame(raw.TEXT, json.dumps({"event": "unsubscribe", "data": {"topic": conversation}}).encode()))
        eventually(
            lambda: http.get(f"/v1/topics/{conversation}").json()["subscribers"]["sessions"] == 0, 5, "nobody is left")


def test_no_token_in_the_log(gateway, token):
    gw = gateway("--log-level", "debug")
    good = token("u1")
    with gw.client(token=good) as client:
        client.request("authenticate", {"token": good})
    with gw.client() as client:
        client.send("authenticate", {"token": good + "x"})
        client.expect_error("unauthorized")
    gw.stop()
    for part in good.split("."):
        assert part not in gw.log_text
