"""Coming back with `since`: all that was missed, or a clear no. Never a part."""

from contextlib import ExitStack

import pytest


def leave_and_miss(gw, topic, count):
    """Joins, receives one event, leaves; then `count` events happen. Returns the client's position."""
    with gw.client() as client:
        epoch = client.subscribe(topic)["epoch"]
        gw.publish(topic, "e", {"n": 1})
        offset = client.expect("e")["offset"]
    for number in range(2, count + 2):
        gw.publish(topic, "e", {"n": number})
    return {"epoch": epoch, "offset": offset}


@pytest.mark.parametrize("count", [0, 1, 5, 100])
def test_missed_events_come_back_in_order(gw, topic, count):
    since = leave_and_miss(gw, topic, count)
    with gw.client() as client:
        joined = client.subscribe(topic, since)
        assert joined["recovered"] is True
        for offset in range(2, count + 2):
            client.expect("e", topic=topic, offset=offset, data={"n": offset})
        gw.publish(topic, "e", {"n": "live"})
        client.expect("e", offset=count + 2, data={"n": "live"})
        client.expect_nothing()


def test_first_event_is_recovered(gw, topic):
    with gw.client() as client:
        epoch = client.subscribe(topic)["epoch"]
    gw.publish(topic, "e", {})
    with gw.client() as client:
        assert client.subscribe(topic, {"epoch": epoch, "offset": 0})["recovered"] is True
        client.expect("e", offset=1)


PAGES = {"logPageEventsMax": 7, "logPageBytesMax": 100_000}


def test_many_pages_are_one_recovery(gateway, topic):
    """What was missed came by one call of Redis, which then served nobody else for as long as that took."""
    gw = gateway(limits=PAGES)
    since = leave_and_miss(gw, topic, 100)
    with gw.client() as client:
        assert client.subscribe(topic, since)["recovered"] is True
        for offset in range(2, 102):
            client.expect("e", topic=topic, offset=offset, data={"n": offset})
        gw.publish(topic, "e", {"n": "live"})
        client.expect("e", offset=102, data={"n": "live"})
        client.expect_nothing()


def test_pages_of_bytes_are_one_recovery(gateway, topic):
    """A page holds three of these events; nothing is left out where one ends and the next begins."""
    gw = gateway(limits=PAGES | {"recoveryBytesMax": 1_000_000})
    with gw.client() as client:
        epoch = client.subscribe(topic)["epoch"]
    for number in range(20):
        gw.publish(topic, "e", {"n": number, "pad": "x" * 30_000})
    with gw.client() as client:
        assert client.subscribe(topic, {"epoch": epoch, "offset": 0})["recovered"] is True
        for offset in range(1, 21):
            assert client.expect("e", offset=offset)["data"]["n"] == offset - 1
        client.expect_nothing()


def test_events_between_two_pages_come_once(gateway, topic):
    """The race of many pages and live events."""
    gw = gateway(limits=PAGES)
    with gw.client() as client:
        position = client.subscribe(topic)
    expected = 0
    with gw.http() as http:
        body = {"messages": [{"topic": topic, "event": "e", "data": {}}] * 50}
        for _ in range(10):
            assert http.post("/v1/broadcast", json=body).status_code == 200
            expected += 50
            with gw.client() as client:
                client.send("subscribe", {"topic": topic, "since": {
                    "epoch": position["epoch"], "offset": expected - 50}}, ref=1)
                http.post("/v1/broadcast", json=body)
                assert client.expect("subscribed")["data"]["recovered"] is True
                for offset in range(expected - 49, expected + 51):
                    client.expect("e", offset=offset)
            expected += 50


def not_recovered(gw, topic, since, offset):
    """The answer says no, shows the present position, sends no old event, and live events follow."""
    with gw.client() as client:
        joined = client.subscribe(topic, since)
        assert joined["recovered"] is False and joined["offset"] == offset
        gw.publish(topic, "live", {})
        client.expect("live", offset=offset + 1)
        client.expect_nothing()


def test_too_old_for_the_log(gw, db, topic):
    since = leave_and_miss(gw, topic, 5)
    db.xtrim(topic + "#log", maxlen=4, approximate=False)
    not_recovered(gw, topic, since, 6)


def test_too_many_for_one_recovery(gateway, topic):
    gw = gateway(limits={"recoveryEventsMax": 3})
    since = leave_and_miss(gw, topic, 4)
    not_recovered(gw, topic, since, 5)
    with gw.client() as client:
        assert client.subscribe(topic, {"epoch": since["epoch"], "offset": 3})["recovered"] is True
        for offset in (4, 5):
            client.expect("e", offset=offset)
        client.expect("live", offset=6)


@pytest.mark.parametrize("epoch", ["other", "0", "_", "x" * 32])
def test_another_epoch(gw, topic, epoch):
    leave_and_miss(gw, topic, 5)
    not_recovered(gw, topic, {"epoch": epoch, "offset": 1}, 6)


@pytest.mark.parametrize("offset", [7, 100, 2**31, 2**53 - 1, 2**53, 2**63 - 1])
def test_the_future(gw, topic, offset):
    since = leave_and_miss(gw, topic, 5)
    not_recovered(gw, topic, since | {"offset": offset}, 6)


