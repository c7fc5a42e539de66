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

from Fixtures.clients.native import Client
from Fixtures.clients.socketio import Phone as SocketIOPhone
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway, command


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


# Sockets by path


@pytest.fixture
def dj(gw, topic, token):
    """A DJ session with one track, and ann at the shop; tells the shop and a function that calls as a service."""
    shop = topic.split(":")[1]
    with gw.http() as http:
        def service(name, **arguments):
            return command(http, name, shopId=shop, **arguments)

        service("start_session")
        service("check_in", userId="ann")
        service("add_track", trackId="t1", userId="ann")
        yield shop, service


def test_the_dj_view_hears_the_dj_session(gw, phone, token, dj):
    """On /dj `subscribe {shopId}` joined the barbers' queue, so the DJ view heard no track."""
    shop, service = dj
    one = phone("/dj", token("bob"))
    one.hears("subscribed", userId="bob")
    one.say("subscribe", {"shopId": shop})
    state = one.hears("subscribed", shopId=shop, topic=f"dj:{shop}")["state"]
    assert [item["trackId"] for item in state["queue"]] == ["t1"]
    gw.publish(f"shop:{shop}", "queue:update", {"queueLength": 1})
    service("add_track", trackId="t2", userId="ann")
    one.expect("track:added", topic=f"dj:{shop}")
    one.say("unsubscribe", {"shopId": shop})
    one.hears("unsubscribed", shopId=shop)
    service("add_track", trackId="t3", userId="ann")
    one.expect_nothing()


def test_votes_do_not_name_the_shop(gw, phone, token, dj):
    """`vote` and `add_track` come without `shopId` on /dj, and the gateway refused them."""
    shop, service = dj
    one = phone("/dj", token("ann"))
    one.say("vote", {"trackId": "t1", "vote": "down"})
    assert "shopId" in one.hears("error", code="bad_request")["message"]
    # The app does not wait for the answer; the vote may be in the state already.
    one.say("subscribe", {"shopId": shop})
    one.say("vote", {"trackId": "t1", "vote": "down"})
    awaited = {"subscribed", "ack"}
    while awaited:
        message = one.receive()
        if message["event"] == "ack" or message.get("topic") == f"dj:{shop}":
            assert message["event"] != "ack" or message["data"]["downvotes"] == 1
            awaited.discard(message["event"])
    one.say("vote", {"trackId": "t1", "vote": "up"})
    one.hears("queue:update", trackId="t1", upvotes=1, downvotes=0)
    one.say("add_track", {"trackId": "t2"})
    one.hears("track:added", trackId="t2")
    # What is said counts more than what is known, and what needs no shop is given none.
    one.say("vote", {"shopId": "elsewhere", "trackId": "t1", "vote": "up"})
    one.hears("error", message="Must be at shop to vote")
    assert one.request("notifications")["event"] == "ack"
    stranger = phone("/dj", token("bob"))
    stranger.say("subscribe", {"shopId": shop})
    stranger.say("vote", {"trackId": "t1", "vote": "up"})
    stranger.hears("error", message="Must be at shop to vote")
    stranger.say("unsubscribe", {"shopId": shop})
    stranger.say("vote", {"trackId": "t1", "vote": "up"})
    stranger.hears("error", code="bad_request")


@pytest.mark.parametrize("path", ["/queue", "/bookings", "/social", "/dj", "/challenges", "/queue/"])
def test_the_client_joins_its_user_by_authenticating(gw, phone, token, topics, path):
    """The app awaits `booking:status_change` and joins nothing, so it heard none."""
    user = topics("user").split(":")[1]
    one = phone(path, token(user))
    one.hears("subscribed", userId=user)
    # A newer token joins nothing anew.
    one.send("unsubscribe", {"userId": user})
    one.hears("unsubscribed", userId=user)
    one.say("authenticate", token(user, nonce=1))
    one.hears("authenticated")
    gw.publish(f"user:{user}", "booking:status_change", {"bookingId": "1", "status": "confirmed"})
    one.expect_nothing()
    with gw.client(path, token=token(user)) as header, gw.client(path) as nobody, \
            gw.client("/ws", token=token(user)) as plain:
        header.expect("subscribed", topic=f"user:{user}")
        gw.publish(f"user:{user}", "booking:status_change", {"bookingId": "1", "status": "confirmed"})
        header.expect("booking:status_change", topic=f"user:{user}")
        nobody.expect_nothing()
        plain.expect_nothing()


