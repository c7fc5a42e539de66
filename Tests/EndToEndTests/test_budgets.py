"""What one caller costs Redis, and that nobody else pays for it."""

import signal
from concurrent.futures import ThreadPoolExecutor

from operator_scripts import script, write_scripts
from waiting import eventually


def broadcast(http, topic):
    return http.post("/v1/broadcast", json={"topic": topic, "event": "e", "data": {}})


# One late reply


def test_a_late_reply_fails_no_other_call(gateway, server, topic):
    """C2: one call that missed its deadline ended its link, and every other call in flight on it failed as well."""
    gw = gateway("--shards", "1", server=server, limits={"redisCallMs": 1_000, "redisProbeMs": 60_000})
    with gw.http() as http, gw.http() as other, ThreadPoolExecutor() as pool:
        connects = gw.metric("switchboard_redis_connects_total")
        server.process.send_signal(signal.SIGSTOP)
        try:
            assert broadcast(http, topic).status_code == 503, "the deadline of this call"
            sent = gw.metric("switchboard_redis_commands_total")
            later = pool.submit(broadcast, other, topic)
            eventually(lambda: gw.metric("switchboard_redis_commands_total") > sent, 5, "the second call on its way")
        finally:
            server.process.send_signal(signal.SIGCONT)
        answer = later.result()
        assert answer.status_code == 200, answer.text
        assert answer.json()["offset"] == 2, "the late one ran before it"
        assert gw.metric("switchboard_redis_connects_total") == connects, "the same link"
        assert gw.metric("switchboard_redis_late_replies_total") == 1


# One to three seconds of Redis on machines of this age.
SLOW = "for _ = 1, 300000000 do end return {}"


def test_a_slow_script_fails_its_own_call_only(gateway, server, topic, tmp_path):
    """C2: an operator's script that takes Redis longer than a call may take made everybody's calls fail."""
    scripts = write_scripts(tmp_path / "scripts", slow=script("slow", SLOW))
    gw = gateway("--shards", "1", "--scripts", scripts, server=server, limits={
        # A busy host's script takes longer than a probe may.
        "redisCallMs": 400, "redisProbeTimeoutMs": 60_000})
    with gw.http() as http:
        connects = gw.metric("switchboard_redis_connects_total")
        slow = http.post("/v1/commands/slow", json={"shopId": "s1"})
        assert slow.status_code == 503 and "retry-after" in slow.headers, slow.text
        assert gw.ops("/readyz").status_code == 200
        eventually(lambda: broadcast(http, topic).status_code == 200, 20, "publishing, as soon as Redis is free")
        assert gw.ops("/readyz").status_code == 200
        assert gw.metric("switchboard_redis_connects_total") == connects, "the link and its other calls stayed"
        assert gw.metric("switchboard_redis_late_replies_total") >= 1


def test_a_link_on_which_nothing_comes_is_dialled_again(gateway, server, topic):
    """A call that fails alone must not keep a dead link: without any reply for long it is given up."""
    gw = gateway("--shards", "1", server=server,
                 limits={"redisCallMs": 200, "redisStallMs": 600, "redisProbeMs": 60_000})
    with gw.http() as http:
        connects = gw.metric("switchboard_redis_connects_total")
        server.process.send_signal(signal.SIGSTOP)
        try:
            assert broadcast(http, topic).status_code == 503
            eventually(lambda: gw.ops("/readyz").status_code == 503, 5, "the end of the link")
        finally:
            server.process.send_signal(signal.SIGCONT)
        eventually(lambda: gw.metric("switchboard_redis_connects_total") > connects, 5, "another link")
        eventually(lambda: broadcast(http, topic).status_code == 200, 5, "publishing again")
