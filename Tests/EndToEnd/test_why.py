"""Why a user did not get an event: one request to any of three gateways, on causes that are truly played.

Each test causes what it is about with real clients, and then asks a gateway that had no part in it.
"""

import itertools
import json
import time

import pytest

from EndToEnd.test_slow_consumers import everything
from Fixtures.apps.messaging import App
from Fixtures.clients import raw
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.epoch_reset import reset
from Fixtures.processes.gateway import error_code
from Fixtures.processes.traced_fleet import READER, WRITER, TracedFleet
from Fixtures.waiting import eventually

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, certificate):
    fleet = TracedFleet(tmp_path_factory.mktemp("why"), certificate)
    try:
        yield fleet
        for node in fleet.nodes:
            assert node.process.poll() is None, node.log_text[-4_000:]
    finally:
        fleet.stop()


@pytest.fixture
def user():
    """A user of this test's own."""
    return f"ann-{next(_numbers)}"


def published(fleet, topic, event="queue:update", data=None, **more):
    return fleet.nodes[1].publish(topic, event, data or {"n": 1}, **more)


def member(fleet, topic, user, method="PUT"):
    with fleet.nodes[0].http() as http:
        assert http.request(method, f"/v1/topics/{topic}/members/{user}").status_code == 200


def test_delivered(fleet, user, topic):
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.subscribe(topic)
        offset = published(fleet, topic)["offset"]
        client.expect("queue:update", offset=offset)
        answer = fleet.verdict("delivered", user, topic, offset, f"`{topic}`", "`queue:update`", "written")
        session = next(one for one in answer["evidence"] if one["kind"] == "session")
        assert session["user"] == user and session["address"] == "127.0.0.1" and session["closed"] is None
    # The same once the session has ended.
    eventually(lambda: fleet.why(user, topic, offset)["evidence"][1].get("closed"), 5, "the end of the session")
    fleet.verdict("delivered", user, topic, offset, "written")


def test_delivered_to_one_that_came_back_by_position(fleet, user, topic):
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        epoch = client.subscribe(topic)["epoch"]
    offset = published(fleet, topic)["offset"]
    with fleet.nodes[1].client(token=sign(SECRET, user)) as client:
        assert client.subscribe(topic, {"epoch": epoch, "offset": 0})["recovered"] is True
        client.expect("queue:update", offset=offset)
        fleet.verdict("delivered", user, topic, offset, f"continue from {epoch}:0")
    with fleet.nodes[1].client(token=sign(SECRET, f"{user}-other")) as client:
        client.subscribe(topic, {"epoch": epoch, "offset": offset})
        fleet.verdict("had_before", f"{user}-other", topic, offset, f"{epoch}:{offset}")


def test_never_subscribed(fleet, user, topic, topics):
    offset = published(fleet, topic)["offset"]
    fleet.verdict("never_subscribed", f"{user}-away", topic, offset, "no session")
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.subscribe(topics())
        fleet.verdict("never_subscribed", user, topic, offset, "none of them asked for this topic")


def test_no_rights(fleet, user, topics):
    topic = topics("order")
    offset = published(fleet, topic, "order:ready")["offset"]
    # Not a member, and never was.
    fleet.verdict("no_rights", f"{user}-away", topic, offset, "has no right to")
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.refused("subscribe", {"topic": topic}, "forbidden")
        fleet.verdict("no_rights", user, topic, offset, "was refused with `forbidden`")
        # A member who was taken out.
        member(fleet, topic, user)
        client.subscribe(topic)
        member(fleet, topic, user, "DELETE")
        client.expect("unsubscribed", topic=topic)
        client.expect_error("forbidden", topic=topic)
        later = published(fleet, topic, "order:ready")["offset"]
        fleet.verdict("no_rights", user, topic, later, "lost the right to the topic", "before the event")
        member(fleet, topic, user)
        fleet.verdict("no_rights", user, topic, later, "may subscribe now")


def test_joined_later(fleet, user, topic):
    offset = published(fleet, topic)["offset"]
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.subscribe(topic)
        fleet.verdict("joined_later", user, topic, offset, "after the event", "no position to continue from")


def test_left_before(fleet, user, topic):
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.subscribe(topic)
        assert client.request("unsubscribe", {"topic": topic})["event"] == "unsubscribed"
        offset = published(fleet, topic)["offset"]
        fleet.verdict("left_before", user, topic, offset, "left the topic")


