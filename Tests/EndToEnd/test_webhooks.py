"""Webhooks: signed, in order for each topic, sent again until they are taken; the receiver is written from the page."""

import base64
import hashlib
import hmac
import json
import secrets
import signal
import time

import pytest

from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.waiting import eventually

SECRETS = [b"whsec_" + base64.b64encode(secrets.token_bytes(24 + n)) for n in range(2)]
LIMITS = {"webhookMs": 400, "webhookLeaseMs": 1_000, "webhookPauseMs": 400, "webhookSweepMs": 500}


def verified(asked, secret: bytes) -> bool:
    """What docs/courier.md tells a receiver to do."""
    key = base64.b64decode(secret.removeprefix(b"whsec_"))
    signed = f"{asked.headers['webhook-id']}.{asked.headers['webhook-timestamp']}.".encode() + asked.body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    fresh = abs(time.time() - int(asked.headers["webhook-timestamp"])) < 300
    return fresh and any(hmac.compare_digest(one, wanted) for one in asked.headers["webhook-signature"].split(" "))


class Receiver:
    """Takes what is signed; `plan` decides by topic and offset how else it answers."""

    def __init__(self):
        self.plan, self.taken = lambda told: None, []

    def __call__(self, asked) -> Answer:
        if asked.headers["content-type"] != "application/json" or not all(verified(asked, one) for one in SECRETS):
            return Answer(401)
        told = json.loads(asked.body) | {"id": asked.headers["webhook-id"]}
        answer = self.plan(told)
        if answer is None:
            self.taken.append(told)
        return answer or Answer(204)

    def of(self, topic) -> list:
        """The offsets of a topic in the order in which they were taken, each once for each time."""
        return [told["offset"] for told in self.taken if told["topic"] == topic]


@pytest.fixture(scope="module")
def outside(certificate):
    with OutsideServer(certificate, Receiver()) as server:
        yield server


@pytest.fixture
def receiver(outside):
    outside.answer = Receiver()
    return outside.answer


@pytest.fixture
def courier(tmp_path, shared_server, certificate, outside, request, db):
    """A factory of couriers that tell the receiver of orders; the receiver's name is the test's own."""
    started = []
    name = "hook-" + hashlib.sha256(request.node.name.encode()).hexdigest()[:12]

    def start(limits=None, flags=(), before=None, **hook):
        directory = tmp_path / f"courier-{len(started)}"
        directory.mkdir()
        (directory / "secret").write_bytes(b"\n".join(SECRETS) + b"\n")
        own = {"url": outside.url + "/hook", "secret-file": str(directory / "secret"), "topics": ["order:*"],
               "give-up-seconds": 10}
        others = {name: own | {"url": url} for name, url in (before or {}).items()}
        config = {"webhooks": others | {name: own | hook}}
        one = CourierProcess(directory, shared_server.url, certificate, config, *flags, limits=LIMITS | (limits or {}))
        one.hook = name
        started.append(one)
        return one.start()

    yield start
    for one in started:
        one.stop()
    db.delete(f"#webhook:{name}", f"#webhook-dead:{name}")


@pytest.fixture
def order(topics):
    return topics("order")


def wait_for(receiver, topic, offsets, seconds=10):
    eventually(lambda: receiver.of(topic) == offsets, seconds, f"{offsets} of {topic}")


def test_an_event_comes_signed_with_its_place(gw, courier, receiver, order):
    courier()
    position = gw.publish(order, "status", {"is": "ready"})
    wait_for(receiver, order, [1])
    told = next(told for told in receiver.taken if told["topic"] == order)
    stamp = told.pop("timestamp")
    assert told == {"type": "status", "topic": order, "epoch": position["epoch"], "offset": 1, "data": {"is": "ready"},
                    "id": f"{order}:{position['epoch']}:1".replace(".", "%2E")}
    assert stamp.endswith("Z") and len(stamp) == 24


def test_only_what_is_wanted_comes_and_nothing_from_before(gw, courier, receiver, topics):
    early, late, other = topics("order"), topics("order"), topics("shop")
    gw.publish(early, "status.old")
    one = courier(events=["status.*", "done"])
    for topic in (early, late, other):
        for event in ("status.a", "noise", "done"):
            gw.publish(topic, event)
    wait_for(receiver, early, [2, 4])
    wait_for(receiver, late, [1, 3])
    assert receiver.of(other) == []
    eventually(lambda: one.metric("switchboard_webhooks_sent_total", receiver=one.hook) == 4, 5, "they are counted")


