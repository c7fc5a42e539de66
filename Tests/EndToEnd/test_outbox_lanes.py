"""The outbox as a road with lanes: no payer stands in another's way, and what the worker's calls cause has room."""

import pytest

from Fixtures.apps.operator_scripts import write_scripts
from Fixtures.processes.gateway import API_KEY, error_code
from Fixtures.redis import outbox
from Fixtures.waiting import eventually

HEADER = """-- @command  {name}
-- @summary  For these tests.
-- @allow    {allow}
-- @arg      roomId id
-- @arg      n      int 0..500 = 0
{more}-- @key      list   room:{{roomId}}#list
-- @returns  {{}}
-- @cost     O(n)
-- @weight   100
"""
# What a user does, what it causes, and what that causes.
FLOOD = HEADER.format(name="flood", allow="user|service", more="-- @calls    grow, note\n") + """
for index = 1, args.n do later('note', {roomId = args.roomId .. '-' .. index % 50}) end
return {}
"""
PLANT = HEADER.format(name="plant", allow="user|service", more="-- @calls    grow\n") + """
later('grow', {roomId = args.roomId})
return {}
"""
GROW = HEADER.format(name="grow", allow="worker", more="-- @calls    note\n") + """
for index = 1, 20 do later('note', {roomId = args.roomId}) end
return {}
"""
NOTE = HEADER.format(name="note", allow="worker", more="") + """
write('RPUSH', key.list, 'x')
return {}
"""
RICH = {"userRedisUsPerSecond": 100_000_000, "userActionsPerSecond": 100_000}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    return write_scripts(tmp_path_factory.mktemp("packs") / "rooms", flood=FLOOD, plant=PLANT, grow=GROW, note=NOTE)


@pytest.fixture
def call(token):
    def run(gw, user, command, **arguments):
        with gw.http(key=user if user == API_KEY else token(user)) as http:
            return http.post(f"/v1/commands/{command}", json=arguments)
    return run


def test_a_full_outbox_of_calls_that_cause_others_is_worked_off(gateway, worker, scripts, server, call):
    """Each call wanted room for what it causes, there was none, and so none was ever done."""
    limits = {"outboxMax": 8}
    gw = gateway("--scripts", scripts, server=server, limits=limits)
    with server.client() as db:
        while (answer := call(gw, API_KEY, "plant", roomId="r")).status_code == 200:
            pass
        assert error_code(answer) == "unavailable"
        planted = outbox.waiting(db)
        worker(server=server, scripts=scripts, limits=limits)
        eventually(lambda: db.llen("room:r#list") == 20 * planted, 10, "everything is done")
        eventually(lambda: outbox.waiting(db) == 0, 5, "an empty outbox")
        assert db.xlen("#outbox-dead") == 0
    assert call(gw, API_KEY, "plant", roomId="r").status_code == 200


@pytest.mark.parametrize("size", [4_000, pytest.param(10_000, marks=pytest.mark.thorough)])
def test_a_flood_of_one_user_delays_nobody_else(gateway, worker, scripts, server, call, size):
    """What another user has caused was done when the whole flood before it was."""
    gw = gateway("--scripts", scripts, server=server, limits=RICH | {"outboxPayerMax": size})
    with server.client() as db:
        for _ in range(size // 500):
            assert call(gw, "flood", "flood", roomId="f", n=500).status_code == 200
        refused = call(gw, "flood", "flood", roomId="f", n=500)
        assert error_code(refused) == "unavailable", "the flood fills its own part of its lane"
        others = [f"other-{number}" for number in range(40)]
        for other in others:
            assert call(gw, other, "flood", roomId=other, n=1).status_code == 200
        assert call(gw, API_KEY, "flood", roomId="service", n=1).status_code == 200
        worker(server=server, scripts=scripts)
        rooms = [f"room:{room}-1#list" for room in [*others, "service"]]
        eventually(lambda: all(db.exists(room) for room in rooms), 10, "what the others have caused")
        left = outbox.waiting(db)
        eventually(lambda: outbox.waiting(db) == 0, 30, "an empty outbox")
        done = sum(db.llen(f"room:f-{index}#list") for index in range(50))
    assert left > size // 2, "the others waited for no more than half of the flood"
    assert done == size


@pytest.mark.parametrize("layout", ["plain", "tagged"])
def test_an_outbox_that_stands_still_is_warned_of(gateway, worker, scripts, server, call, layout):
    """By the gateways, which were silent about it: in readiness, by a metric and in the log."""
    limits = {"outboxLateMs": 500}
    flags = ("--scripts", scripts, "--redis-layout", layout)
    gw = gateway(*flags, server=server, limits=limits)

    def warnings():
        answer = gw.ops("/readyz")
        assert answer.status_code == 200
        return [warning["name"] for warning in answer.json().get("warnings", ())]

    assert warnings() == []
    if layout == "tagged":
        # Too many streams to ask for all: a worker tells.
        with server.client() as db:
            db.set("{sb}#outbox-figures", "1 60000", px=5_000)
    else:
        assert call(gw, API_KEY, "plant", roomId="r").status_code == 200
    eventually(lambda: "outbox" in warnings(), 10, "the warning")
    eventually(lambda: gw.metric("switchboard_outbox_entries") == 1, 5, "the metric")
    assert "entries of the outbox wait for too long" in gw.log_text
    worker("--redis-layout", layout, server=server, scripts=scripts)
    eventually(lambda: warnings() == [], 15, "no warning")
    eventually(lambda: gw.metric("switchboard_outbox_entries") == 0, 5, "the metric")