def test_conflated(fleet, user, topics):
    topic = topics("dj")
    node, sent = fleet.nodes[0], 0
    before = node.metric("switchboard_events_ended_total", fate="conflated")
    with fleet.slow_client(user, topic), node.http() as http:
        def thinned():
            nonlocal sent
            data = {"trackId": f"t{sent % 5}", "n": sent, "pad": "x" * 20_000}
            body = {"topic": topic, "event": "queue:update", "data": data}
            sent = http.post("/v1/broadcast", json=body).json()["offset"]
            return node.metric("switchboard_events_ended_total", fate="conflated") > before

        eventually(thinned, 90, "a thinned queue")
        trace = fleet.get(f"/v1/topics/{topic}/trace", offset=sent).json()
        fates = {offset: fleet.get(f"/v1/topics/{topic}/trace", offset=offset).json()["sessions"][0]["subscriptions"][0]
                 ["fate"] for offset in range(1, sent + 1)}
        assert trace["sessions"][0]["user"] == user
        replaced = [offset for offset, fate in fates.items() if fate == "conflated"]
        assert replaced and fates[sent] == "waiting" and fates[1] == "written", fates
        fleet.verdict("conflated", user, topic, replaced[0], "read too slowly", "`gap`", "`conflated`")
        fleet.verdict("waiting", user, topic, sent, "waits for the client")


def test_slow_and_closed(fleet, user, topics):
    topic = topics("order")
    node = fleet.nodes[0]
    with fleet.slow_client(user, topic, topics=[topic]) as slow, node.http() as http:
        sent, before = 0, node.metric("switchboard_connections_closed_total", reason="slow_consumer")

        def closed():
            nonlocal sent
            body = {"topic": topic, "event": "e", "data": {"pad": "x" * 60_000}}
            sent = http.post("/v1/broadcast", json=body).json()["offset"]
            return node.metric("switchboard_connections_closed_total", reason="slow_consumer") > before

        eventually(closed, 90, "the slow client's end")
        received = everything(slow)
        assert raw.close_code(received) == 4410
        read = [message["offset"] for message in map(json.loads, (
            payload for opcode, payload in raw.frames(received) if opcode == raw.TEXT)) if message["event"] == "e"]
    fleet.verdict("delivered", user, topic, read[0], "written")
    fleet.verdict("slow_closed", user, topic, read[-1] + 1, "not written", "`slow_consumer`", "has not come back")
    later = published(fleet, topic, "e")["offset"]
    fleet.verdict("slow_closed", user, topic, later, "`slow_consumer`", "before the event came")


def test_gap_told(fleet, user, topic):
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        epoch = client.subscribe(topic)["epoch"]
    with fleet.nodes[1].http() as http:
        for _ in range(2):
            batch = [{"topic": topic, "event": "e", "data": {"n": n}} for n in range(200)]
            assert http.post("/v1/broadcast", json={"messages": batch}).status_code == 200
    with fleet.nodes[1].client(token=sign(SECRET, user)) as client:
        answer = client.subscribe(topic, {"epoch": epoch, "offset": 2})
        assert answer["recovered"] is False
        fleet.verdict("gap_told", user, topic, 7, "the log begins at", f"continue from {epoch}:2", "`recovered: false`")


def test_another_epoch(fleet, user, topic):
    old = published(fleet, topic)
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.subscribe(topic, {"epoch": old["epoch"], "offset": old["offset"]})
    assert reset(fleet.redis, topic)[0].startswith("topics: 1 reset")
    new = published(fleet, topic)
    assert new["epoch"] != old["epoch"] and new["offset"] == 1
    with fleet.nodes[1].client(token=sign(SECRET, user)) as client:
        since = {"epoch": old["epoch"], "offset": old["offset"]}
        assert client.subscribe(topic, since)["recovered"] is False
        fleet.verdict("other_epoch", user, topic, 1, f"continue from {old['epoch']}:1", "another epoch",
                      epoch=new["epoch"])
    fleet.verdict("other_epoch", f"{user}-other", topic, 1, "belongs to an epoch that has ended", new["epoch"],
                  epoch=old["epoch"])


def test_a_live_client_is_told_of_a_new_epoch(fleet, user, topic):
    old = published(fleet, topic)
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.subscribe(topic)
        reset(fleet.redis, topic)
        client.expect("gap")
        new = published(fleet, topic)
        client.expect("queue:update", offset=1)
        fleet.verdict("delivered", user, topic, 1, "written", epoch=new["epoch"])
        fleet.verdict("other_epoch", user, topic, 2, "`reset`", epoch=old["epoch"])


def test_the_node_was_killed(fleet, user, topic):
    gone = fleet.node(f"gone-{user}")
    with gone.client(token=sign(SECRET, user)) as client:
        client.subscribe(topic)
        offset = published(fleet, topic)["offset"]
        client.expect("queue:update", offset=offset)
        eventually(lambda: fleet.why(user, topic, offset)["verdict"] == "delivered", 20, "the others know the gateway")
        gone.kill()

        def missed():
            answer = fleet.why(user, topic, offset)
            return answer if answer["verdict"] == "node_gone" else None

        # Until Redis forgets the gateway, it is one that does not answer.
        text = " ".join(eventually(missed, 60, "the gateway is missed")["sentences"])
        assert "does not exist any more" in text and "not known" in text
        # No gateway takes it back. A shard answers the same question from its memory for 250 ms, so each is about
        # another user.
        for number, node in enumerate(fleet.nodes * 4):
            asked = fleet.get("/v1/why", node, user=f"{user}.{number}", topic=topic, offset=offset).json()
            assert asked["verdict"] == "node_gone", json.dumps(asked, indent=1)


