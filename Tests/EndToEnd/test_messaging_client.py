"""The messaging app's own client, played as its document writes it: two users, their devices, and who is neither.

| the app | asks | then waits for |
|---|---|---|
| opens a chat | `subscribe conversation:ann_bob` | the last 50 messages, then message:added, modified, removed |
| sends | POST /v1/conversations/ann_bob/messages {id, text} | 201 and the message; message:added on all devices |
| scrolls up | GET .../messages?before=&limit= | older messages |
| shows its list | GET /v1/users/ann/conversations; `subscribe user:ann` | conversation:updated |
"""

import itertools
import time

import pytest

from Fixtures.apps.messaging_users import pair, people  # noqa: F401
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway, error_code
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

PACKS = ("--packs", "messaging")
TEXTS = ("message:added", "message:modified")


@pytest.fixture(scope="module")
def node(tmp_path_factory, certificate):
    """A gateway and a worker with the pack, for all tests of this file; users are each test's own."""
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    gateway = Gateway(tmp_path_factory.mktemp("gateway"), server.url, certificate, SECRET, *PACKS,
                      limits={"userActionsPerSecond": 1_000})
    worker = Worker(tmp_path_factory.mktemp("worker"), server.url, *PACKS)
    gateway.start().wait_ready()
    worker.start()
    gateway.redis = server
    yield gateway
    assert gateway.process.poll() is None, gateway.log_text[-4_000:]
    worker.stop()
    gateway.stop()
    server.stop()


def heard(device, count, event="message:added"):
    """The next events of a device."""
    return [device.expect(event)["data"] for _ in range(count)]


def test_the_apps_own_test(pair):
    """Steps 3 to 13 of the app's document: two devices, ten rapid messages, a chat that is closed and opened again."""
    ann, bob, place = pair
    topic = f"conversation:{place}"
    one, two, tablet = ann.device(topic), bob.device(topic), bob.device(topic)
    assert one.states[topic]["messages"] == [] and one.states[topic]["next"] is None
    assert [member["userId"] for member in two.states[topic]["members"]] == [ann.user, bob.user]
    began = time.monotonic()
    told = bob.send(place, "from-bob", "hi")
    assert told.items() >= {"id": "from-bob", "conversationId": place, "senderId": bob.user, "text": "hi",
                            "status": "sent", "readBy": []}.items()
    assert {device.expect("message:added", topic=topic)["data"]["timestamp"] for device in (one, two, tablet)} == {
        told["timestamp"]}
    assert time.monotonic() - began < 1
    for number in range(5):
        ann.send(place, f"a{number}")
        bob.send(place, f"b{number}")
        # No answer came, so the app sends again.
        assert ann.send(place, f"a{number}")["id"] == f"a{number}"
    orders = [heard(device, 10) for device in (one, two, tablet)]
    assert orders[0] == orders[1] == orders[2]
    times = [message["timestampMs"] for message in orders[0]]
    assert times == sorted(set(times)) and len({message["id"] for message in orders[0]}) == 10
    one.close()
    late = bob.send(place, "late")
    again = ann.device(topic)
    assert [message["id"] for message in again.states[topic]["messages"]] == [
        "late", *(message["id"] for message in reversed(orders[0])), "from-bob"]
    assert again.states[topic]["messages"][0] == late and again.states[topic]["unread"] == 7
    two.expect("message:added")
    two.expect_nothing()


def test_the_same_by_a_socket(pair):
    """Every route is a command of the same name with the same answer."""
    ann, bob, place = pair
    phone = ann.device()
    sent = phone.request("send_message", {"conversationId": place, "id": "m1", "text": "hi"})
    assert sent["event"] == "ack" and sent["data"]["id"] == "m1"
    assert bob.page(place)["messages"] == [sent["data"]]
    assert phone.request("messages", {"conversationId": place})["data"] == bob.page(place)
    assert phone.request("typing", {"conversationId": place})["data"]["typing"] is True
    phone.refused("send_message", {"conversationId": f"{bob.user}_zoe", "id": "m1", "text": "x"}, "forbidden")
    phone.refused("send_message", {"conversationId": place, "id": "m2", "text": ""}, "bad_request")


