"""The order app, as its source has it: Supabase's clients of all three generations, and a backend that publishes."""

import asyncio
import json

import pytest
from websockets.exceptions import ConnectionClosed

from Fixtures.clients.phoenix import WAIT_SECONDS, Frames, Supabase
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway

REST = "/realtime/v1/api/broadcast"
AT = "2026-11-22T18:00:00.000Z"


def story(order: str) -> list[tuple[str, dict]]:
    """The six events of the app's table, as its backend sends them."""
    return [
        ("upload_started", {"order_id": order, "status": "uploading", "file_count": 3, "timestamp": AT}),
        ("upload_completed", {"order_id": order, "status": "uploaded", "file_count": 3, "timestamp": AT}),
        ("processing_started", {"order_id": order, "status": "processing", "timestamp": AT}),
        ("webhook_image_processed",
         {"order_id": order, "image_id": "img-1", "error": False, "order_is_processing": True, "timestamp": AT}),
        ("webhook_image_processed",
         {"order_id": order, "image_id": "img-2", "error": True, "order_is_processing": False, "timestamp": AT}),
        ("download_ready",
         {"order_id": order, "status": "previews_ready", "storage_urls": ["https://s/1", "https://s/2"],
          "timestamp": AT}),
        ("processing_failed", {"order_id": order, "status": "failed", "error": "No credits left", "timestamp": AT})]


class OrderStatus:
    """The app's view model, line by line; `payload` is what its handlers are given."""

    def __init__(self):
        self.status, self.progress, self.previews, self.error = "waiting", 0.0, [], None
        self.uploaded, self.processed, self.is_processing, self.connected = 0, 0, False, []

    def heard(self, event: str, payload: dict) -> None:
        getattr(self, event)(payload)

    def upload_started(self, payload):
        self.status, self.progress = "uploading", 0.0
        assert payload["order_id"] != ""

    def upload_completed(self, payload):
        self.status, self.progress = "uploaded", 0.25
        if isinstance(payload.get("file_count"), int):
            self.uploaded = payload["file_count"]

    def processing_started(self, payload):
        self.status, self.progress, self.is_processing = "processing", 0.5, True
        assert payload["order_id"] != ""

    def webhook_image_processed(self, payload):
        if payload.get("error", False):
            self.error = f"Image processing failed: {payload.get('image_id', '')}"
        else:
            self.processed += 1

    def download_ready(self, payload):
        self.status, self.progress, self.is_processing = "previews_ready", 1.0, False
        self.previews = payload.get("storage_urls") or []

    def processing_failed(self, payload):
        self.status, self.is_processing = "failed", False
        self.error = payload.get("error", "Processing failed")

    def shows_everything(self) -> None:
        """What a user of the app sees behind the whole story."""
        assert (self.status, self.progress, self.uploaded, self.processed) == ("failed", 1.0, 3, 1)
        assert self.previews == ["https://s/1", "https://s/2"] and self.error == "No credits left"


@pytest.fixture(scope="module")
def orders(tmp_path_factory, shared_server, certificate):
    """A gateway that serves the pack of orders alone."""
    directory = tmp_path_factory.mktemp("orders")
    (directory / "mint-secret").write_bytes(b"a secret for tokens of the gateway's own\n")
    gateway = Gateway(directory, shared_server.url, certificate, SECRET, "--packs", "orders", "--mint-secret-file",
                      str(directory / "mint-secret"))
    keys = directory / "api-keys"
    keys.write_text(keys.read_text() + "app:publishable-key-of-the-app-0001:public\n")
    yield gateway.start().wait_ready()
    gateway.stop()


@pytest.fixture
def order(topics):
    return topics("order")


def broadcast(gateway, *messages: dict):
    """What the app's backend does; a batch in one request."""
    with gateway.http(key=None) as http:
        answer = http.post(REST, json={"messages": list(messages)}, headers={"apikey": API_KEY})
    assert (answer.status_code, answer.content) == (202, b""), answer.text


def tell(gateway, topic: str) -> None:
    for event, payload in story(topic.removeprefix("order:")):
        broadcast(gateway, {"topic": topic, "event": event, "payload": payload})


