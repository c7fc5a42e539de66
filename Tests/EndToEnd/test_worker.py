"""Workers: shops shared out by lease, refreshed by keyspace events and by sweep, and the outbox relayed in order."""

import json
import signal
import time

import pytest

from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

LEASE_SECONDS = 1.0
LIMITS = {"leaseMs": int(LEASE_SECONDS * 1000), "sweepMs": 1_000, "relaySweepMs": 300}

SUM = """\
-- @refresh   shop:{shopId}#items
-- @coalesce  20 ms
-- @summary   Sums the items of a shop.
-- @arg       shopId id
-- @key       items shop:{shopId}#items
-- @key       sum shop:{shopId}#sum
-- @key       runs shop:{shopId}#runs
-- @cost      O(n) in the items
local sum, items = 0, read('HVALS', key.items)
for index = 1, math.min(#items, 100) do sum = sum + (number(items[index]) or 0) end
write('SET', key.sum, decimal(sum))
write('INCR', key.runs)
return {idle = #items == 0}
"""

ADD = """\
-- @command  append_number
-- @summary  Appends a number to a list: what runs twice is seen twice.
-- @allow    worker
-- @arg      shopId id
-- @arg      value int 0..1000000
-- @key      list shop:{shopId}#list
-- @returns  {}
-- @cost     O(1)
write('RPUSH', key.list, decimal(args.value))
return {}
"""


@pytest.fixture
def scripts(tmp_path):
    directory = tmp_path / "scripts"
    directory.mkdir()
    (directory / "sum_refresh.lua").write_text(SUM)
    (directory / "append_number.lua").write_text(ADD)
    return directory


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def is_sum(client, shop, value):
    return client.get(f"shop:{shop}#sum") == str(value).encode()


def await_sums(client, shops, value, seconds_max):
    """Waits until every shop shows the value; returns the seconds it took."""
    began, left = time.monotonic(), list(shops)

    def settled():
        values = client.mget([f"shop:{shop}#sum" for shop in left])
        left[:] = [shop for shop, got in zip(left, values) if got != str(value).encode()]
        return not left

    eventually(settled, seconds_max, f"the sum {value} of every shop")
    return time.monotonic() - began


def put(client, shops, value):
    with client.pipeline(transaction=False) as pipe:
        for shop in shops:
            pipe.hset(f"shop:{shop}#items", "only", value)
        pipe.execute()


def holders(client):
    """How many partitions each worker holds."""
    found = {}
    for partition, value in client.hgetall("#leases").items():
        if partition != b"token":
            found.setdefault(value.split()[0], set()).add(int(partition))
    return found


def test_a_direct_write_is_noticed_at_once_by_events(worker, server, scripts, client):
    worker(server=server, scripts=scripts, limits={"sweepMs": 60_000})
    eventually(lambda: set("Kg$lshzxet") <= set(client.config_get("notify-keyspace-events")["notify-keyspace-events"]))
    for value in range(1, 20):
        client.hset("shop:1#items", "only", value)
        eventually(lambda: is_sum(client, 1, value), 0.2, f"the sum {value}")


def test_a_burst_of_changes_is_coalesced(worker, server, scripts, client):
    worker(server=server, scripts=scripts, limits={"sweepMs": 60_000})
    client.hset("shop:2#items", "a", 1)
    eventually(lambda: is_sum(client, 2, 1))
    before, began = int(client.get("shop:2#runs")), time.monotonic()
    for value in range(500):
        client.hset("shop:2#items", "a", value)
    eventually(lambda: is_sum(client, 2, 499))
    runs, seconds = int(client.get("shop:2#runs")) - before, time.monotonic() - began
    assert 1 <= runs <= seconds / 0.02 + 2


def test_without_events_the_sweep_finds_every_change_and_new_shops(worker, server, scripts, client):
    one = worker("--keyspace-events", "never", server=server, scripts=scripts, limits=LIMITS)
    assert client.config_get("notify-keyspace-events")["notify-keyspace-events"] == ""
    shops = range(200)
    for value in (1, 2):
        put(client, shops, value)
        await_sums(client, shops, value, 3)
    told = eventually(lambda: one.lines("keyspace events are off"))
    assert len(told) == 1 and "CONFIG SET notify-keyspace-events" in told[0]["remedy"]
    assert "1000 ms" in told[0]["meanwhile"]