PATHS = {"sockets": {
    "/rooms/{id}/realtime": {"join": ["session:{id}"], "fold": "lower"},
    "/rooms/lobby/realtime": {"join": ["shop:lobby"]},
    "/shops/{shopId}/dj": {"alias": {"shopId": "dj"}, "fill": ["shopId"], "join": ["dj:{shopId}", "user:{sub}"]},
    "/challenges": None}}


@pytest.fixture
def rooms(gateway, server):
    """A gateway with sockets by path of its own."""
    return gateway(config=PATHS, server=server)


def test_a_path_joins_with_the_clients_rights_only(rooms, token):
    """Whoever chooses the path gets no more than whoever subscribes, however the path is spelled."""
    room, user = "session:8e2f-abcd", token("ann", topics=["session:8e2f-abcd"])
    with rooms.client("/rooms/8E2F-ABCD/realtime", token=user) as member, \
            rooms.client("/rooms/8e2f-%41bcd/realtime", token=token("eve")) as stranger, \
            rooms.client("/rooms/8e2f-abcd/realtime/") as nobody:
        member.expect("subscribed", topic=room)
        stranger.expect_error("forbidden", topic=room)
        nobody.expect_error("unauthorized", topic=room)
        rooms.publish(room, "queue.updated", {"n": 1})
        member.expect("queue.updated", topic=room)
        stranger.expect_nothing()
        nobody.expect_nothing()
        stranger.refused("subscribe", {"topic": room}, "forbidden")
    with rooms.client("/rooms/lobby/realtime") as lobby:
        lobby.expect("subscribed", topic="shop:lobby")


@pytest.mark.parametrize("path, status", [
    ("/rooms/a%20b/realtime", 400), ("/rooms/%7Bid%7D/realtime", 400), ("/rooms/" + "a" * 201 + "/realtime", 400),
    ("/rooms/%00/realtime", 404), ("/rooms/a%2Fb/realtime", 404), ("/rooms//realtime", 404), ("/rooms/a", 404),
    ("/rooms/a/realtime/x", 404), ("/challenges", 404)])
def test_a_path_that_names_no_topic_opens_nothing(rooms, path, status):
    """What a client writes into the path is judged like the topic of a message."""
    with pytest.raises(InvalidStatus) as refused:
        rooms.client(path)
    assert refused.value.response.status_code == status


def test_the_path_fills_in_arguments(rooms, token):
    """A command on a socket of a shop's path is about that shop, with the caller's own rights."""
    with rooms.http() as http:
        command(http, "start_session", shopId="s1")
        command(http, "check_in", shopId="s1", userId="ann")
    with rooms.client("/shops/s1/dj", token=token("ann")) as ann, \
            rooms.client("/shops/s1/dj", token=token("eve")) as eve:
        for one, user in ((ann, "ann"), (eve, "eve")):
            assert {one.receive()["topic"] for _ in range(2)} == {"dj:s1", f"user:{user}"}
        ann.send("add_track", {"trackId": "t1"}, ref=1)
        assert {ann.receive()["event"] for _ in range(2)} == {"track:added", "ack"}
        eve.expect("track:added")
        eve.refused("add_track", {"trackId": "t2"}, "not_present")



# The same app by Socket.IO


