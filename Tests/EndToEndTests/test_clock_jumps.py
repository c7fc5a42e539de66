"""The wall clock jumps, the process stands still: nobody who is connected loses anything (failures G11).

Every deadline runs on the monotonic clock; the wall clock decides only whether a token that is presented is valid.
"""

import glob
import signal
import time

import pytest

from waiting import pass_time

FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
JUMPS = ["+1h", "-1h", "+1y", "-1y", "+0"]


class FakedClock:
    """A gateway's wall clock, moved by a file that libfaketime reads before each look at the clock."""

    def __init__(self, gw, path):
        self.gw, self.path = gw, path
        gw.stop()
        self.jump("+0")
        gw.environment = {
            "LD_PRELOAD": FAKETIME[0], "FAKETIME_TIMESTAMP_FILE": str(path), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
        gw.start().wait_ready()

    def jump(self, offset: str) -> None:
        replacement = self.path.with_suffix(".new")
        replacement.write_text(offset + "\n")
        replacement.rename(self.path)


@pytest.mark.skipif(not FAKETIME, reason="libfaketime is missing (scripts/packages.sh test installs it)")
def test_wall_clock_jumps_close_nobody(gateway, token, topic, tmp_path):
    gw = gateway(limits={"pingMs": 300, "pongMs": 300})
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
            # A token that is presented now is judged by the clock of now.
            with gw.http(fresh) as http:
                status = http.get(f"/v1/topics/{topic}").status_code
            assert status == (401 if jump in ("+1y",) else 200), jump
        page = gw.metrics()
        assert page.value("switchboard_connections_closed_total", reason="timeout") == 0
        assert page.value("switchboard_connections_closed_total", reason="unauthorized") == 0
        assert page.value("switchboard_ready") == 1


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