class V1(Frames):
    """supabase-swift 2.x before 2.44: objects, `phx_join` with everything it always sends."""

    def __init__(self, gateway, key):
        super().__init__(gateway, key, "1.0.0")

    def enter(self, topic: str, token: str) -> None:
        self.send_raw(json.dumps({
            "topic": f"realtime:{topic}", "event": "phx_join", "ref": "1", "join_ref": "1",
            "payload": {"access_token": token, "version": "realtime-swift/2.5.1", "config": {
                "broadcast": {"ack": False, "self": False}, "presence": {"key": ""}, "postgres_changes": [],
                "private": False}}}))
        reply = json.loads(self.receive_raw())
        reply["payload"]["response"].pop("state", None)  # of an order that has events already
        assert reply == {"topic": f"realtime:{topic}", "event": "phx_reply", "ref": "1", "payload": {
            "status": "ok", "response": {"postgres_changes": []}}}

    def next_payload(self, topic: str, event: str) -> dict:
        frame = json.loads(self.receive_raw())
        assert frame.keys() == {"topic", "event", "payload", "ref"} and frame["ref"] is None, frame
        assert (frame["topic"], frame["event"]) == (f"realtime:{topic}", event), frame
        return frame["payload"]


class V2(Frames):
    """supabase-swift from 2.44 on: arrays."""

    CONFIG = {"broadcast": {"ack": False, "self": False, "replication_ready": False},
              "presence": {"key": "", "enabled": False}, "postgres_changes": [], "private": False}

    def enter(self, topic: str, token: str) -> None:
        self.push("1", "1", f"realtime:{topic}", "phx_join", {
            "config": self.CONFIG, "access_token": token, "version": "supabase-swift/2.55.1"})
        assert self.reply() | {"state": None} == {"postgres_changes": [], "state": None}

    def next_payload(self, topic: str, event: str) -> dict:
        frame = self.pull()
        assert frame[2:4] == [f"realtime:{topic}", event], frame
        return frame[4]


class Older(V2):
    """supabase-swift's older `RealtimeClient`, which the app is written for: arrays in text frames."""

    CONFIG = {"broadcast": {"ack": False, "self": False}, "presence": {"key": ""}, "postgres_changes": []}


@pytest.mark.parametrize("kind", [Older, V1, V2])
def test_the_app_follows_its_order(orders, order, token, kind):
    """Join, `system` ok, the six events, heartbeat, leave: with what the app's handlers read in its place."""
    mine = token("u1", topics=[order])
    shown = OrderStatus()
    with kind(orders, mine) as app:
        app.enter(order, mine)
        assert app.next_payload(order, "system") == {
            "extension": "system", "status": "ok", "message": "Replication connection established", "channel": order}
        tell(orders, order)
        for number, (event, payload) in enumerate(story(order.removeprefix("order:"))):
            whole = app.next_payload(order, "broadcast")
            meta = whole.pop("meta")
            assert meta["offset"] == number + 1
            # Handlers of the newer clients read `payload`, those of the older one the whole message's payload.
            inner = {"type": "broadcast", "event": event, "payload": payload}
            assert whole == payload | inner, whole
            shown.heard(event, whole["payload"] if kind is not Older else whole)
        # The example of the app's documents.
        broadcast(orders, {"topic": order, "event": "test_event", "payload": {"test": "data"}})
        assert app.next_payload(order, "broadcast")["payload"] == {"test": "data"}
        if kind is V1:
            app.send_raw('{"topic":"phoenix","event":"heartbeat","payload":{},"ref":"2"}')
            assert json.loads(app.receive_raw())["ref"] == "2"
            app.send_raw(json.dumps({"topic": f"realtime:{order}", "event": "phx_leave", "payload": {}, "ref": "3"}))
            left = [json.loads(app.receive_raw())["event"] for _ in range(2)]
        else:
            app.quiet()
            app.push("1", "3", f"realtime:{order}", "phx_leave", {})
            left = [app.pull()[3] for _ in range(2)]
        assert left == ["phx_reply", "phx_close"]
    shown.shows_everything()