def test_receipts_edits_and_typing(pair):
    ann, bob, place = pair
    topic = f"conversation:{place}"
    phone = ann.device(topic)
    ids = [ann.send(place, f"m{number}")["id"] for number in range(4)]
    heard(phone, 4)
    bob.ask("POST", f"/v1/conversations/{place}/delivered", upTo=ids[3])
    assert phone.expect("messages:delivered")["data"]["userId"] == bob.user
    for up_to in (ids[2], ids[0], ids[2]):
        answer = bob.ask("POST", f"/v1/conversations/{place}/read", upTo=up_to)
    assert answer["unread"] == 1
    mark = phone.expect("messages:read")["data"]
    messages = bob.page(place)["messages"]
    assert mark.items() >= {"status": "read", "afterMs": 0, "upToMs": messages[1]["timestampMs"],
                            "upTo": messages[1]["timestamp"]}.items()
    assert [(one["status"], one["readBy"]) for one in messages] == [("delivered", [])] + [("read", [bob.user])] * 3
    bob.ask("POST", f"/v1/conversations/{place}/typing")
    assert phone.expect("typing")["data"] == {"conversationId": place, "userId": bob.user, "typing": True}
    changed = ann.ask("PATCH", f"/v1/conversations/{place}/messages/m1", text="better")
    assert phone.expect("message:modified")["data"] == changed and changed["text"] == "better"
    ann.ask("DELETE", f"/v1/conversations/{place}/messages/m2")
    assert phone.expect("message:removed")["data"]["id"] == "m2"
    phone.expect_nothing()
    events = [event["event"] for event in ann.logged(topic)]
    assert "typing" not in events and events.count("messages:read") == 1
    eventually(lambda: [event["data"]["id"] for event in ann.logged(topic) if event["event"] in TEXTS] == [
        "m0", "m3", "m1"], 3, "the log without texts that were changed or removed")
    late = bob.device(topic)
    assert [message["text"] for message in late.states[topic]["messages"]] == ["hello", "better", "hello"]


def test_pages(pair):
    ann, bob, place = pair
    for number in range(23):
        ann.send(place, f"m{number}")
    found, query = [], "?limit=5"
    while query:
        page = bob.page(place, query)
        found += [message["id"] for message in page["messages"]]
        bob.send(place, f"meanwhile-{len(found)}")
        query = f"?limit=5&before={page['next']}" if page["next"] else ""
    assert found == [f"m{number}" for number in reversed(range(23))]


def test_lists_are_live(people):
    ann, bob, cat = people("ann", "bob", "cat")
    phone = ann.device(f"user:{ann.user}")
    direct = f"{ann.user}_{bob.user}"
    bob.send(direct, "m1", "hi")
    told = phone.expect("conversation:updated", topic=f"user:{ann.user}")["data"]
    assert told.items() >= {"id": direct, "members": [ann.user, bob.user], "lastMessage": "hi", "unread": 1}.items()
    group = cat.ask("POST", "/v1/conversations", 201, members=[ann.user, bob.user], title="Trip")
    assert phone.expect("conversation:updated")["data"].items() >= {"id": group["id"], "title": "Trip"}.items()
    cat.send(group["id"], "m1", "off we go")
    phone.expect("conversation:updated")
    listed = ann.ask("GET", f"/v1/users/{ann.user}/conversations")
    assert [(item["id"], item["lastMessage"]) for item in listed["conversations"]] == [
        (group["id"], "off we go"), (direct, "hi")]
    assert listed["next"] is None
    first = ann.ask("GET", f"/v1/users/{ann.user}/conversations?limit=1")
    rest = ann.ask("GET", f"/v1/users/{ann.user}/conversations?before={first['next']}")
    assert [item["id"] for item in rest["conversations"]] == [direct] and rest["next"] is None
    ann.ask("POST", f"/v1/conversations/{direct}/read", upTo="m1")
    assert phone.expect("conversation:updated")["data"].items() >= {"id": direct, "unread": 0}.items()


def test_groups_by_membership(people):
    ann, bob, cat, eve = people("ann", "bob", "cat", "eve")
    made = ann.ask("POST", "/v1/conversations", 201, members=[bob.user], title="Trip")
    group, topic = made["id"], f"conversation:{made['id']}"
    assert made["members"] == [ann.user, bob.user] and "_" not in group
    phone, other = ann.device(topic), bob.device(topic)
    for app in (cat, eve):
        app.send(group, "x", status=403)
        app.device().refused("subscribe", {"topic": topic}, "forbidden")
    bob.ask("PUT", f"/v1/conversations/{group}/members/{cat.user}")
    assert phone.expect("member:added")["data"] == {"conversationId": group, "userId": cat.user, "by": bob.user}
    late = cat.device(topic)
    assert len(late.states[topic]["members"]) == 3
    bob.ask("DELETE", f"/v1/conversations/{group}/members/{cat.user}", 403)
    ann.ask("DELETE", f"/v1/conversations/{group}/members/{bob.user}")
    phone.expect("member:removed")
    # Every gateway heeds it within two seconds.
    while (message := other.receive())["event"] != "unsubscribed":
        assert message["event"].startswith("member:"), message
    other.expect_error("forbidden", topic=topic)
    bob.send(group, "x", status=403)
    cat.ask("PUT", f"/v1/conversations/{group}/members/{bob.user}", 403)
    bob.device().refused("subscribe", {"topic": topic}, "forbidden")
    # A retry of the creation is told the group that was made.
    headers = {"Idempotency-Key": "make-1"}
    twice = [ann.http.post("/v1/conversations", json={"members": [eve.user]}, headers=headers).json() for _ in range(2)]
    assert twice[0] == twice[1] and twice[0]["id"] != group


