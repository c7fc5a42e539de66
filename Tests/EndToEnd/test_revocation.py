"""Access is withdrawn while it is in use: on every node, within two seconds, and for as long as a token lasts."""

import time

import pytest
from websockets.exceptions import InvalidStatus

from Fixtures.clients.tokens import sign
from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.gateway import error_code
from Fixtures.waiting import eventually

SECONDS_MAX = 2


@pytest.fixture
def nodes(gateway, server):
    """Two gateways on a Redis of this test's own."""
    return gateway(server=server), gateway(server=server)


@pytest.fixture
def conversation(topics):
    return topics("conversation")


def member(gw, topic, user, method="PUT", **options):
    with gw.http(**options) as http:
        return http.request(method, f"/v1/topics/{topic}/members/{user}")


def revoke(gw, **body):
    with gw.http() as http:
        return http.post("/v1/revocations", json=body)


def expect_end(client, seconds=SECONDS_MAX):
    messages = client.expect_close(4401, timeout=seconds, after=("error",))
    assert [message["data"]["code"] for message in messages] == ["unauthorized"]


# Members


def test_a_member_taken_out_hears_no_more_on_any_node(nodes, conversation, token):
    """Who was taken out of a conversation went on hearing it for as long as the connection lasted (M1)."""
    here, there = nodes
    for user in ("u1", "u2"):
        answer = member(here, conversation, user)
        assert answer.json() == {"topic": conversation, "user": user, "member": True, "changed": True}
    assert member(there, conversation, "u1").json()["changed"] is False
    with here.client(token=token("u1")) as one, there.client(token=token("u1")) as two, \
            there.client(token=token("u2")) as kept:
        for client in (one, two, kept):
            client.subscribe(conversation)
        began = time.monotonic()
        assert member(here, conversation, "u1", "DELETE").json()["changed"] is True
        for client in (one, two):
            client.expect("unsubscribed", topic=conversation, timeout=SECONDS_MAX)
            client.expect_error("forbidden", topic=conversation)
        assert time.monotonic() - began < SECONDS_MAX
        here.publish(conversation, "note", {"n": 1})
        kept.expect("note")
        one.expect_nothing()
        two.expect_nothing()
        two.refused("subscribe", {"topic": conversation}, "forbidden")
        assert member(here, conversation, "u1").json()["changed"] is True
        two.subscribe(conversation)


def test_a_token_that_names_the_topic_needs_no_membership(nodes, conversation, token):
    here, there = nodes
    with there.client(token=token("u1", topics=[conversation])) as client:
        client.subscribe(conversation)
        member(here, conversation, "u1", "DELETE")
        with there.client(token=token("u2")) as other:
            member(here, conversation, "u2")
            other.subscribe(conversation)
            member(here, conversation, "u2", "DELETE")
            other.expect("unsubscribed", timeout=SECONDS_MAX)
        client.expect_nothing()


def test_the_set_may_be_changed_in_redis_directly(gateway, db, conversation, token):
    """The next look at memberships finds it; every 30 s by default."""
    gw = gateway(limits={"membershipCheckMs": 1_000})
    db.sadd(conversation + "#members", "u1", "u2")
    with gw.client(token=token("u1")) as gone, gw.client(token=token("u2")) as kept:
        gone.subscribe(conversation)
        kept.subscribe(conversation)
        db.srem(conversation + "#members", "u1")
        gone.expect("unsubscribed", topic=conversation, timeout=5)
        gone.expect_error("forbidden", topic=conversation)
        kept.expect_nothing()


