"""docs/reference_client.py resumes rightly: however its connections end, its view is what the log says."""

import asyncio
import random
import signal
import threading
from contextlib import contextmanager

import pytest

import reference_client
from Fixtures.clients.tokens import sign
from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.gateway import Gateway
from Fixtures.waiting import eventually

PLAIN = ("--listen-plain", "127.0.0.1:0")


class View:
    """What a program that uses the client believes: the events since it last had to begin anew, by topic."""

    def __init__(self):
        self.numbers = {}
        self.begun = {}

    def heard(self, topic, event, data):
        self.numbers.setdefault(topic, []).append(data["n"])

    def anew(self, topic, state):
        self.numbers[topic] = []
        self.begun[topic] = self.begun.get(topic, 0) + 1


@contextmanager
def following(proxy, topics, **options):
    """The client runs on a loop of its own meanwhile."""
    view, loop = View(), asyncio.new_event_loop()
    running = asyncio.ensure_future(
        reference_client.follow(f"ws://127.0.0.1:{proxy.port}/ws", topics, view.heard, view.anew, proxy=None,
                                compression=None, **options), loop=loop)

    def run():
        try:
            loop.run_until_complete(running)
        except (asyncio.CancelledError, RuntimeError) as error:
            view.ended = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield view
    finally:
        loop.call_soon_threadsafe(running.cancel)
        thread.join(5)
        assert not thread.is_alive()


def publish(gw: Gateway, topic: str, numbers) -> None:
    messages = [{"topic": topic, "event": "e", "data": {"n": number}} for number in numbers]
    with gw.http() as http:
        for start in range(0, len(messages), 50):
            response = http.post("/v1/broadcast", json={"messages": messages[start:start + 50]})
            assert response.status_code == 200 and all("offset" in one for one in response.json()["results"])


def plain(gw: Gateway) -> FaultProxy:
    return FaultProxy(gw.address("plain"))


def has(view, topic, numbers):
    eventually(lambda: len(view.numbers.get(topic, [])) >= len(numbers), 30, f"{len(numbers)} events")
    assert view.numbers[topic] == list(numbers)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_cut_at_any_point_its_view_is_the_log(gateway, topics, seed):
    """A client that stored the answer's offset after `recovered: true` lost events when it was cut again."""
    gw, rng = gateway(*PLAIN), random.Random(seed)
    names = [topics(), topics("dj")]
    with plain(gw) as proxy, following(proxy, names) as view:
        eventually(lambda: len(view.begun) == 2)
        published = {name: 0 for name in names}
        for _ in range(12):
            # Where the next connections end: in the upgrade, the answer, what was missed, what is live.
            came = proxy.accepted
            proxy.truncate(rng.randrange(100, 900))
            proxy.reset_all()
            for name in names:
                count = rng.randrange(1, 20)
                publish(gw, name, range(published[name], published[name] + count))
                published[name] += count
            eventually(lambda: proxy.accepted > came, 10, "a connection")
            proxy.heal()
            eventually(lambda: all(len(view.numbers[name]) >= published[name] for name in names), 10, "the events")
        for name in names:
            has(view, name, range(published[name]))
        assert view.begun == {name: 1 for name in names}, "nothing was lost, so nothing began anew"


def test_after_recovered_it_is_cut_before_the_events_and_gets_them_all(gateway, topic):
    """The answer says offset 40 and is all that arrives: the position must still be the client's own."""
    gw = gateway(*PLAIN)
    with plain(gw) as proxy, following(proxy, [topic]) as view:
        publish_first = range(3)
        eventually(lambda: topic in view.begun)
        publish(gw, topic, publish_first)
        has(view, topic, publish_first)
        proxy.refuse()
        proxy.reset_all()
        publish(gw, topic, range(3, 40))
        # The head of the upgrade and the answer fit, most of the events do not.
        proxy.heal(reset_holed=False)
        proxy.truncate(700)
        eventually(lambda: len(view.numbers[topic]) > 3, 10)
        proxy.heal()
        has(view, topic, range(40))
        assert view.begun[topic] == 1


def test_what_the_log_has_lost_begins_anew(gateway, server, topic):
    gw = gateway(*PLAIN, server=server)
    with plain(gw) as proxy, following(proxy, [topic]) as view, server.client() as db:
        eventually(lambda: topic in view.begun)
        publish(gw, topic, range(5))
        has(view, topic, range(5))
        proxy.refuse()
        proxy.reset_all()
        publish(gw, topic, range(5, 20))
        db.xtrim(f"{topic}#log", maxlen=4, approximate=False)
        proxy.heal()
        eventually(lambda: view.begun[topic] == 2, 10, "recovered: false")
        publish(gw, topic, range(20, 25))
        has(view, topic, range(20, 25))


def test_a_new_epoch_while_it_listens_begins_anew(gateway, server, topic):
    gw = gateway(*PLAIN, server=server)
    with plain(gw) as proxy, following(proxy, [topic]) as view, server.client() as db:
        eventually(lambda: topic in view.begun)
        publish(gw, topic, range(5))
        has(view, topic, range(5))
        db.flushall()
        publish(gw, topic, range(100, 104))
        eventually(lambda: view.begun[topic] == 2, 10, "a gap")
        has(view, topic, range(100, 104))
        # The position is of the new epoch: it resumes there.
        proxy.refuse()
        proxy.reset_all()
        publish(gw, topic, range(104, 108))
        proxy.heal()
        has(view, topic, range(100, 108))
        assert view.begun[topic] == 2


def test_a_drain_leads_it_to_the_other_gateway(gateway, topic):
    first, second = gateway(*PLAIN), gateway(*PLAIN)
    with plain(first) as proxy, following(proxy, [topic]) as view:
        eventually(lambda: topic in view.begun)
        publish(second, topic, range(5))
        has(view, topic, range(5))
        proxy.retarget(second.address("plain"))
        first.signal(signal.SIGTERM)
        publish(second, topic, range(5, 10))
        assert first.wait() == 0
        publish(second, topic, range(10, 15))
        has(view, topic, range(15))
        assert view.begun[topic] == 1


def test_what_redis_cannot_answer_is_asked_again_on_the_same_connection(gateway, server, topic):
    gw = gateway(*PLAIN, server=server)
    server.stop()
    with plain(gw) as proxy, following(proxy, [topic]) as view:
        eventually(lambda: proxy.open == 1)
        server.start()
        eventually(lambda: topic in view.begun, 20, "the subscription")
        eventually(lambda: gw.ops("/readyz").status_code == 200, 10)
        publish(gw, topic, range(3))
        has(view, topic, range(3))
        assert view.begun[topic] == 1


def test_a_refusal_that_stays_ends_it(gateway, topics, secret):
    gw = gateway(*PLAIN)
    headers = {"Authorization": f"Bearer {sign(secret, 'u1')}"}
    with plain(gw) as proxy, following(proxy, [topics("order")], additional_headers=headers) as view:
        eventually(lambda: hasattr(view, "ended"))
        assert "order:" in str(view.ended)