def test_blocks(pair):
    ann, bob, place = pair
    phone = bob.device(f"conversation:{place}")
    ann.send(place, "m1", "before")
    phone.expect("message:added")
    answer = bob.ask("PUT", f"/v1/users/{bob.user}/blocks/{ann.user}")
    assert answer == {"userId": ann.user, "blocked": True}

    tries = itertools.count()

    def refused():
        body = {"id": f"try-{next(tries)}", "text": "x"}
        return ann.http.post(f"/v1/conversations/{place}/messages", json=body).status_code == 403
    eventually(refused, 2, "the block")
    assert error_code(ann.http.post(f"/v1/conversations/{place}/messages", json={"id": "m3", "text": "x"})) == "blocked"
    assert "m1" not in [message["id"] for message in bob.page(place)["messages"]]
    eventually(lambda: bob.counts() == [(0, None)], 3, "the list without the blocked user's message")
    assert bob.ask("GET", f"/v1/users/{bob.user}/blocks") == {"blocks": [ann.user]}
    ann.ask("GET", f"/v1/users/{bob.user}/blocks", 403)
    ann.ask("DELETE", f"/v1/users/{bob.user}/blocks/{ann.user}", 403)
    bob.ask("DELETE", f"/v1/users/{bob.user}/blocks/{ann.user}")
    eventually(lambda: not refused(), 2, "the end of the block")
    eventually(lambda: bob.counts()[0][0] > 0, 3, "the list with all messages again")
    assert bob.ask("PUT", f"/v1/users/{bob.user}/mutes/{ann.user}") == {"userId": ann.user, "muted": True}
    bob.ask("PUT", f"/v1/users/{bob.user}/blocks/{bob.user}", 400)


def test_presence_of_who_shares_a_conversation(pair):
    """`recipientOnline` and `recipientLastSeen`, once the recipient has written."""
    ann, bob, place = pair
    topic = f"conversation:{place}"
    phone = ann.device(topic)
    ann.send(place, "m1")
    phone.expect("message:added")
    tablet = bob.device(topic)
    seen = {member["userId"]: member for member in tablet.states[topic]["members"]}
    assert seen[bob.user]["online"] is False, "who has not written is not shown"
    bob.send(place, "m2")
    phone.expect("message:added")

    def told():
        phone.expect_nothing()
        return phone.online.get(bob.user)
    data = eventually(told, 3, "presence")
    assert data.items() >= {"conversationId": place, "online": True}.items() and data["lastSeen"]
    assert ann.device(topic).states[topic]["members"][1].items() >= {"userId": bob.user, "online": True}.items()


# Whose is it?


def test_nothing_of_others_is_read_or_forged_with_a_token_of_ones_own(pair, people, node, token):
    ann, bob, place = pair
    eve, = people("eve")
    topic = f"conversation:{place}"
    phone = ann.device(topic)
    ann.send(place, "m1", "secret")
    phone.expect("message:added")
    for method, path, body in [
            ("POST", f"/v1/conversations/{place}/messages", {"id": "e", "text": "x"}),
            ("POST", f"/v1/conversations/{place}/messages", {"id": "e", "text": "x", "userId": ann.user}),
            ("GET", f"/v1/conversations/{place}/messages", {}),
            ("PATCH", f"/v1/conversations/{place}/messages/m1", {"text": "x"}),
            ("DELETE", f"/v1/conversations/{place}/messages/m1", {}),
            ("POST", f"/v1/conversations/{place}/read", {"upTo": "m1"}),
            ("POST", f"/v1/conversations/{place}/delivered", {"upTo": "m1"}),
            ("POST", f"/v1/conversations/{place}/typing", {}),
            ("PUT", f"/v1/conversations/{place}/members/{eve.user}", {}),
            ("GET", f"/v1/users/{ann.user}/conversations", {}),
            ("PUT", f"/v1/users/{ann.user}/blocks/{bob.user}", {}),
            ("GET", f"/v1/users/{ann.user}/blocks", {}), ("GET", f"/v1/users/{ann.user}/mutes", {}),
            ("GET", f"/v1/topics/{topic}", {}), ("GET", f"/v1/topics/{topic}/events", {}),
            ("POST", "/v1/commands/list_conversation", {"userId": ann.user, "conversationId": place, "unread": 0}),
            ("POST", "/v1/commands/pair_blocked", {"pairId": place, "byId": ann.user, "blocked": True}),
            ("POST", "/v1/commands/show_presence",
             {"conversationId": place, "userId": ann.user, "online": True, "at": 1}),
            ("POST", "/v1/broadcast", {"topic": topic, "event": "message:added", "data": {}})]:
        answer = eve.http.request(method, path, json=body or None)
        assert answer.status_code in (403, 404), (method, path, answer.status_code, answer.text)
        assert "secret" not in answer.text
    socket = eve.device()
    for word in (topic, f"user:{ann.user}"):
        socket.refused("subscribe", {"topic": word}, "forbidden")
    # Who belongs there forges no event of the server's either.
    for app in (eve, bob):
        forged = {"topic": topic, "event": "message:added", "data": {"text": "forged"}}
        app.device().refused("publish", forged, "forbidden")
    nobody = node.http(key=None)
    assert nobody.get(f"/v1/conversations/{place}/messages").status_code == 401
    nobody.close()
    phone.expect_nothing()


