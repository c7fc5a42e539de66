"""A service's token that names topics is for these topics: on every route, socket and dialect, for every command."""

import pytest

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.clients.phoenix import Frames
from Fixtures.clients.socketio import Phone
from Fixtures.clients.streams import stream
from Fixtures.processes.gateway import error_code
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

OWN, OTHER = "order:7", "order:8"
EVENT = {"event": "e", "data": {}}
FIRST = script(
    "first", "later('second', {shopId = 'far'}) return {}", arg="orderId id", key="box order:{orderId}#box",
    topic="order:{orderId}", calls="second")
SECOND = script("second", "write('SET', key.box, '1') return {}", topic=[])
# Its home is found by a key of a user.
FOUND = script(
    "found", "return {where = args.orderId}", arg="userId user", key="box order:{orderId}#box", topic="order:{orderId}",
    allow="user|service", resolve="orderId = user:{userId}#order else nowhere 404 -- You have no order.")
HOMELESS = script("homeless", "return {}", arg="text string 1..5", key=[], topic=[], readonly="")


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("bound-redis")).start()
    yield server
    server.stop()


@pytest.fixture
def scripts(tmp_path):
    return write_scripts(tmp_path / "scripts", first=FIRST, second=SECOND, found=FOUND, homeless=HOMELESS)


@pytest.fixture
def bound_gateway(gateway, redis, scripts, tmp_path):
    (tmp_path / "mint-secret").write_bytes(b"a secret for tokens of the gateway's own\n")
    return gateway("--packs", "all", "--scripts", scripts, "--mint-secret-file", str(tmp_path / "mint-secret"),
                   server=redis)


@pytest.fixture
def bound(token):
    return token("kitchen", role="service", topics=[OWN, "order:7-*"])


def test_http_reads_and_publishes_on_its_topics_alone(bound_gateway, bound):
    with bound_gateway.http(key=bound) as http:
        for view in ("", "/events", "/audit"):
            assert http.get(f"/v1/topics/{OWN}{view}").status_code == 200
            for topic in (OTHER, "order:77", "conversation:a", "user:ann", "shop:1"):
                assert error_code(http.get(f"/v1/topics/{topic}{view}")) == "forbidden", (topic, view)
        assert error_code(http.get("/v1/topics/phoenix:1/presence")) == "forbidden"
        for topic, status in ((OWN, 200), ("order:7-b", 200), (OTHER, 403), ("shop:1", 403), ("user:ann", 403)):
            assert http.post("/v1/broadcast", json={"topic": topic} | EVENT).status_code == status, topic
            named = f"/realtime/v1/api/broadcast/{topic}/events/e"
            assert http.post(named, json={}).status_code == {200: 202}.get(status, status), topic
        batch = {"messages": [{"topic": OWN} | EVENT, {"topic": OTHER} | EVENT]}
        results = http.post("/v1/broadcast", json=batch).json()["results"]
        assert results[0]["topic"] == OWN and results[1]["error"]["code"] == "forbidden"
        messages = {"messages": [{"topic": topic, "event": "e", "payload": {}} for topic in (OWN, OTHER)]}
        assert http.post("/realtime/v1/api/broadcast", json=messages).status_code == 403


def test_sockets_of_every_dialect_hear_and_publish_on_its_topics_alone(bound_gateway, bound):
    with bound_gateway.client(token=bound) as native:
        native.subscribe(OWN)
        for topic in (OTHER, "conversation:a", "user:ann", "shop:1", "phoenix:1"):
            native.refused("subscribe", {"topic": topic}, "forbidden")
            native.refused("publish", {"topic": topic} | EVENT, "forbidden")
    with Frames(bound_gateway, None, headers=[("x-api-key", bound)]) as phoenix:
        phoenix.join(f"realtime:{OWN}")
        assert phoenix.pull()[3] == "system"
        assert "Unauthorized" in phoenix.join(f"realtime:{OTHER}", ref="2", status="error")["reason"]
    with Phone(bound_gateway, auth={"token": bound}) as phone:
        assert phone.call("subscribe", {"topic": OWN})["topic"] == OWN
        assert phone.call("subscribe", {"topic": OTHER})["error"]["code"] == "forbidden"
        assert phone.call("publish", {"topic": OTHER} | EVENT)["error"]["code"] == "forbidden"
    with stream(bound_gateway, OWN, OTHER, key=bound) as source:
        assert {source.next().event, source.next().event} == {"subscribed", "refused"}