def test_the_token_had_expired(fleet, user, topic):
    with fleet.nodes[0].client(token=sign(SECRET, user, ttl=2)) as client:
        client.subscribe(topic)
        client.expect_close(4401, timeout=6, after=("token:expiring", "error"))
    offset = published(fleet, topic)["offset"]
    fleet.verdict("token_refused", user, topic, offset, "the token had expired", "not subscribed to the topic since")


def test_the_token_was_revoked(fleet, user, topic):
    with fleet.nodes[0].client(token=sign(SECRET, user, iat=int(time.time()))) as client, \
            fleet.nodes[1].http() as http:
        client.subscribe(topic)
        assert http.post("/v1/revocations", json={"user": user}).status_code == 200
        client.expect_close(4401, after=("error",))
    offset = published(fleet, topic)["offset"]
    fleet.verdict("token_refused", user, topic, offset, "the token was revoked", "not subscribed to the topic since")


def test_a_block_mutes(fleet, user):
    ann, bob, cat = (App(fleet.nodes[0], lambda name: sign(SECRET, name), f"{name}-{user}")
                     for name in ("ann", "bob", "cat"))
    try:
        group = ann.ask("POST", "/v1/conversations", 201, members=[bob.user, cat.user], title="Trip")["id"]
        topic = f"conversation:{group}"
        phone = ann.device(topic)
        bob.send(group, "m1")
        whole = phone.expect("message:added")
        fleet.verdict("delivered", ann.user, topic, whole["offset"], "`message:added`")
        ann.ask("PUT", f"/v1/users/{ann.user}/blocks/{bob.user}")

        with fleet.redis.client() as db:
            eventually(lambda: db.exists(f"conversation:{group}#walls"), 10, "the block reaches the group")
        bob.send(group, "m2")
        less = phone.expect("messages:changed")
        fleet.verdict("muted_by_block", ann.user, topic, less["offset"], "`messages:changed`",
                      "in place of a whole event", f"The user blocks {bob.user}")
        # A direct conversation of the two: nothing is published at all.
        pair = f"{ann.user}_{bob.user}"
        with fleet.redis.client() as db:
            eventually(lambda: db.scard(f"pair:{pair}#blocks") == 1, 10, "the block reaches the pair")
        bob.send(pair, "p1", status=403)
        fleet.verdict("muted_by_block", ann.user, f"conversation:{pair}", 1, "was not published", "blocks the other")
    finally:
        for app in (ann, bob, cat):
            app.close()


def test_not_published(fleet, user, topic):
    fleet.verdict("not_published", user, topic, 1, "has no events")
    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.subscribe(topic)
        offset = published(fleet, topic)["offset"]
        fleet.verdict("not_published", user, topic, offset + 7, f"the newest offset is {offset}")


# The trace of one event


def test_the_trace_of_an_event_has_every_session_of_all_gateways(fleet, user, topic):
    clients = [node.client(token=sign(SECRET, f"{user}-{index}")) for index, node in enumerate(fleet.nodes)]
    try:
        for client in clients[:2]:
            client.subscribe(topic)
        offset = published(fleet, topic)["offset"]
        for client in clients[:2]:
            client.expect("queue:update", offset=offset)
        clients[2].subscribe(topic)
        trace = fleet.get(f"/v1/topics/{topic}/trace", offset=offset).json()
        assert trace["unanswered"] == [] and trace["offset"] == offset
        assert trace["event"].items() >= {"published": True, "logged": True, "name": "queue:update"}.items()
        assert trace["event"]["bytes"] == len('{"n":1}') and trace["event"]["at"]
        fates = {one["user"]: one["subscriptions"][0]["fate"] for one in trace["sessions"]}
        assert fates == {f"{user}-0": "written", f"{user}-1": "written", f"{user}-2": "joined_later"}
        assert len({one["node"] for one in trace["sessions"]}) == 3
        assert trace["fates"] == {"written": 2, "joined_later": 1}
        def elsewhere():
            return fleet.get(f"/v1/topics/{topic}/trace", offset=offset).json()["neverSubscribed"]

        eventually(lambda: elsewhere() == 0, 5, "the sessions of other tests have ended")
        with fleet.nodes[0].client(token=sign(SECRET, f"{user}-away")):
            eventually(lambda: elsewhere() == 1, 5, "a session without a subscription")
        beyond = fleet.get(f"/v1/topics/{topic}/trace", offset=offset + 1).json()
        assert beyond["event"]["published"] is False
    finally:
        for client in clients:
            client.close()