@pytest.mark.parametrize("since", [
    1, "k", [], {}, {"epoch": "k"}, {"offset": 1}, {"epoch": "k", "offset": "1"}, {"epoch": "k", "offset": -1},
    {"epoch": "k", "offset": 1.5}, {"epoch": "k", "offset": 2**63}, {"epoch": "k", "offset": 10**400},
    {"epoch": "k", "offset": True}, {"epoch": 5, "offset": 1}, {"epoch": "", "offset": 1},
    {"epoch": "a b", "offset": 1}, {"epoch": "x" * 33, "offset": 1}, {"epoch": "k\u0000", "offset": 1},
    {"epoch": "k\n", "offset": 1},
], ids=range(18))
def test_malformed_position_is_refused(gw, topic, since):
    with gw.client() as client:
        client.refused("subscribe", {"topic": topic, "since": since}, "bad_request")
        assert client.subscribe(topic)["recovered"] is False


def test_position_of_another_topic(gw, topics):
    one, two = topics(), topics()
    since = leave_and_miss(gw, one, 3)
    leave_and_miss(gw, two, 3)
    not_recovered(gw, two, since, 4)


def test_flush_between(gateway, server, topic):
    gw = gateway(server=server)
    since = leave_and_miss(gw, topic, 3)
    with server.client() as client:
        client.flushall()
    not_recovered(gw, topic, since, 0)


def test_batch_recovers_each_topic_by_its_own_position(gw, topics):
    names = [topics() for _ in range(3)]
    positions = [leave_and_miss(gw, name, count) for count, name in enumerate(names)]
    with gw.client() as client:
        client.send("subscribe", {"topics": [
            {"topic": name, "since": since} for name, since in zip(names, positions)]}, ref=1)
        answers, events = {}, {name: [] for name in names}
        while len(answers) < 3 or sum(map(len, events.values())) < 3:
            message = client.receive()
            if message["event"] == "subscribed":
                answers[message["topic"]] = message["data"]["recovered"]
            else:
                assert message["topic"] in answers, "the answer comes before the events it announces"
                events[message["topic"]].append(message["offset"])
    assert answers == dict.fromkeys(names, True)
    assert [events[name] for name in names] == [[], [2], [2, 3]]


def test_return_during_a_stream_of_events_has_no_gap_and_no_double(gw, topic):
    """The race of history and live events: join while events keep coming, many times."""
    with gw.client() as client:
        position = client.subscribe(topic)
    expected = 1
    with gw.http() as http:
        for _ in range(20):
            body = {"messages": [{"topic": topic, "event": "e", "data": {}}] * 20}
            assert http.post("/v1/broadcast", json=body).status_code == 200
            with gw.client() as client:
                client.send("subscribe", {"topic": topic, "since": {
                    "epoch": position["epoch"], "offset": expected - 1}}, ref=1)
                http.post("/v1/broadcast", json=body)
                assert client.expect("subscribed")["data"]["recovered"] is True
                for _ in range(40):
                    client.expect("e", offset=expected)
                    expected += 1
                client.expect_nothing()


def test_epoch_change_is_told_before_the_next_event(gateway, server, topic):
    """Redis lost everything under a client that stays: no event of the new epoch without a word."""
    gw = gateway(server=server)
    with gw.client() as client:
        old = client.subscribe(topic)
        gw.publish(topic, "e", {})
        client.expect("e", offset=1)
        with server.client() as redis:
            redis.flushall()
        position = gw.publish(topic, "e", {})
        assert position["epoch"] != old["epoch"]
        gap = client.expect("gap", topic=topic, timeout=10)["data"]
        assert gap["reason"] == "reset" and gap["epoch"] == position["epoch"]
        client.expect("e", offset=1)


def test_recovered_after_the_gateway_was_killed(gateway, topic):
    one, two = gateway(), gateway()
    with two.client() as client:
        epoch = client.subscribe(topic)["epoch"]
        two.kill()
    for _ in range(5):
        one.publish(topic, "e", {})
    with one.client() as client:
        assert client.subscribe(topic, {"epoch": epoch, "offset": 0})["recovered"] is True
        for offset in range(1, 6):
            client.expect("e", offset=offset)


def test_lost_channel_message_is_repaired_from_the_log(gw, db, topic):
    """An event that is in the log but never came over the channel is delivered before the next one."""
    with gw.client() as client:
        client.subscribe(topic)
        gw.publish(topic, "e", {"n": 1})
        client.expect("e", offset=1)
        db.xadd(topic + "#log", {"e": "e", "d": '{"n":2}', "i": "-", "t": "1"}, id="2-0")
        db.hset(topic + "#meta", "offset", 2)
        gw.publish(topic, "e", {"n": 3})
        client.expect("e", offset=2, data={"n": 2})
        client.expect("e", offset=3, data={"n": 3})


def test_many_that_come_back_share_their_reads(gateway, topic, watch, db):
    """A herd costs Redis as many reads as topics, not as clients; each gets what it missed itself."""
    gw = gateway("--shards", "1", limits={"joinsPerSecond": 1_000})
    since = leave_and_miss(gw, topic, 50)
    with ExitStack() as stack:
        clients = [stack.enter_context(gw.client()) for _ in range(60)]
        with watch() as seen:
            db.client_pause(500)
            for number, client in enumerate(clients):
                stand = {"epoch": since["epoch"], "offset": number % 51} if number % 10 else {"epoch": "x", "offset": 9}
                client.send("subscribe", {"topic": topic, "since": stand}, ref=number)
            for number, client in enumerate(clients):
                joined = client.expect("subscribed", ref=number)["data"]
                assert joined["recovered"] == (number % 10 != 0) and joined["offset"] == 51
                for offset in range(number % 51 + 1, 52) if number % 10 else ():
                    client.expect("e", offset=offset)
                client.expect_nothing()
        reads = [words for words in seen.commands if words[0].upper() == "EVALSHA" and "newest" in words]
        assert 1 <= len(reads) <= 4, f"{len(reads)} reads for {len(clients)} clients"