@pytest.mark.parametrize("name, arguments", [
    ("messages", {"conversationId": "c1", "userId": "ann"}),
    ("conversations", {"userId": "ann"}),
    ("send_message", {"conversationId": "c1", "userId": "ann", "id": "m1", "text": "I am Ann"}),
    ("erase_listener", {"userId": "ann"}), ("notify", {"userId": "ann", "type": "t", "title": "t", "body": "b"}),
    ("queue", {"shopId": "1"}), ("order_pass", {"orderId": "8"}), ("homeless", {"text": "a"}),
    ("spotify_search", {"q": "a"}), ("found", {"userId": "ann"}), ("first", {"orderId": "8"})])
def test_a_command_of_another_home_or_of_none_is_refused(bound_gateway, bound, name, arguments):
    """They were judged by the role alone: such a token read messages, wrote in users' names and erased users."""
    with bound_gateway.http(key=bound) as http, bound_gateway.client(token=bound) as native:
        refused = http.post(f"/v1/commands/{name}", json=arguments)
        assert (refused.status_code, error_code(refused)) == (403, "forbidden")
        assert refused.json()["error"]["message"] == "this service's token is for its topics only"
        native.refused(name, arguments, "forbidden")


def test_a_command_of_its_topic_is_taken_and_what_it_causes_elsewhere_is_not_judged(
        bound_gateway, bound, worker, scripts, redis):
    worker(server=redis, scripts=scripts)
    with bound_gateway.http(key=bound) as http, bound_gateway.client(token=bound) as native, redis.client() as db:
        assert http.post("/v1/orders/7/pass").status_code == 201
        assert native.request("first", {"orderId": "7"})["event"] == "ack"
        eventually(lambda: db.exists("shop:far#box"), what="the later call has run")


def test_a_home_that_is_found_must_be_its_topic(bound_gateway, bound, redis):
    """Nor does the refusal tell whether the user has an order at all."""
    with bound_gateway.http(key=bound) as http, redis.client() as db:
        for order, status in (("8", 403), ("7", 200)):
            db.set("user:bob#order", order)
            assert http.post("/v1/commands/found", json={"userId": "bob"}).status_code == status


def test_a_token_that_names_fewer_topics_leaves_the_others(bound_gateway, bound, token):
    with bound_gateway.client(token=bound) as native:
        native.subscribe(OWN)
        native.subscribe("order:7-b")
        native.authenticate(token("kitchen", role="service", topics=["order:7-b"]))
        native.expect("unsubscribed", topic=OWN)
        native.expect_error("forbidden", topic=OWN)
        native.refused("publish", {"topic": OWN} | EVENT, "forbidden")


def test_a_list_without_topics_binds_to_nothing(bound_gateway, token):
    """A backend that found no topics for a kitchen made it a token for everything."""
    empty = token("kitchen", role="service", topics=[])
    with bound_gateway.http(key=empty) as http:
        for method, path, body in (
                ("GET", "/v1/health", None), ("GET", f"/v1/topics/{OWN}", None), ("GET", "/v1/users/ann/data", None),
                ("POST", "/v1/broadcast", {"topic": OWN} | EVENT), ("POST", "/v1/commands/queue", {"shopId": "1"})):
            assert error_code(http.request(method, path, json=body)) == "forbidden", path
    with bound_gateway.client(token=empty) as native:
        native.refused("subscribe", {"topic": OWN}, "forbidden")
    with bound_gateway.http(key=token("backend", role="service")) as http:
        assert http.get("/v1/health").status_code == 200