# Who may ask, and what is no question


@pytest.mark.parametrize("path", ["/v1/why", "/v1/topics/{topic}/trace"])
def test_who_may_ask(fleet, user, topic, path):
    published(fleet, topic)
    path = path.replace("{topic}", topic)
    query = {"offset": 1} | ({"user": user, "topic": topic} if path == "/v1/why" else {})
    statuses = {}
    bound = {"own": sign(SECRET, "svc", role="service", topics=[topic]),
             "other": sign(SECRET, "svc", role="service", topics=["shop:other"]), "user": sign(SECRET, user)}
    for name, key in (("none", None), ("reader", READER), ("writer", WRITER)):
        statuses[name] = fleet.get(path, key=key, **query).status_code
    for name, bearer in bound.items():
        with fleet.nodes[2].http(None, headers={"Authorization": f"Bearer {bearer}"}) as http:
            statuses[name] = http.get(path, params=query).status_code
    assert statuses == {"none": 401, "reader": 200, "writer": 403, "own": 200, "other": 403, "user": 403}


def test_a_bound_service_learns_nothing_of_a_user_beyond_its_topic(fleet, user, topics):
    """Any service with a topic of its own could read each user's sessions, addresses, tokens and blocks."""
    own, private = topics(), topics()
    offset = published(fleet, own)["offset"]
    bound = sign(SECRET, "svc", role="service", topics=[own])

    def ask(path, key, **query):
        shown = {"Authorization": f"Bearer {key}"} if key == bound else {"apikey": key}
        with fleet.nodes[2].http(None, headers=shown) as http:
            return http.get(path, params={"offset": offset} | query)

    with fleet.nodes[0].client(token=sign(SECRET, user)) as client:
        client.subscribe(private)
        whole = ask("/v1/why", READER, user=user, topic=own)
        assert '"address":"127.0.0.1"' in whole.text
        part = ask("/v1/why", bound, user=user, topic=own)
        kinds = {one["kind"] for one in part.json()["evidence"]}
        assert part.json()["verdict"] == "never_subscribed" and kinds <= {"event", "rights", "gone"}, part.text
        client.subscribe(own)

        def seen():
            found = ask("/v1/why", bound, user=user, topic=own).json()["evidence"]
            return next((one for one in found if one["kind"] == "session"), None)

        session = eventually(seen, 5, "the subscription")
        part = ask("/v1/why", bound, user=user, topic=own)
        assert session.keys() == {"kind", "id", "user", "node", "subscriptions"}
        assert [one["fate"] for one in session["subscriptions"]] == ["joined_later"]
        trace = ask(f"/v1/topics/{own}/trace", bound)
        assert [one["user"] for one in trace.json()["sessions"]] == [user] and "neverSubscribed" not in trace.json()
        for text in (part.text, trace.text):
            assert "127.0.0.1" not in text and private not in text and "tokens" not in text, text


@pytest.mark.parametrize("query", [
    {}, {"offset": 1}, {"user": "ann", "offset": 1}, {"user": "ann", "topic": "shop:1"},
    {"user": "a b", "topic": "shop:1", "offset": 1}, {"user": "ann", "topic": "shop", "offset": 1},
    {"user": "ann", "topic": "shop:1", "offset": 0}, {"user": "ann", "topic": "shop:1", "offset": -1},
    {"user": "ann", "topic": "shop:1", "offset": 10**30}, {"user": "ann", "topic": "shop:1", "offset": 1, "epoch": "%"},
    {"user": "ann", "topic": "shop:1", "offset": 1, "more": 1},
], ids=str)
def test_what_is_no_question(fleet, query):
    answer = fleet.get("/v1/why", **query)
    assert answer.status_code == 400 and error_code(answer) == "bad_request"


# An end to what is kept


def test_an_erasure_reaches_the_records_of_all_gateways(fleet, user, topic):
    for node in fleet.nodes:
        with node.client(token=sign(SECRET, user)) as client:
            client.subscribe(topic)
    offset = published(fleet, topic)["offset"]
    fleet.verdict("left_before", user, topic, offset)
    with fleet.nodes[0].http() as http:
        assert http.delete(f"/v1/users/{user}/data").status_code == 202

    def erased():
        answer = fleet.why(user, topic, offset)
        return all(one["kind"] != "session" for one in answer["evidence"])

    eventually(erased, 5, "the records end")
    trace = fleet.get(f"/v1/topics/{topic}/trace", offset=offset).json()
    assert all(one.get("user") != user for one in trace["sessions"])
