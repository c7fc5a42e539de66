"""`switchboard_delivery_latency_seconds`: slow deliveries are counted, however many publishes follow."""

import concurrent.futures
import contextlib
import signal

from Fixtures.waiting import eventually, pass_time

FAMILY = "switchboard_delivery_latency_seconds"
TOPICS = [f"shop:{number}" for number in range(6)]


def test_deliveries_that_wait_for_redis_are_counted(gateway, server):
    """A newer publish took the place of the awaited one, so that of several slow deliveries only the last counted."""
    node = gateway("--shards", "1", server=server)
    with node.client() as client, contextlib.ExitStack() as stack:
        callers = [stack.enter_context(node.http()) for _ in TOPICS]
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(len(TOPICS)))

        def publish(place: int) -> int:
            body = {"topic": TOPICS[place], "event": "e", "data": {"n": place}}
            return callers[place].post("/v1/broadcast", json=body).status_code

        for place, topic in enumerate(TOPICS):
            client.subscribe(topic)
            assert publish(place) == 200, "each connection is open from now on"
            client.expect("e")
        eventually(lambda: node.metric(f"{FAMILY}_count") > 0, 5, "a fast delivery is counted")
        fast = node.metric(f"{FAMILY}_bucket", le="0.25")
        server.signal(signal.SIGSTOP)
        try:
            sent = []
            for place in range(len(TOPICS)):
                sent.append(pool.submit(publish, place))
                pass_time(0.06, "publishes within 50 ms are not timed")
            pass_time(0.35, "Redis is slow")
        finally:
            server.signal(signal.SIGCONT)
        assert [one.result() for one in sent] == [200] * len(TOPICS)
        for _ in TOPICS:
            client.expect("e")
        eventually(lambda: node.metric(f"{FAMILY}_count") - node.metric(f"{FAMILY}_bucket", le="0.25") >= 3, 5,
                   "most of the slow deliveries are counted")
        assert node.metric(f"{FAMILY}_bucket", le="0.25") <= fast + 1