def test_an_event_setting_of_others_is_kept(worker, server, scripts, client):
    client.config_set("notify-keyspace-events", "Em")
    worker(server=server, scripts=scripts, limits=LIMITS)
    eventually(lambda: "K" in client.config_get("notify-keyspace-events")["notify-keyspace-events"])
    flags = set(client.config_get("notify-keyspace-events")["notify-keyspace-events"])
    assert {"E", "m", "K"} <= flags
    client.config_set("notify-keyspace-events", "")
    eventually(lambda: "K" in client.config_get("notify-keyspace-events")["notify-keyspace-events"], 3)


def test_a_user_who_may_not_configure_redis_is_told_what_to_do(tmp_path, worker, scripts):
    server = RedisServer(tmp_path / "acl", tcp=True).start()
    try:
        with server.client() as client:
            client.execute_command(
                "ACL", "SETUSER", "w", "on", ">secret", "~*", "&*", "+@all", "-config", "-acl")
            one = worker(url=f"redis://w:secret@127.0.0.1:{server.port}", scripts=scripts, limits=LIMITS)
            told = eventually(lambda: one.lines("cannot see whether keyspace events are on"))
            assert told[0]["remedy"].startswith("CONFIG SET notify-keyspace-events K")
            put(client, range(20), 7)
            await_sums(client, range(20), 7, 3)
        one.stop()
    finally:
        server.stop()


def test_three_workers_share_and_the_death_of_one_moves_its_shops_within_two_leases(
        worker, server, scripts, client):
    workers = [worker(server=server, scripts=scripts, limits=LIMITS) for _ in range(3)]
    eventually(lambda: sorted(map(len, holders(client).values()))[:1] > [5] and len(holders(client)) == 3, 5)
    eventually(lambda: sum(map(len, holders(client).values())) == 65, 5)
    shops = range(300)
    put(client, shops, 1)
    await_sums(client, shops, 1, 2)
    workers[1].kill()
    killed = time.monotonic()
    put(client, shops, 2)
    await_sums(client, shops, 2, 2 * LEASE_SECONDS)
    eventually(lambda: len(holders(client)) == 2 and sum(map(len, holders(client).values())) == 65, 2 * LEASE_SECONDS)
    assert time.monotonic() - killed <= 2 * LEASE_SECONDS + 0.5


def test_a_worker_told_to_end_gives_its_shops_back_at_once(worker, server, scripts, client):
    first = worker(server=server, scripts=scripts, limits={"leaseMs": 60_000})
    assert sum(map(len, holders(client).values())) == 65
    first.stop()
    assert holders(client) == {} and client.zcard("#workers") == 0
    worker(server=server, scripts=scripts, limits={"leaseMs": 60_000})
    eventually(lambda: sum(map(len, holders(client).values())) == 65, 2)


def test_a_worker_that_was_asleep_does_not_write_with_an_old_token(worker, server, scripts, client):
    first = worker(server=server, scripts=scripts, limits=LIMITS)
    put(client, [1], 1)
    eventually(lambda: is_sum(client, 1, 1))
    token = int(client.get("shop:1#fence"))
    first.signal(signal.SIGSTOP)
    second = worker(server=server, scripts=scripts, limits=LIMITS)
    eventually(lambda: sum(map(len, holders(client).values())) == 65 and len(holders(client)) == 1, 5)
    put(client, [1], 2)
    eventually(lambda: is_sum(client, 1, 2), 3)
    assert int(client.get("shop:1#fence")) > token
    first.signal(signal.SIGCONT)
    eventually(lambda: len(holders(client)) == 2, 5)
    put(client, range(50), 3)
    await_sums(client, range(50), 3, 3)
    assert not second.lines("a script failed") and not first.lines("a script failed")


def test_a_restart_of_redis_is_survived(worker, server, scripts):
    worker(server=server, scripts=scripts, limits=LIMITS)
    with server.client() as client:
        put(client, range(10), 1)
        await_sums(client, range(10), 1, 3)
    server.kill()
    server.start()
    with server.client() as client:
        eventually(lambda: "K" in client.config_get("notify-keyspace-events")["notify-keyspace-events"], 5)
        put(client, range(10), 2)
        await_sums(client, range(10), 2, 5)
        client.hset("shop:1#items", "only", 9)
        eventually(lambda: is_sum(client, 1, 9), 1)