def test_an_underscore_in_an_id_opens_no_conversation(node, token):
    """A user called `x_y` would have entered the conversation of `x` and `y_z`."""
    for user, place in (("x", "x_y_z"), ("x_y", "x_y_z"), ("z", "x_y_z")):
        with node.client(token=token(user)) as socket:
            socket.refused("subscribe", {"topic": f"conversation:{place}"}, "bad_request")
            socket.refused("send_message", {"conversationId": place, "id": "m", "text": "x"}, "bad_request")
    # A topic has its one name.
    with node.client(token=token("b")) as socket:
        socket.refused("subscribe", {"topic": "conversation:b_a"}, "bad_request")
    with node.client(token=token("x_y")) as one:
        made = one.request("create_conversation", {"members": ["z"]})
        assert made["event"] == "ack", made
        assert "state" in one.subscribe(f"conversation:{made['data']['id']}")


@pytest.mark.parametrize("method, path, body, status", [
    ("POST", "messages", {"id": "m"}, 400), ("POST", "messages", {"text": "x"}, 400),
    ("POST", "messages", {"id": "m", "text": "x" * 2_001}, 400), ("POST", "messages", {"id": "a b", "text": "x"}, 400),
    ("POST", "messages", {"id": "m", "text": 7}, 400), ("POST", "read", {}, 400),
    ("POST", "read", {"upTo": "none"}, 404),
    ("GET", "messages?limit=0", None, 400), ("GET", "messages?before=x", None, 400), ("PUT", "messages", {}, 405),
    ("PATCH", "messages/none", {"text": "x"}, 404), ("DELETE", "messages/none", None, 404)])
def test_what_is_refused(pair, method, path, body, status):
    ann, _, place = pair
    answer = ann.http.request(method, f"/v1/conversations/{place}/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert error_code(answer)


def test_a_person_makes_no_more_groups_than_a_person_needs(people):
    ann, = people("ann")
    statuses = [ann.http.post("/v1/conversations", json={"members": []}).status_code for _ in range(11)]
    assert statuses == [201] * 10 + [429]


def test_a_user_is_erased_and_exported(pair, node):
    ann, bob, place = pair
    bob.send(place, "m1", "words of bob")
    bob.ask("PUT", f"/v1/users/{bob.user}/blocks/eve")
    eventually(lambda: bob.ask("GET", f"/v1/users/{bob.user}/conversations")["conversations"], 2, "the list")
    data = f"/v1/users/{bob.user}/data"
    told = bob.ask("GET", data)
    assert told["messaging"]["conversations"][0]["lastMessage"] == "words of bob"
    assert told["people"] == {"blocks": ["eve"], "mutes": []}
    ann.ask("GET", data, 403)
    ann.ask("DELETE", data, 403)
    bob.ask("DELETE", data, 202)
    eventually(lambda: ann.page(place)["messages"] == [], 3, "erasure")
    with node.redis.client() as db:
        def left():
            # The gateway's, and notes about late calls, which end after an hour.
            own = (b"#log", b"#meta", b"#done", b"#fence", b"#left", b"#version")
            names = [key for key in db.keys("*") if not any(word in key for word in own)]
            return [key for key in names if key.startswith(f"user:{bob.user}".encode())
                    or b"words of bob" in (db.dump(key) or b"")]
        eventually(lambda: left() == [], 3, "nothing left of the user")