def test_the_namespaces_of_the_app_serve_its_socket_io_clients(gw, token, topics, dj):
    """In Socket.IO `shopId` was the barbers' queue in `/dj`, votes had to name it, and no own topic was joined."""
    (shop, service), user = dj, topics("user").split(":")[1]
    with SocketIOPhone(gw, namespaces=["/dj", "/bookings", "/queue"], auth={"token": token("ann")}) as phone:
        for namespace in ("/dj", "/bookings", "/queue"):
            assert phone.hears("subscribed", namespace)["userId"] == "ann"
        phone.emit("subscribe", {"shopId": shop}, "/dj")
        phone.emit("vote", {"trackId": "t1", "vote": "down"}, "/dj")
        told = phone.hears("subscribed", "/dj")
        assert (told["topic"], told["shopId"]) == (f"dj:{shop}", shop)
        assert phone.call("vote", {"trackId": "t1", "vote": "up"}, "/dj")["upvotes"] == 1
        assert phone.call("add_track", {"trackId": "t2"}, "/dj")["trackId"] == "t2"
        assert phone.hears("track:added", "/dj")["trackId"] == "t2"
        assert "shopId" in phone.call("vote", {"trackId": "t1", "vote": "up"}, "/queue")["error"]["message"]
        assert phone.call("subscribe", {"shopId": shop}, "/queue")["topic"] == f"shop:{shop}"
        gw.publish("user:ann", "booking:status_change", {"bookingId": "1", "status": "confirmed"})
        for namespace in ("/bookings", "/queue"):
            assert phone.hears("booking:status_change", namespace) == {"bookingId": "1", "status": "confirmed"}
    # Nobody's topic is joined for a client without a token, by either transport; nor another's than the token's.
    with SocketIOPhone(gw, namespaces=["/bookings"], transports=["polling"]) as nobody, \
            SocketIOPhone(gw, namespaces=["/bookings"], transports=["polling"], auth={"token": token(user)}) as other:
        assert other.hears("subscribed", "/bookings")["userId"] == user
        gw.publish("user:ann", "booking:status_change", {"bookingId": "2", "status": "confirmed"})
        assert nobody.call("ping", {}, "/bookings") == other.call("ping", {}, "/bookings") == {}
        assert nobody.heard == other.heard == []
        assert nobody.call("authenticate", token("ann"), "/bookings")["userId"] == "ann"
        assert nobody.hears("subscribed", "/bookings")["userId"] == "ann"


def test_a_namespace_has_the_rules_of_the_socket_of_its_name(gateway, token):
    """`sockets` rules of the operator's own hold in the Socket.IO namespace of that name, and grant as little."""
    rules = {"sockets": {"/vip": {"join": ["shop:lounge", "session:back-room"]}, "/dj": {}, "/queue": None}}
    gw = gateway("--socketio-namespace", "/vip", config=rules)
    with SocketIOPhone(gw, namespaces=["/vip", "/dj", "/queue"], auth={"token": token("ann")}) as phone:
        # Redis is asked for the topic of which it has to be known whether she is a member.
        assert phone.hears("subscribed", "/vip")["topic"] == "shop:lounge"
        refused = phone.call("subscribe", {"topic": "session:back-room"}, "/vip")["error"]
        assert (refused["code"], refused["topic"]) == ("forbidden", "session:back-room")
        assert phone.call("subscribe", {"shopId": "42"}, "/dj")["topic"] == "shop:42"
        assert phone.names("/queue") == phone.names("/dj") == []


# What the app reads