def test_pythons_client_follows_an_order(orders, order, token, certificate, monkeypatch):
    """PyPI `realtime`, unmodified, with one handler for each event and one for `system`."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.cert))
    shown = OrderStatus()

    async def run():
        async with Supabase(orders, token("u1", topics=[order])) as supabase:
            channel = supabase.client.channel(order)
            for event in {event for event, _ in story("")}:
                channel.on_broadcast(event, lambda told, event=event: (
                    shown.heard(event, told["payload"]), supabase.heard.put_nowait(told)))
            channel.on_system(supabase.notices.put_nowait)
            await asyncio.wait_for(channel.subscribe(lambda state, _: supabase.states.put_nowait(state)), WAIT_SECONDS)
            assert (await supabase.state()).value == "SUBSCRIBED"
            notice = await asyncio.wait_for(supabase.notices.get(), WAIT_SECONDS)
            assert notice.status == "ok" and notice.channel == order
            await asyncio.to_thread(tell, orders, order)
            for event, payload in story(order.removeprefix("order:")):
                told = await supabase.next()
                assert (told["event"], told["payload"]) == (event, payload)
            await channel.unsubscribe()

    asyncio.run(run())
    shown.shows_everything()


def test_a_backends_batch_of_256_comes_whole_and_in_order(orders, order, token):
    """One request with 256 messages: 202 without a body, and each event once to every client."""
    mine = token("u1", topics=[order])
    with Older(orders, mine) as older, V1(orders, mine) as newer:
        for app in (older, newer):
            app.enter(order, mine)
            app.next_payload(order, "system")
        images = [{"order_id": order.removeprefix("order:"), "image_id": f"img-{number}", "error": False,
                   "order_is_processing": number < 255, "timestamp": AT} for number in range(256)]
        broadcast(orders, *({"topic": order, "event": "webhook_image_processed", "payload": one} for one in images))
        for app in (older, newer):
            told = [app.next_payload(order, "broadcast") for _ in images]
            assert [one["payload"] for one in told] == images
            assert [one["image_id"] for one in told] == [one["image_id"] for one in images]


def test_an_order_is_its_owners(orders, order, token):
    """A publishable key and another order's token hear nothing, and who may hear may not tell."""
    mine, other = token("u1", topics=[order]), token("u2", topics=[order + "x"])
    reason = f"Unauthorized: You do not have permissions to read from this Channel topic: {order}"
    for key in ("publishable-key-of-the-app-0001", other):
        with Frames(orders, key) as stranger:
            assert stranger.join(f"realtime:{order}", status="error")["reason"] == reason
    with Older(orders, mine) as app:
        app.enter(order, mine)
        app.next_payload(order, "system")
        app.push("1", "2", f"realtime:{order}", "broadcast", {
            "type": "broadcast", "event": "download_ready", "payload": {"storage_urls": ["https://evil"]}})
        refused = app.next_payload(order, "system")
        assert refused["status"] == "ok" and refused["message"].startswith("broadcast refused")
    forged = {"messages": [{"topic": order, "event": "download_ready", "payload": {}}]}
    for key, status in ((mine, 403), ("publishable-key-of-the-app-0001", 401), (None, 401)):
        with orders.http(key=key) as http:
            assert http.post(REST, json=forged).status_code == status
    with orders.http() as http:
        assert http.get(f"/v1/topics/{order}").json()["offset"] == 0


def test_a_refused_join_is_told_by_a_system_message_too(orders, order, token):
    """The app shows `system` with status error; the reply alone is what newer clients read."""
    reason = f"Unauthorized: You do not have permissions to read from this Channel topic: {order}"
    with Frames(orders, token("u2", topics=[order + "x"])) as stranger:
        assert stranger.join(f"realtime:{order}", status="error")["reason"] == reason
        frame = stranger.pull()
        assert frame[2:4] == [f"realtime:{order}", "system"]
        assert (frame[4]["status"], frame[4]["message"]) == ("error", reason)


@pytest.mark.parametrize("kind", [Older, V1, V2])
def test_who_joins_late_sees_where_the_order_stands(orders, order, token, kind):
    """The newest event with a status stands in the reply, although events without one came after it."""
    mine = token("u1", topics=[order])
    number = order.removeprefix("order:")
    for event, payload in story(number)[:4]:
        broadcast(orders, {"topic": order, "event": event, "payload": payload})
    with kind(orders, mine) as app:
        answer = joined_late(app, order, mine)
    assert answer == {"postgres_changes": [], "state": {
        "event": "processing_started",
        "payload": {"order_id": number, "status": "processing", "timestamp": AT}}}


def joined_late(app, topic, token):
    """What the reply of a join has."""
    config = {"broadcast": {"ack": False, "self": False}, "presence": {"key": ""}, "postgres_changes": []}
    if isinstance(app, V1):
        app.send_raw(json.dumps({"topic": f"realtime:{topic}", "event": "phx_join", "ref": "1", "join_ref": "1",
                                 "payload": {"access_token": token, "config": config}}))
        return json.loads(app.receive_raw())["payload"]["response"]
    app.push("1", "1", f"realtime:{topic}", "phx_join", {"config": config, "access_token": token})
    return app.reply()


