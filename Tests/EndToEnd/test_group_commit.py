"""Publishes on one topic that come while Redis is busy with it share one call, and nobody's fate."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from Fixtures.processes.gateway import Gateway, error_code
from Fixtures.redis.server import RedisServer


@pytest.fixture
def gw(gateway):
    """A gateway with one shard, so that all connections meet in it."""
    return gateway("--shards", "1")


def publish_together(gw, db, messages, pause_ms=300):
    """Publishes each message over a connection of its own while Redis holds writers up; the answers in order."""
    with ExitStack() as stack:
        clients = [stack.enter_context(gw.http()) for _ in messages]
        for http in clients:
            assert http.get("/v1/health").status_code == 200
        db.client_pause(pause_ms)
        with ThreadPoolExecutor(len(clients)) as pool:
            return list(pool.map(lambda pair: pair[0].post("/v1/broadcast", json=pair[1]), zip(clients, messages)))


def publish_calls(seen, topic):
    return [words for words in seen.commands if words[0] == "EVALSHA" and topic + "#log" in words]


def test_they_share_calls_and_keep_their_own_answers(gw, db, topics, watch):
    topic, other = topics(), topics()
    gw.publish(topic, "e")
    messages = [{"topic": topic, "event": "e", "data": {"n": n}} for n in range(40)]
    with gw.client() as client, watch() as seen:
        client.subscribe(topic)
        answers = publish_together(gw, db, [*messages, {"topic": other, "event": "e", "data": {}}])
        assert [answer.status_code for answer in answers] == [200] * 41
        offsets = [answer.json()["offset"] for answer in answers[:-1]]
        assert sorted(offsets) == list(range(2, 42)) and answers[-1].json()["offset"] == 1
        number_at = {offset: n for n, offset in enumerate(offsets)}
        for offset in range(2, 42):
            client.expect("e", offset=offset, data={"n": number_at[offset]})
    # One for whoever came first, one for those who came while it was held; a few more where a thread was late.
    assert 1 <= len(publish_calls(seen, topic)) <= 6
    assert len(publish_calls(seen, other)) == 1


def test_one_that_is_refused_takes_nobody_along(gw, db, topic, watch):
    """The key of one publisher's id holds what it must not."""
    first = gw.publish(topic, "e")
    key = topic + "#seen#key:backend#bad"
    db.lpush(key, "x")
    messages = [{"topic": topic, "event": "e", "data": {"n": n}, "id": f"op-{n}"} for n in range(10)]
    messages[4]["id"] = "bad"
    with watch() as seen:
        answers = publish_together(gw, db, messages)
    shared = [words for words in publish_calls(seen, topic) if sum("#seen#" in word for word in words) > 1]
    assert any(key in words for words in shared), "the bad one was alone"
    assert error_code(answers[4]) == "internal"
    good = answers[:4] + answers[5:]
    assert [answer.status_code for answer in good] == [200] * 9
    assert sorted(answer.json()["offset"] for answer in good) == list(range(2, 11))
    assert not any(answer.json().get("duplicate") for answer in good)
    assert db.xlen(topic + "#log") == 10 and first["offset"] == 1


def test_same_id_at_the_same_time_is_published_once(gw, db, topic):
    gw.publish(topic, "e")
    messages = [{"topic": topic, "event": "e", "data": {}, "id": "op"} for _ in range(12)]
    answers = [answer.json() for answer in publish_together(gw, db, messages)]
    assert {answer["offset"] for answer in answers} == {2}
    assert sum(not answer.get("duplicate") for answer in answers) == 1
    assert db.xlen(topic + "#log") == 2


def test_an_id_at_the_same_time_for_other_data_is_a_conflict(gw, db, topic):
    """All were acked with the first one's offset, and what they carried was lost."""
    gw.publish(topic, "e")
    messages = [{"topic": topic, "event": "e", "data": {"n": n}, "id": "op"} for n in range(12)]
    answers = publish_together(gw, db, messages)
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 11
    assert {error_code(answer) for answer in answers if answer.status_code == 409} == {"conflict"}
    assert db.xlen(topic + "#log") == 2


def test_order_of_one_client_is_kept(gw, db, topic, token):
    """A WebSocket's publishes keep their order, however they are grouped."""
    count = 18  # within a user's burst
    with gw.client(token=token("u1", topics=["conversation:*"])) as client:
        talk = topic.replace("shop:", "conversation:")
        db.sadd(talk + "#members", "u1")
        db.client_pause(200)
        for n in range(count):
            client.send("publish", {"event": "e", "data": {"n": n}}, topic=talk, ref=n)
        offsets = [client.expect("ack", ref=n)["data"]["offset"] for n in range(count)]
        assert offsets == list(range(1, count + 1))


def test_a_call_that_may_have_written_is_not_repeated(tmp_path, certificate, secret, topic):
    """An error from the middle of the script: tried one by one, each event would be logged again."""
    server = RedisServer(tmp_path / "acl").start()
    url = f"unix://{server.socket_path}?user=w&password=s"
    gateway = Gateway(tmp_path / "gateway", url, certificate, secret, "--shards", "1")
    try:
        with server.client() as db:
            db.execute_command("ACL", "SETUSER", "w", "on", ">s", "~*", "&*", "+@all")
            gateway.start().wait_ready()
            gateway.publish(topic, "e")
            db.execute_command("ACL", "SETUSER", "w", "-hset")
            answers = publish_together(gateway, db, [{"topic": topic, "event": "e", "data": {}} for _ in range(12)])
            assert all(answer.status_code >= 500 for answer in answers)
            # One entry for each call: the events of a call stand or fall together.
            assert 2 <= db.xlen(topic + "#log") <= 7
    finally:
        gateway.stop()
        server.stop()