def test_the_app_finds_its_own_vote_in_the_state(gw, phone, token, topic):
    """`upvotes` and `downvotes` of the state were counts; the app's model has lists of users, and looks for its own."""
    shop = topic.split(":")[1]
    with gw.http() as http:
        command(http, "start_session", shopId=shop, voters=True)
        for user in ("ann", "bob"):
            command(http, "check_in", shopId=shop, userId=user)
        command(http, "add_track", shopId=shop, trackId="t1", userId="bob")
    one = phone("/dj", token("ann"))
    one.say("subscribe", {"shopId": shop})
    item = one.hears("subscribed", shopId=shop)["state"]["queue"][0]
    assert (item["upvotes"], item["downvotes"]) == (["bob"], [])
    one.say("vote", {"trackId": "t1", "vote": "down"})
    assert one.hears("queue:update", trackId="t1") == {
        "trackId": "t1", "upvotes": 1, "downvotes": 1, "score": 0, "position": 1}
    again = phone("/dj", token("ann"))
    again.say("subscribe", {"shopId": shop})
    item = again.hears("subscribed", shopId=shop)["state"]["queue"][0]
    assert ("ann" in item["downvotes"], "ann" in item["upvotes"], item["downvoteCount"]) == (True, False, 1)


def test_tracks_come_as_spotify_describes_them(gw, phone, token, dj):
    """The app adds a track by its id alone, and `track:added` and `track:playing` had nothing for it to show."""
    shop, service = dj
    one = phone("/dj", token("ann"))
    one.say("subscribe", {"shopId": shop})
    one.hears("subscribed", shopId=shop)
    track = {"name": "Song", "artists": [{"name": "A"}, {"name": "B"}], "duration_ms": 190_000,
             "album": {"name": "Al", "images": [{"url": "https://i/1"}]}}
    service("describe_track", trackId="t2", track=track | {"popularity": 7})
    service("describe_track", trackId="t1", track=track)
    assert one.hears("track:described")["trackId"] == "t1"
    one.say("add_track", {"trackId": "t2"})
    flat = {"trackName": "Song", "artistName": "A", "albumArt": "https://i/1"}
    assert one.hears("track:added").items() >= {**track, **flat, "id": "t2"}.items()
    service("next_track")
    assert one.hears("track:playing").items() >= {**track, "id": "t1"}.items()
    # Nobody but a service says so.
    one.say("describe_track", {"trackId": "t2", "track": {"name": "forged"}})
    one.hears("error", code="forbidden")


def test_the_social_view_counts_new_posts(gw, phone, token, topics):
    """`feed_updates` was told to whoever asked for the feed, and never live."""
    user, barber = topics("user").split(":")[1], topics("feed").split(":")[1]
    with gw.http() as http:
        command(http, "follow", userId=user, barberId=barber)
        one = phone("/social", token(user))
        one.hears("subscribed", userId=user)
        command(http, "publish_post", barberId=barber, post={"id": "p1", "text": "hello"})
    update = one.hears("feed_updates")
    assert update.pop("timestamp") and update == {"type": "new_post", "postId": "p1", "barberId": barber}
    assert one.hears("feed:new_post")["id"] == "p1"


def test_a_state_is_an_event_where_the_operator_says_so(tmp_path, shared_server, certificate, topic):
    """The app's listener is called with the present value, and reads no `state` of an answer."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"sockets": {"/queue": {"first": {"shop": "queue:update"}, "socketio": True}}}))
    gateway = Gateway(tmp_path, shared_server.url, certificate, SECRET, "--config", str(config)).start().wait_ready()
    shop = topic.split(":")[1]
    try:
        host, port = gateway.address()
        with Phone(f"wss://{host}:{port}/queue", certificate.trusting_context()) as phone:
            phone.say("subscribe", {"shopId": shop})
            state = phone.expect("subscribed")["data"]["state"]
            assert phone.expect("queue:update") == {"topic": topic, "event": "queue:update", "data": state}
            assert state["queueLength"] == 0
        with SocketIOPhone(gateway, namespaces=("/queue",)) as page:
            page.emit("subscribe", {"shopId": shop}, namespace="/queue")
            assert page.hears("queue:update", "/queue")["queueLength"] == 0
        with gateway.client() as plain:
            plain.subscribe(topic)
            plain.expect_nothing()
    finally:
        gateway.stop()