def test_a_publishable_key_publishes_where_anyone_may(tmp_path, shared_server, certificate, topics):
    """The cURL of the app's documents, on a gateway whose operator has opened the namespace; and nowhere else."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"namespaces": {"order": {"subscribe": "anyone", "publish": "anyone"}}}))
    gateway = Gateway(tmp_path, shared_server.url, certificate, SECRET, "--packs", "orders", "--config", str(config))
    keys = tmp_path / "api-keys"
    keys.write_text(keys.read_text() + "app:publishable-key-of-the-app-0001:public\n")
    gateway.start().wait_ready()
    try:
        topic = topics("order")
        with Frames(gateway, PUBLIC) as app, gateway.http(key=None) as http:
            app.join(f"realtime:{topic}")
            message = {"topic": topic, "event": "test_event", "payload": {"test": "data"}}
            answer = http.post(REST, json={"messages": [message]}, headers={"apikey": PUBLIC})
            assert (answer.status_code, answer.content) == (202, b""), answer.text
            while (frame := app.pull())[3] != "broadcast":
                pass
            assert frame[4]["event"] == "test_event"
            answer = http.post(REST, json={"messages": [message | {"topic": "user:u1"}]}, headers={"apikey": PUBLIC})
            assert answer.status_code == 401
            assert http.post(REST, json={"messages": [message]}).status_code == 401, "without any key"
    finally:
        gateway.stop()


# Customers without an account: the order's own secret

PUBLIC = "publishable-key-of-the-app-0001"


def secret_of(gateway, order: str) -> dict:
    """What the app's backend asks for, and mails with the link to the order."""
    with gateway.http(key=API_KEY) as http:
        answer = http.post(f"/v1/orders/{order.removeprefix('order:')}/pass")
    assert answer.status_code == 201 and answer.json()["topic"] == order, answer.text
    return answer.json()


@pytest.mark.parametrize("kind", [Older, V1, V2])
def test_an_orders_secret_opens_that_order_alone(orders, order, kind):
    """All generations of the client, with the app's publishable key and the secret as their access token."""
    secret = secret_of(orders, order)["token"]
    with kind(orders, PUBLIC) as app:
        app.enter(order, secret)
        assert app.next_payload(order, "system")["status"] == "ok"
        tell(orders, order)
        assert [app.next_payload(order, "broadcast")["payload"] for _ in story("")] == [
            payload for _, payload in story(order.removeprefix("order:"))]
    with kind(orders, secret) as app:
        app.enter(order, secret)
    reason = f"Unauthorized: You do not have permissions to read from this Channel topic: {order}x"
    with Frames(orders, PUBLIC) as stranger:
        stranger.push("1", "1", f"realtime:{order}x", "phx_join", {"config": V2.CONFIG, "access_token": secret})
        assert stranger.reply(status="error")["reason"] == reason


def test_an_orders_secret_tells_nothing_and_ends(orders, order, token):
    secret = secret_of(orders, order)
    forged = {"messages": [{"topic": order, "event": "download_ready", "payload": {"storage_urls": ["https://evil"]}}]}
    with orders.http(key=secret["token"]) as http:
        assert http.post(REST, json=forged).status_code == 403
        assert http.get(f"/v1/topics/{order}").json()["offset"] == 0
        assert http.get(f"/v1/topics/{order}x").status_code == 403
        assert http.post(f"/v1/orders/{order.removeprefix('order:')}/pass").status_code == 403, "it makes no other"
    for key, status in ((PUBLIC, 401), (None, 401), (token("u1", topics=[order]), 403)):
        with orders.http(key=key) as http:
            assert http.post(f"/v1/orders/{order.removeprefix('order:')}/pass").status_code == status
    with V2(orders, PUBLIC) as app:
        app.enter(order, secret["token"])
        app.next_payload(order, "system")
        with orders.http(key=API_KEY) as http:
            assert http.post("/v1/revocations", json={"tokenId": secret["tokenId"]}).status_code == 200
        assert app.next_payload(order, "system")["status"] == "error"
        with pytest.raises(ConnectionClosed):
            app.receive_raw()
    with Frames(orders, PUBLIC) as stranger:
        stranger.push("1", "1", f"realtime:{order}", "phx_join", {
            "config": V2.CONFIG, "access_token": secret["token"]})
        stranger.reply(status="error")
    other = secret_of(orders, order)["token"]
    with V2(orders, PUBLIC) as app:
        app.enter(order, other)


def test_pythons_client_follows_an_order_without_an_account(orders, order, certificate, monkeypatch):
    """PyPI `realtime`, unmodified: `set_auth` with the order's secret, then a channel as every app has it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.cert))
    secret = secret_of(orders, order)["token"]

    async def run():
        async with Supabase(orders, PUBLIC) as supabase:
            await supabase.client.set_auth(secret)
            await supabase.join(order)
            await asyncio.to_thread(tell, orders, order)
            for event, payload in story(order.removeprefix("order:")):
                told = await supabase.next()
                assert (told["event"], told["payload"]) == (event, payload)
            stranger = supabase.client.channel(order + "x")
            await asyncio.wait_for(
                stranger.subscribe(lambda state, _: supabase.states.put_nowait(state)), WAIT_SECONDS)
            assert (await supabase.state()).value == "CHANNEL_ERROR"

    asyncio.run(run())
