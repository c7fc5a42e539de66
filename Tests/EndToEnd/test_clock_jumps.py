"""The wall clock jumps, the process stands still: nobody who is connected loses anything.

Every deadline runs on the monotonic clock, and tokens are judged by Redis's time.
"""

import signal
import time

import pytest

from Fixtures.processes.faked_clock import FakedClock, needs_faketime
from Fixtures.processes.gateway import command
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually, pass_time

JUMPS = ["+1h", "-1h", "+1y", "-1y", "+0"]


@pytest.fixture
def redis_server(tmp_path):
    with RedisServer(tmp_path / "own").running() as server:
        yield server


@needs_faketime
def test_wall_clock_jumps_close_nobody(gateway, token, topic, tmp_path):
    gw = gateway(limits={"pingMs": 300, "pongMs": 300, "redisProbeMs": 250})
    clock = FakedClock(gw, tmp_path / "clock")
    fresh = token("u1", exp=int(time.time()) + 7_200)
    with gw.client() as anonymous, gw.client(token=fresh) as user:
        anonymous.subscribe(topic)
        user.subscribe(topic)
        offset = 0
        for jump in JUMPS:
            clock.jump(jump)
            pass_time(0.8, "longer than a ping and its pong")
            gw.publish(topic, "e", {"after": jump})
            offset += 1
            # A session ends when its token did by the clock of its beginning, so a jump ends none.
            for client in (anonymous, user):
                client.expect("e", offset=offset)
                client.expect_nothing()
            # A token that is presented now is judged by Redis's time, which did not jump.
            with gw.http(fresh) as http:
                assert http.get(f"/v1/topics/{topic}").status_code == 200, jump
        gw.wait_ready()
        page = gw.metrics()
        assert page.value("switchboard_connections_closed_total", reason="timeout") == 0
        assert page.value("switchboard_connections_closed_total", reason="unauthorized") == 0
        assert page.value("switchboard_ready") == 1


def test_redis_whose_clock_went_back_gives_leases_on_and_tells_removals(gateway, worker, token, redis_server):
    """A dead worker held the outbox for the hour, and a member who was taken out stayed in for 17.5 s.

    libfaketime and Redis's allocator do not bear each other. So the data are made an hour younger than the clock.
    """
    limits = {"leaseMs": 1_000, "membershipCheckMs": 60_000}
    gw, first = gateway(server=redis_server, limits=limits), worker(server=redis_server, limits=limits)
    with gw.http() as http, redis_server.client() as redis, gw.client(token=token("u1")) as client:
        later = (redis.time()[0] + 3_600) * 1_000
        http.put("/v1/topics/conversation:c/members/u1").raise_for_status()
        client.subscribe("conversation:c")
        redis.zadd("#removed", {"conversation:c u2": later})
        pass_time(1.2, "two questions of the gateway: it has read the removal")
        redis.delete("#removed")  # as a minute later
        http.delete("/v1/topics/conversation:c/members/u1").raise_for_status()
        client.expect("unsubscribed", topic="conversation:c")
        first.kill()
        for partition, lease in redis.hgetall("#leases").items():
            if partition != b"token":
                redis.hset("#leases", partition, b" ".join([*lease.split()[:2], b"%d" % later]))
        redis.zadd("#workers", dict.fromkeys(redis.zrange("#workers", 0, -1), later))
        worker(server=redis_server, limits=limits)
        command(http, "create_booking", shopId="7", bookingId="b1", userId="u1", tier="standard")
        eventually(lambda: redis.exists("queue:7") and not redis.xlen("#outbox"), 5, "what the dead one held")


def test_standing_still_longer_than_ping_and_pong_closes_nobody(gateway, topic):
    gw = gateway(limits={"pingMs": 400, "pongMs": 400, "outboundAgeMs": 400})
    with gw.client() as one, gw.client() as two:
        one.subscribe(topic)
        two.subscribe(topic)
        for _ in range(3):
            gw.signal(signal.SIGSTOP)
            try:
                pass_time(2.5, "more than the second by which a stop is told from a busy loop, and both limits")
            finally:
                gw.signal(signal.SIGCONT)
            one.expect_nothing()
            two.expect_nothing()
        gw.wait_ready()
        gw.publish(topic, "e", {})
        one.expect("e")
        two.expect("e")
        assert gw.metric("switchboard_connections_closed_total", reason="timeout") == 0