def test_the_outbox_is_relayed_exactly_once_and_in_order_over_deaths(worker, server, scripts, client):
    """Five workers die one after the other while events and calls are relayed."""
    topics, each = 20, 60
    for number in range(each):
        with client.pipeline(transaction=False) as pipe:
            for topic in range(topics):
                pipe.xadd("#outbox", {"t": f"user:{topic}", "e": "note", "d": json.dumps({"n": number})})
                pipe.xadd("#outbox", {"c": "append_number", "a": json.dumps({"shopId": str(topic), "value": number})})
            pipe.execute()
    total = client.xlen("#outbox")
    for death in range(1, 6):
        one = worker(server=server, scripts=scripts, limits=LIMITS | {"relaysMax": 4})
        eventually(lambda: client.xlen("#outbox") <= total * (6 - death) / 6, 10, f"death {death}")
        one.kill()
        assert client.xlen("#outbox") > 0, f"death {death} came when nothing was left to relay"
    worker(server=server, scripts=scripts, limits=LIMITS)
    eventually(lambda: client.xlen("#outbox") == 0, 15, "an empty outbox")
    expected = [str(number).encode() for number in range(each)]
    for topic in range(topics):
        assert client.lrange(f"shop:{topic}#list", 0, -1) == expected
        entries = client.xrange(f"user:{topic}#log")
        assert [json.loads(fields[b"d"])["n"] for _, fields in entries] == list(range(each))
    assert client.xlen("#outbox-dead") == 0


def test_the_relay_is_woken(worker, server, scripts, client):
    worker(server=server, scripts=scripts, limits={"relaySweepMs": 60_000})
    for number in range(10):
        client.xadd("#outbox", {"t": "user:1", "e": "note", "d": json.dumps({"n": number})})
        client.publish("#outbox", "")
        eventually(lambda: client.xlen("user:1#log") == number + 1, 0.5, "the relayed event")


@pytest.mark.parametrize("entry, reason", [
    ({"t": "nowhere:1", "e": "note", "d": "{}"}, "no namespace"),
    ({"t": "user 1", "e": "note", "d": "{}"}, "topic"),
    ({"t": "user:1", "e": "", "d": "{}"}, "event name"),
    ({"t": "user:1", "e": "note", "d": "[]"}, "no JSON object"),
    ({"c": "no_such_command", "a": "{}"}, "no such command"),
    ({"c": "append_number", "a": "{}"}, "shopId"),
    ({"c": "append_number", "a": "{"}, "no JSON"),
    ({"x": "\x00\xff\n"}, "neither")])
def test_what_can_never_be_relayed_is_kept_apart_and_does_not_stop_the_rest(
        worker, server, scripts, client, entry, reason):
    client.xadd("#outbox", entry)
    client.xadd("#outbox", {"t": "user:1", "e": "note", "d": "{}"})
    one = worker(server=server, scripts=scripts, limits=LIMITS)
    eventually(lambda: client.xlen("#outbox") == 0)
    assert client.xlen("user:1#log") == 1
    [(_, dead)] = client.xrange("#outbox-dead")
    assert reason in dead[b"reason"].decode()
    assert all(dead[name.encode()] == value.encode() for name, value in entry.items())
    [told] = eventually(lambda: one.lines("an entry of the outbox was given up"))
    assert reason in told["reason"] and int(told["bytes"]) > 0
    assert len(told["subject"]) <= 200 and "content" not in told


def test_a_full_memory_stops_the_lane_until_there_is_room(worker, server, scripts, client):
    worker(server=server, scripts=scripts, limits=LIMITS)
    # In one step, so that the worker finds the entries and no memory.
    with client.pipeline(transaction=True) as pipe:
        for number in range(20):
            pipe.xadd("#outbox", {"c": "append_number", "a": json.dumps({"shopId": "1", "value": number})})
        pipe.config_set("maxmemory", 1)
        pipe.publish("#outbox", "")
        pipe.execute()
    eventually(lambda: client.info("errorstats").get("errorstat_OOM", {"count": 0})["count"] >= 3)
    assert client.xlen("#outbox") == 20
    client.config_set("maxmemory", 0)
    eventually(lambda: client.xlen("#outbox") == 0, 15)
    assert client.lrange("shop:1#list", 0, -1) == [str(number).encode() for number in range(20)]
    assert client.xlen("#outbox-dead") == 0
