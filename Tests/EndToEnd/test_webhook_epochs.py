"""Webhooks when an epoch ends: what Redis still has is sent first, and a gap tells of the rest."""

import base64
import json
import secrets
import time

import pytest

from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.epoch_reset import reset
from Fixtures.processes.faked_clock import FAKETIME
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

LIMITS = {"webhookMs": 2_000, "webhookLeaseMs": 2_500, "webhookPauseMs": 300, "webhookSweepMs": 300}
TOPIC = "shop:7"


@pytest.fixture
def redis_server(tmp_path):
    with RedisServer(tmp_path / "own").running("--appendonly", "yes") as server:
        yield server


class Receiver:
    """Answers with `status`, and keeps what it took of the topic."""

    def __init__(self):
        self.status, self.taken = 204, []

    def __call__(self, asked) -> Answer:
        told = json.loads(asked.body)
        if self.status == 204 and told["topic"] == TOPIC:
            self.taken.append(told)
        return Answer(self.status)

    @property
    def places(self) -> list:
        """The places of the events, and of gaps the place behind which events are missing, too."""
        return [(*told.get("after", {}).values(), told["epoch"], told["offset"]) for told in self.taken]


@pytest.fixture
def receiver():
    return Receiver()


@pytest.fixture
def courier(tmp_path, redis_server, certificate, receiver):
    """A factory of couriers that tell the receiver of shops."""
    started = []
    secret = tmp_path / "secret"
    secret.write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(32)) + b"\n")
    with OutsideServer(certificate, receiver) as server:
        def start(environment=None):
            directory = tmp_path / f"courier-{len(started)}"
            directory.mkdir()
            config = {"webhooks": {"kitchen": {"url": server.url, "secret-file": str(secret), "topics": ["shop:*"]}}}
            one = CourierProcess(directory, redis_server.url, certificate, config, limits=LIMITS)
            one.environment = environment or {}
            started.append(one)
            return one.start()

        yield start
        for one in started:
            one.stop()


def publish(http, count=1) -> list:
    """Publishes until Redis takes it; the places of the events."""
    def one():
        answer = http.post("/v1/broadcast", json={"topic": TOPIC, "event": "step", "data": {}})
        return answer.status_code == 200 and (answer.json()["epoch"], answer.json()["offset"])

    return [eventually(one, 10, "a publish") for _ in range(count)]


@pytest.mark.parametrize("kind", ["kill", "reset"])
def test_the_rest_of_an_ended_epoch_is_sent_and_then_a_gap(gateway, redis_server, courier, receiver, kind):
    """Redis was killed and came back with all its data: 19 of 20 events that waited were gone without a word."""
    gw, one = gateway(server=redis_server), courier()
    with gw.http() as http:
        receiver.status = 503
        waiting = publish(http, 20)
        eventually(lambda: one.metric("switchboard_webhooks_failed_total", receiver="kitchen"), 10, "it was asked")
        if kind == "kill":
            redis_server.kill()
            redis_server.start("--appendonly", "yes")
        else:
            reset(redis_server)
        newest = publish(http)
        assert newest[0][0] != waiting[0][0] and newest[0][1] == 1
        receiver.status = 204
        gap = (*waiting[-1], *newest[0])
        eventually(lambda: newest[0] in receiver.places, 15, "the newest event")
        assert list(dict.fromkeys(receiver.places)) == [*waiting, gap, *newest]
        told = next(told for told in receiver.taken if told["type"] == "gap")
        assert told["data"] == {"missed": None}
        assert told["after"] == {"epoch": waiting[-1][0], "offset": 20}
        assert one.metric("switchboard_webhooks_gaps_total", receiver="kitchen") == 1
        eventually(lambda: "got a gap" in one.log_text, 5, "a log line")


def test_an_epoch_that_ends_without_a_further_event_is_told(gateway, redis_server, courier, receiver):
    """A subscriber begins the new epoch: no event is told of, and the log has another name."""
    gw, one = gateway(server=redis_server), courier()
    with gw.http() as http, gw.client() as client:
        first = publish(http, 2)
        eventually(lambda: receiver.places == first, 10, "both events")
        reset(redis_server)
        epoch = client.subscribe(TOPIC)["epoch"]
        eventually(lambda: receiver.places[2:] == [(*first[-1], epoch, 1)], 10, "the gap")


@pytest.mark.parametrize("gone", ["log", "log and position"])
def test_events_that_ended_before_a_receiver_came_back_are_told(gateway, redis_server, courier, receiver, gone):
    """A receiver was away for longer than a log lives, and a topic of which it had no event was passed over."""
    gw, one = gateway(server=redis_server), courier()
    with gw.http() as http, redis_server.client() as db:
        receiver.status = 503
        ((epoch, _), *_) = publish(http, 3)
        eventually(lambda: one.metric("switchboard_webhooks_failed_total", receiver="kitchen"), 10, "it was asked")
        one.stop()
        db.delete(f"{TOPIC}#log", *([f"{TOPIC}#meta"] if "position" in gone else []))
        receiver.status = 204
        courier()
        (gap,) = eventually(lambda: receiver.taken, 10, "the gap")
        assert gap["after"] == {"epoch": epoch, "offset": 0} and gap["epoch"] == epoch
        # Without a position nobody knows where the epoch ended.
        assert gap["data"] == {"missed": None if "position" in gone else 3}


def test_events_published_before_the_first_look_of_a_courier_are_told_when_their_log_ended(
        gateway, redis_server, courier, receiver):
    """No courier ran while the events were there, and no publish followed."""
    gw, one = gateway(server=redis_server), courier()
    with gw.http() as http, redis_server.client() as db:
        eventually(lambda: db.exists("#webhook:kitchen"), 10, "the receiver is known")
        one.stop()
        ((epoch, _), *_) = publish(http, 3)
        db.delete(f"{TOPIC}#log")
        courier()
        eventually(lambda: receiver.places == [(epoch, 0, epoch, 4)], 10, "the gap")


@pytest.mark.skipif(not FAKETIME, reason="libfaketime is missing (scripts/packages.sh test installs it)")
def test_a_receiver_is_told_from_a_time_by_the_clock_of_redis(gateway, redis_server, courier, receiver):
    """A courier an hour fast took all events of its first hour for older than the receiver."""
    gw = gateway(server=redis_server)
    courier({"LD_PRELOAD": FAKETIME[0], "FAKETIME": "+1h", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
             "DONT_FAKE_MONOTONIC": "1"})
    with gw.http() as http, redis_server.client() as db:
        eventually(lambda: db.exists("#webhook:kitchen"), 10, "the receiver is known")
        assert abs(int(db.get("#webhook:kitchen")) / 1_000 - time.time()) < 60
        events = publish(http, 2)
        eventually(lambda: receiver.places == events, 10, "both events")


def test_redis_without_its_data_is_said_in_the_log(gateway, redis_server, courier, receiver):
    """After a flush nothing in Redis tells what was owed."""
    gw, one = gateway(server=redis_server), courier()
    with gw.http() as http, redis_server.client() as db:
        eventually(lambda: db.exists("#webhook:kitchen"), 10, "the receiver is known")
        since = db.get("#webhook:kitchen")
        db.flushall()
        eventually(lambda: "Redis has lost data" in one.log_text, 10, "a log line")
        assert db.get("#webhook:kitchen") == since, "events of topics that are there are owed as before"