def test_order_is_kept_over_failures_and_other_topics_go_on(gw, courier, receiver, topics):
    first, second = topics("order"), topics("order")
    left = {"n": 3}

    def plan(told):
        if told["topic"] == first and told["offset"] == 2 and left["n"]:
            left["n"] -= 1
            return Answer(500)

    receiver.plan = plan
    courier()
    for n in range(5):
        gw.publish(first, "step", {"n": n})
        gw.publish(second, "step", {"n": n})
    wait_for(receiver, second, [1, 2, 3, 4, 5])
    wait_for(receiver, first, [1, 2, 3, 4, 5])
    assert not left["n"]


def test_a_receiver_that_was_away_gets_everything_in_order(gw, courier, receiver, outside, topics, rng):
    """Connections fail, then the receiver is slow, says 503, and cuts; what it took before it is not sent again."""
    orders = [topics("order") for _ in range(3)]
    one = courier()
    for topic in orders:
        gw.publish(topic, "step")
        wait_for(receiver, topic, [1])
    outside.away()
    for n in range(20):
        gw.publish(orders[n % 3], "step", {"n": n})
    eventually(lambda: one.metric("switchboard_webhook_open", receiver=one.hook) == 1, 10, "it is left alone")
    bad = [Answer(never=True), Answer(503), Answer(429, b"", {"retry-after": "1"}), Answer(cut=True)]
    receiver.plan = lambda told: bad.pop() if bad else None
    outside.listen()
    for index, topic in enumerate(orders):
        wait_for(receiver, topic, list(range(1, 2 + len(range(index, 20, 3)))), 20)
    assert not bad and one.metric("switchboard_webhooks_dead_total", receiver=one.hook) == 0


def test_a_receiver_that_is_slow_keeps_no_other_waiting(gw, courier, receiver, certificate, order, db):
    """All receivers shared the places for requests, and those of a slow one were all taken."""
    with OutsideServer(certificate, lambda asked: Answer(never=True)) as slow:
        courier({"outsideRequestsMax": 1, "webhookMs": 20_000, "webhookLeaseMs": 30_000}, before={"slow": slow.url})
        gw.publish(order, "step")
        eventually(lambda: slow.asked, what="the slow one was asked")
        gw.publish(order, "step")
        wait_for(receiver, order, [1, 2], 5)
    db.delete("#webhook:slow")


def test_what_is_refused_for_good_is_put_aside(gw, courier, receiver, order, db):
    receiver.plan = lambda told: Answer(410) if told["offset"] == 2 else None
    one = courier()
    for n in range(3):
        gw.publish(order, "step", {"n": n})
    wait_for(receiver, order, [1, 3])
    ((_, dead),) = db.xrange(f"#webhook-dead:{one.hook}")
    assert dead[b"topic"].decode() == order and dead[b"reason"] == b"status 410" and dead[b"d"] == b'{"n":1}'
    assert dead[b"id"].decode().endswith(":2") and dead[b"e"] == b"step"


def test_each_failed_webhook_says_why(gw, courier, receiver, order):
    """Of a receiver that failed, only a counter told, and not with which answer."""
    bad = [Answer(500), Answer(503)]
    receiver.plan = lambda told: bad.pop(0) if bad and told["topic"] == order else None
    one = courier()
    gw.publish(order, "step")
    wait_for(receiver, order, [1])
    told = [json.loads(line) for line in one.log_text.splitlines() if "a webhook failed" in line and order in line]
    assert [(line["reason"], line["attempt"]) for line in told] == [("status 500", "1"), ("status 503", "2")]
    assert all(line["receiver"] == one.hook and line["id"].endswith(":1") for line in told)
    assert one.metric("switchboard_webhooks_failed_total", receiver=one.hook, reason="status_5xx") == 2


def test_what_was_put_aside_is_told_again_in_its_order(gw, courier, receiver, order, db):
    """The receiver is told from that event on, so that the newest word of a topic is still its last."""
    receiver.plan = lambda told: Answer(410) if told["offset"] == 2 else None
    query = {"service": "webhooks:" + courier().hook}
    for n in range(3):
        gw.publish(order, "step", {"n": n})
    wait_for(receiver, order, [1, 3])
    receiver.plan = lambda told: None
    with gw.http() as http:
        (letter,) = http.get("/v1/dead-letters", params=query).json()["deadLetters"]
        assert (letter["topic"], letter["event"], letter["data"]) == (order, "step", {"n": 1})
        answer = http.post("/v1/dead-letters/retry", params=query)
        assert (answer.status_code, answer.json()) == (200, {"retried": 1, "gone": 0, "next": None})
        wait_for(receiver, order, [1, 3, 2, 3])
        # Orders of other tests may come between.
        assert [told["id"] for told in receiver.taken if told["topic"] == order][2] == letter["webhookId"]
        # What the log has no longer stays, to be read.
        db.xadd(f"#webhook-dead:{query['service'][9:]}", {"topic": order, "id": letter["webhookId"][:-1] + "9"})
        assert http.post("/v1/dead-letters/retry", params=query).json()["gone"] == 1
        assert http.delete("/v1/dead-letters", params=query).json() == {"dropped": 1}