def test_who_may_change_members(gw, conversation, token, secret):
    path = f"/v1/topics/{conversation}/members/u1"
    with gw.http(key=None) as http:
        assert http.put(path).status_code == 401
        assert http.put(path, headers={"apikey": token("u1", topics=[conversation])}).status_code == 403
        service = sign(secret, "backend", role="service")
        assert http.put(path, headers={"apikey": service}).status_code == 200
        # A service's token that names topics is for these topics only, and revokes nothing.
        bound = {"apikey": sign(secret, "backend", role="service", topics=[conversation])}
        assert http.put(path, headers=bound).status_code == 200
        assert http.put("/v1/topics/conversation:another/members/u1", headers=bound).status_code == 403
        assert http.post("/v1/revocations", headers=bound, json={"user": "u1"}).status_code == 403


@pytest.mark.parametrize("path,status,code", [
    ("/v1/topics/nowhere:1/members/u1", 404, "not_found"), ("/v1/topics/shop:1/members/u1", 409, "conflict"),
    ("/v1/topics/conversation/members/u1", 400, "bad_request"),
    ("/v1/topics/conversation:1/members/u%20x", 400, "bad_request"),
    (f"/v1/topics/conversation:1/members/{'u' * 129}", 400, "bad_request")])
def test_what_is_no_member(gw, path, status, code):
    with gw.http() as http:
        response = http.put(path)
        assert (response.status_code, error_code(response)) == (status, code)
        assert http.post(path).status_code == 405


def test_members_are_bounded(gateway, conversation):
    gw = gateway(limits={"membersMax": 1})
    assert member(gw, conversation, "u1").status_code == 200
    full = member(gw, conversation, "u2")
    assert (full.status_code, error_code(full)) == (413, "too_large")


# Tokens


def test_a_revoked_user_is_out_on_every_node_and_at_every_door(nodes, token):
    here, there = nodes
    now = int(time.time())
    old, new = token("u1", iat=now - 100), token("u1", iat=now + 60)
    with here.client(token=old) as one, there.client() as two, there.client(token=token("u2", iat=now - 100)) as other:
        one.subscribe("user:u1")
        two.authenticate(old)
        two.subscribe("user:u1")
        answer = revoke(here, user="u1")
        assert answer.status_code == 200 and now <= answer.json()["before"] <= now + 30
        expect_end(one)
        expect_end(two)
        other.expect_nothing()
    for gw in nodes:
        with pytest.raises(InvalidStatus) as refused:
            gw.client(token=old)
        assert refused.value.response.status_code == 401
        with gw.http(key=old) as http:
            assert http.get("/v1/topics/user:u1").status_code == 401
        with gw.client() as late:
            late.send("authenticate", {"token": old})
            expect_end(late)
        with gw.client(token=new) as later:
            later.subscribe("user:u1")


def test_one_token_is_revoked_by_its_id(nodes, token):
    here, there = nodes
    lost, kept = token("u1", jti="phone-1"), token("u1", jti="phone-2")
    with there.client(token=lost) as one, there.client(token=kept) as two:
        assert revoke(here, tokenId="phone-1").json() == {"tokenId": "phone-1"}
        expect_end(one)
        two.expect_nothing()
    with pytest.raises(InvalidStatus):
        there.client(token=lost)


def test_a_revocation_may_name_its_time(nodes, token):
    here, there = nodes
    now = int(time.time())
    with there.client(token=token("u1", iat=now - 100)) as old, there.client(token=token("u1", iat=now - 10)) as new:
        assert revoke(here, user="u1", before=now - 50).json() == {"user": "u1", "before": now - 50}
        expect_end(old)
        new.expect_nothing()
        # An earlier time takes nothing back.
        assert revoke(here, user="u1", before=now - 90).json()["before"] == now - 50
        # A whole number may be written with a fraction of zero; it was refused.
        assert revoke(here, user="u1", before=float(now - 40)).json()["before"] == now - 40
        # A time far ahead would refuse what is issued until then.
        assert revoke(here, user="u1", before=now + 1_000_000).json()["before"] <= now + 400


