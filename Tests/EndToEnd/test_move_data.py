"""`switchboard move-data`: every key gets its new name with its value and its life, whenever the command is killed."""

import subprocess

import pytest

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.redis import outbox
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

FOREIGN = [b"", b"shop", b"session", b"shop:", b":42", b"shop:a b#log", b"shop:{x}y#log", b"{sb}#other", b"#other",
           b"SHOP:1", b"\xff\x00shop:1", b"shop:1\n#log", b"sh_op:1", b"shop:{}", b"x" * 3_000]
HOSTILE = ["shop:a:b~c.d_e-f", "shop:42#votes#}{", "shop:42#votes##", "dj:9#seen#user:u{1}#op-1", "queue:42",
           "user:" + "u" * 200]
COMMON = ["#revoked", "#leases", "#calls:spotify", "#answers-due:x", "#webhook:w", "#apns-token:t"]


def tagged(name):
    """The name that a plain one becomes."""
    if name.startswith("#"):
        return "{sb}" + name
    head, mark, rest = name.partition("#")
    namespace, _, own = head.partition(":")
    return f"{namespace}:{{{own}}}{mark}{rest}"


def fill(db, rng, count):
    """Keys of every type, some with an end; returns the plain names of those that are Switchboard's."""
    names = [*HOSTILE, *COMMON] + [f"shop:{number}#facet" for number in range(count)]
    with db.pipeline(transaction=False) as pipe:
        for index, name in enumerate(names):
            words = [f"{rng.random()}" for _ in range(rng.randrange(1, 6))]
            kind = index % 6
            if kind == 0:
                pipe.set(name, rng.randbytes(20))
            elif kind == 1:
                pipe.hset(name, mapping=dict(zip(words, words)))
            elif kind == 2:
                pipe.sadd(name, *words)
            elif kind == 3:
                pipe.zadd(name, {word: rng.randrange(9) for word in words})
            elif kind == 4:
                pipe.rpush(name, *words)
            else:
                pipe.xadd(name, {"e": words[0]}, id=f"{index + 1}-0")
                pipe.xgroup_create(name, "couriers", "0")
            if index % 3 == 0:
                pipe.expire(name, 10_000 + index)
        for name in FOREIGN:
            pipe.set(name, "theirs")
        # A name of ours under which a hash of more than one page lies.
        pipe.hset("shop:large#facet", mapping={f"f{number}": "v" * 50 for number in range(3_000)})
        pipe.execute()
    return [*names, "shop:large#facet"]


def value(db, name):
    """What a key holds, in a form that has no order of its own."""
    kind = db.type(name).decode()
    held = {"string": db.get, "hash": db.hgetall, "set": db.smembers, "list": lambda key: db.lrange(key, 0, -1),
            "zset": lambda key: db.zrange(key, 0, -1, withscores=True), "stream": lambda key: (
                db.xrange(key), [group["name"] for group in db.xinfo_groups(key)])}[kind](name)
    return kind, held


def values(db, names):
    return {name: value(db, name) for name in names}


def ends(db, names):
    """When each key ends, seconds since 1970; -1 for never."""
    with db.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.expiretime(name)
        return pipe.execute()


def dumps(db, names):
    """The exact bytes of each key's value, and when it ends: the same only on one server."""
    with db.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.dump(name)
        return pipe.execute(), ends(db, names)


def words(source, target, layout, *more):
    return [str(BINARY), "move-data", "--from", source.url, "--to", target.url, "--redis-layout", layout, *more]


def move(source, target, layout, *more, code=0):
    """Runs the command to its end; returns its two outputs."""
    done = subprocess.run(words(source, target, layout, *more), capture_output=True, text=True, timeout=120,
                          env=ENVIRONMENT)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout.strip(), done.stderr.strip()


def killed(source, target, layout, calls):
    """Begins a move and kills it after so many calls of the target; false when it had ended by then."""
    with target.client() as db:
        began = db.info("stats")["total_commands_processed"]
        process = subprocess.Popen(words(source, target, layout), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=ENVIRONMENT)
        while process.poll() is None and db.info("stats")["total_commands_processed"] - began < calls:
            pass
        process.kill()
        return process.wait() != 0


@pytest.fixture
def other(tmp_path):
    with RedisServer(tmp_path / "other").running() as server:
        yield server


def test_keys_are_renamed_there_and_back_however_often_it_is_killed(server, rng):
    with server.client() as db:
        names = fill(db, rng, 10_000)
        before = dumps(db, names)
        for layout, now in (("tagged", tagged), ("plain", lambda name: name)):
            if all(killed(server, server, layout, rng.randrange(1, 9_000)) for _ in range(4)):
                said = move(server, server, layout)[0]
                assert said.endswith(f", {len(FOREIGN)} left that are not Switchboard's"), said
            assert dumps(db, [now(name) for name in names]) == before
            assert db.get("#layout") == layout.encode()
            assert db.dbsize() == len(names) + len(FOREIGN) + 1
            assert {db.get(name) for name in FOREIGN} == {b"theirs"}
        assert move(server, server, "plain", code=1)[1].endswith("the keys are plain already")


@pytest.mark.parametrize("layout", ["tagged", "plain"])
def test_keys_are_copied_to_another_server_and_compared(server, other, rng, layout):
    now = tagged if layout == "tagged" else str
    with server.client() as db, other.client() as copy:
        names = fill(db, rng, 1_000)
        before = values(db, names)
        copy.set("theirs", "too")
        if all(killed(server, other, layout, rng.randrange(1, 3_000)) for _ in range(4)):
            said = move(server, other, layout)[0]
            assert said.endswith(f", {len(names)} verified, {len(FOREIGN)} left that are not Switchboard's"), said
        assert values(copy, map(now, names)) == {now(name): held for name, held in before.items()}
        lives = zip(ends(copy, map(now, names)), ends(db, names))
        assert all((one < 0) == (two < 0) and abs(one - two) <= 10 for one, two in lives)
        assert values(db, names) == before, "the source is as it was"
        assert copy.dbsize() == len(names) + 2 and copy.get("#layout") == layout.encode()
        assert "has data of Switchboard already" in move(server, other, layout, code=1)[1]