def test_a_new_secret_signs_after_a_reload_and_a_broken_file_changes_nothing(gw, courier, receiver, outside, order):
    one = courier()
    file = one.directory / "secret"

    def signatures(offset):
        gw.publish(order, "step", {"n": offset})
        wait_for(receiver, order, list(range(1, offset + 1)))
        asked = next(asked for asked in reversed(outside.asked) if json.loads(asked.body)["topic"] == order)
        return asked, len(asked.headers["webhook-signature"].split(" "))

    assert signatures(1)[1] == 2
    newest = b"whsec_" + base64.b64encode(secrets.token_bytes(32))
    for content, word, count in ((b"\n".join([*SECRETS, newest]), "reloaded", 3), (b"whsec_x\n", "reload refused", 3)):
        file.write_bytes(content)
        one.process.send_signal(signal.SIGHUP)
        eventually(lambda: word in one.log_text, 10, word)
        asked, found = signatures(2 if word == "reloaded" else 3)
        assert found == count and verified(asked, newest)


def test_couriers_share_the_work_and_one_that_is_killed_loses_nothing(gw, courier, receiver, topics, rng):
    orders = [topics("order") for _ in range(6)]
    couriers = [courier(), courier()]
    counts = dict.fromkeys(orders, 0)
    for n in range(90):
        topic = rng.choice(orders)
        counts[topic] += 1
        gw.publish(topic, "step", {"n": n})
        if n == 45:
            couriers[0].kill()
    for topic in orders:
        eventually(lambda topic=topic: counts[topic] in receiver.of(topic) or not counts[topic], 20, "the last one")
        took = receiver.of(topic)
        # What a courier had in hand may come twice, in its place: without repetitions the order is whole.
        assert list(dict.fromkeys(took)) == list(range(1, counts[topic] + 1)), took
        assert all(after - before in (0, 1) for before, after in zip(took, took[1:])), took


def test_what_was_published_while_no_courier_ran_comes_later(gw, courier, receiver, order):
    one = courier()
    gw.publish(order, "step")
    wait_for(receiver, order, [1])
    one.stop()
    for _ in range(3):
        gw.publish(order, "step")
    courier()
    wait_for(receiver, order, [1, 2, 3, 4])


def test_a_hole_in_the_log_is_told(gw, courier, receiver, order, db):
    one = courier()
    gw.publish(order, "step")
    wait_for(receiver, order, [1])
    one.stop()
    for _ in range(5):
        gw.publish(order, "step")
    db.xtrim(f"{order}#log", maxlen=2, approximate=False)
    courier()
    wait_for(receiver, order, [1, 5, 5, 6])
    gap = [told for told in receiver.taken if told["type"] == "gap"]
    assert len(gap) == 1 and gap[0]["data"] == {"missed": 3} and gap[0]["id"].endswith(":5:gap")


def test_nothing_of_a_topic_stays_longer_than_the_topic(gw, courier, receiver, order, db):
    """A client that may publish makes topics at will; the cursor of each lived for a month."""
    one = courier()
    gw.publish(order, "step")
    wait_for(receiver, order, [1])
    eventually(lambda: db.exists(f"{order}#hook#{one.hook}") and not db.exists(f"{order}#hook-lease#{one.hook}"),
               what="the cursor stands and the lease is given back")
    position_ms = db.pttl(f"{order}#meta")  # read first: both run down meanwhile
    assert 0 < db.pttl(f"{order}#hook#{one.hook}") <= position_ms + 60_000
    assert set(db.scan_iter(f"{order}#hook*")) == {f"{order}#hook#{one.hook}".encode()}


def test_whatever_stands_in_a_log_ends_no_courier(gw, courier, receiver, order, db):
    one = courier()
    gw.publish(order, "step")
    wait_for(receiver, order, [1])
    epoch = db.hget(f"{order}#meta", "epoch")
    for offset, fields in ((2, {"e": "step", "d": "no json"}), (3, {"x": "y"}), (4, {"e": "bad name", "d": "{}"}),
                           (5, {"e": "step", "d": '{"n":1}', "t": "99999999999999999999"})):
        db.xadd(f"{order}#log", fields, id=f"{offset}-0")
    db.hset(f"{order}#meta", mapping={"epoch": epoch, "offset": 5})
    db.publish(order, "anything")
    wait_for(receiver, order, [1, 5])
    assert db.xlen(f"#webhook-dead:{one.hook}") == 3 and one.process.poll() is None