def test_a_restarted_node_knows_what_was_revoked(nodes, token):
    here, there = nodes
    old = token("u1", jti="t1")
    assert revoke(here, tokenId="t1").status_code == 200
    there.stop()
    there.start().wait_ready()
    with pytest.raises(InvalidStatus):
        there.client(token=old)
    with there.http(key=old) as http:
        assert http.get("/v1/topics/user:u1").status_code == 401


def test_a_node_that_was_away_hears_of_it_on_its_return(gateway, server, conversation, token):
    """Changes are kept, not only told: a node that was cut off from Redis meanwhile reads them when it is back."""
    here = gateway(server=server)
    with FaultProxy(server.socket_path) as proxy:
        away = gateway(server=server)
        away.stop()
        away.arguments[away.arguments.index(server.url)] = proxy.redis_url
        away.start().wait_ready()
        member(here, conversation, "u1")
        with away.client(token=token("u1")) as gone, away.client(token=token("u2", jti="t2")) as revoked:
            gone.subscribe(conversation)
            revoked.subscribe("user:u2")
            proxy.refuse()
            proxy.reset_all()
            eventually(lambda: away.ops("/readyz").status_code == 503, 5, "readiness red")
            member(here, conversation, "u1", "DELETE")
            revoke(here, tokenId="t2")
            gone.expect_nothing()
            proxy.heal()
            away.wait_ready()
            gone.expect("unsubscribed", topic=conversation, timeout=SECONDS_MAX)
            expect_end(revoked)


@pytest.mark.parametrize("body", [
    {}, {"user": "u1", "tokenId": "t1"}, {"user": ""}, {"user": "a b"}, {"user": 1}, {"tokenId": ""},
    {"tokenId": "t" * 257}, {"tokenId": 1}, {"user": "u1", "before": "x"}, {"user": "u1", "before": 0},
    {"user": "u1", "before": 253_402_300_800}, {"tokenId": "a b"}, {"user": "u1", "before": 1.5},
    {"tokenId": "t1", "before": 1}, {"user": "u1", "other": 1}, [], "x"], ids=repr)
def test_what_is_no_revocation(gw, body):
    with gw.http() as http:
        response = http.post("/v1/revocations", json=body)
        assert (response.status_code, error_code(response)) == (400, "bad_request")
        assert http.get("/v1/revocations").status_code == 405


def test_a_full_list_refuses_rather_than_forgets(gateway, server, token):
    gw = gateway(server=server, limits={"revocationsMax": 2})
    assert revoke(gw, tokenId="t1").status_code == revoke(gw, tokenId="t2").status_code == 200
    full = revoke(gw, tokenId="t3")
    assert (full.status_code, error_code(full)) == (409, "conflict")
    eventually(lambda: gw.http(key=token("u1", jti="t1")).get("/v1/topics/user:u1").status_code == 401, 5, "refused")


# Keys


def test_sessions_of_a_replaced_secret_end_with_the_reload(gateway, secret, token):
    """Sessions went on for as long as their tokens lasted, whatever became of the key that had admitted them."""
    gw = gateway()
    keys = gw.directory / "api-keys"
    keys.write_text(keys.read_text() + "second:second-key-0123456789\n")
    gw.signal(1)
    eventually(lambda: gw.log_text.count('"reloaded"') == 1, 5, "the reload")
    other = b"another-secret-of-more-than-32-bytes!!!!"
    with gw.client(token=token("u1")) as user, gw.client(headers=[("apikey", "second-key-0123456789")]) as second, \
            gw.client(token="test-key-0123456789abcdef0123456789abcdef") as first, gw.client() as anonymous:
        user.subscribe("user:u1")
        keys.write_text("\n".join(keys.read_text().splitlines()[:1]) + "\n")
        gw.signal(1)
        expect_end(second)
        first.expect_nothing()
        user.expect_nothing()
        (gw.directory / "secret").write_bytes(other)
        gw.signal(1)
        expect_end(user)
        first.expect_nothing()
        anonymous.expect_nothing()
    with gw.client(token=sign(other, "u1")) as client:
        client.subscribe("user:u1")