def test_what_another_value_stands_in_the_way_of_is_told_and_left(server, other):
    with server.client() as db, other.client() as copy:
        db.set("shop:1#facet", "a")
        db.set("shop:2#facet", "b")
        db.set("shop:{1}#facet", "theirs")
        copy.set("shop:2#facet", "theirs")
        assert "name of shop:1#facet" in move(server, server, "tagged", code=1)[1]
        assert (db.get("shop:1#facet"), db.get("shop:{1}#facet"), db.get("shop:{2}#facet")) == (b"a", b"theirs", b"b")
        db.delete("shop:{1}#facet")
        move(server, server, "tagged")
        move(server, server, "plain")
        assert "name of shop:2#facet" in move(server, other, "plain", code=1)[1]
        assert copy.get("shop:2#facet") == b"theirs" and copy.get("shop:1#facet") == b"a"


def test_a_dry_run_counts_and_changes_nothing(server, rng):
    with server.client() as db:
        names = fill(db, rng, 50)
        before = sorted(db.keys())
        assert move(server, server, "tagged", "--dry-run")[0].startswith(f"keys: {len(names)} to move")
        assert sorted(db.keys()) == before


def test_nothing_is_moved_under_those_who_use_it(server, gateway, worker):
    node = gateway(server=server)
    with node.http() as http:
        command(http, "set_barber", shopId="s1", barberId="b1", active=True)
        command(http, "check_in", shopId="s1", userId="ann")
    assert "stop every gateway" in move(server, server, "tagged", code=1)[1]
    node.stop()
    assert "the outbox is not empty" in move(server, server, "tagged", code=1)[1]
    one = worker(server=server)
    with server.client() as db:
        eventually(lambda: not outbox.waiting(db), 10, "the outbox")
        assert "switchboard-worker" in move(server, server, "tagged", code=1)[1]
        one.stop()
        move(server, server, "tagged")
        assert db.exists("shop:{s1}#barbers") and not db.exists("shop:s1#barbers")
    node = gateway("--redis-layout", "tagged", server=server)
    with node.http() as http:
        assert http.get("/v1/shops/s1/queue").json()["currentlyServing"] == 1


def check(server, layout):
    done = subprocess.run(
        [str(BINARY), "check", "--listen-plain", "127.0.0.1:0", "--redis", server.url, "--redis-layout", layout,
         "--limit", "redisConnectMs=300", "--limit", "redisCallMs=300"],
        capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    return done.returncode, done.stdout + done.stderr


def test_a_start_against_the_other_layout_is_refused(server, tmp_path, certificate, gateway):
    """Two gateways of different layouts would speak past each other, and each would find no data."""
    gateway(server=server).stop()
    sentence = "are not tagged, as --redis-layout says; change the setting, or the keys by switchboard move-data"
    with server.client() as db:
        assert db.get("#layout") == b"plain"
        for marked in (True, False):
            if not marked:
                assert db.delete("#layout"), "as versions left it that wrote no layout down"
            code, said = check(server, "tagged")
            assert code == 1 and sentence in said
            node = Gateway(tmp_path / f"other-{marked}", server.url, certificate, SECRET, "--redis-layout", "tagged",
                           limits={"listenGraceMs": 0})
            node.start()
            eventually(lambda: sentence in node.log_text, 10, "the refusal in the log")
            assert node.ops("/readyz").status_code == 503
            assert db.get("#layout") == (b"plain" if marked else None)
            node.stop()
        code, said = check(server, "plain")
        assert "ok: the keys have plain names" in said and not db.exists("#layout"), "check only looks"
        db.set("#layout", "moving:tagged")
        assert "run switchboard move-data again" in check(server, "plain")[1]


def test_events_and_positions_go_on_at_the_new_server(server, other, gateway, topic):
    """The log was there after the move, and nobody could read it: its position counted on the old server only."""
    node = gateway(server=server)
    with node.client() as client:
        before = client.subscribe(topic)
        told = [node.publish(topic, data={"n": n}) for n in range(5)]
    node.stop()
    move(server, other, "tagged")
    after = gateway("--redis-layout", "tagged", server=other)
    with after.http() as http, after.client() as client:
        events = http.get(f"/v1/topics/{topic}/events").json()["events"]
        assert [event["data"]["n"] for event in events] == [0, 1, 2, 3, 4]
        answer = client.subscribe(topic, {"epoch": before["epoch"], "offset": before["offset"]})
        assert answer["recovered"] is True
        for n in range(5):
            client.expect("queue:update", data={"n": n})
        assert after.publish(topic)["offset"] == told[-1]["offset"] + 1
    # The old server must not go on with the same offsets for other events.
    back = gateway(server=server)
    assert back.publish(topic)["epoch"] != told[-1]["epoch"]


def test_a_position_that_had_ended_stays_ended(server, other, gateway, topic):
    node = gateway(server=server)
    first = node.publish(topic)
    node.stop()
    with server.client() as db:
        db.hset(f"{topic}#meta", "run", "a-run-that-is-over")
    move(server, other, "plain")
    assert gateway(server=other).publish(topic)["epoch"] != first["epoch"]
