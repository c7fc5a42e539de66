"""`switchboard reset-epochs`: an older copy of Redis's data put back is told to every client that comes back."""

import shutil

import pytest

from Fixtures.processes.epoch_reset import reset
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

SYNCED = ("--appendonly", "yes", "--appendfsync", "always")


@pytest.fixture
def redis_server(tmp_path):
    server = RedisServer(tmp_path / "own")
    yield server
    server.stop()


def publish(http, topic, number):
    answer = eventually(
        lambda: (got := http.post("/v1/broadcast", json={
            "topic": topic, "event": "e", "data": {"n": number}, "id": f"op-{number}"})).status_code == 200 and got,
        10, "a publish")
    return answer.json()


def restored(server, gateway, topic, recipe):
    """The recipe of docs/run/redis.md with an older append-only file; answers of a client that had offset 8."""
    server.start(*SYNCED)
    first = gateway(server=server)
    with first.client() as client, first.http() as http:
        epoch = client.subscribe(topic)["epoch"]
        for number in range(1, 6):
            publish(http, topic, number)
        server.stop()
        shutil.copytree(server.directory / "appendonlydir", server.directory / "backup")
        server.start(*SYNCED)
        for number in range(6, 9):
            publish(http, topic, number)
    first.stop()
    server.stop()
    shutil.rmtree(server.directory / "appendonlydir")
    shutil.copytree(server.directory / "backup", server.directory / "appendonlydir")
    server.start(*SYNCED)
    recipe()
    second = gateway(server=server)
    with second.http() as http:
        for number in range(9, 13):
            publish(http, topic, number)
    return second, {"epoch": epoch, "offset": 8}


def test_an_older_append_only_file_is_told_after_reset_epochs(gateway, redis_server, topic):
    """A client at offset 8 was answered `recovered: true` and given one event of four: same epoch, passed offsets."""
    second, since = restored(redis_server, gateway, topic, lambda: reset(redis_server))
    with second.client() as client:
        answer = client.subscribe(topic, since=since)
        assert not answer["recovered"] and answer["epoch"] != since["epoch"] and answer["offset"] == 4


def test_without_the_command_the_loss_is_silent(gateway, redis_server, topic):
    """What the recipe is for, and why nothing else can know: the day this fails, the recipe can be shortened."""
    second, since = restored(redis_server, gateway, topic, lambda: None)
    with second.client() as client:
        assert client.subscribe(topic, since=since)["recovered"]
        assert client.expect("e")["offset"] == 9


WENT_BACK = "redis holds older data than before; were they put back from a copy?"


def seen(file):
    return int(file.read_text()) if file.exists() else 0


def with_older_data(server, worker, file, flags, between):
    """Data of an earlier hour are put back; `between` happens while Redis is stopped."""
    server.start(*SYNCED)
    one = worker(*flags, server=server)
    eventually(lambda: seen(file) > 0, 10, "a time")
    server.stop()
    shutil.copytree(server.directory / "appendonlydir", server.directory / "backup")
    server.start(*SYNCED)
    then = seen(file)
    eventually(lambda: seen(file) > then, 15, "a later time")
    between(one)
    server.stop()
    shutil.rmtree(server.directory / "appendonlydir")
    shutil.copytree(server.directory / "backup", server.directory / "appendonlydir")
    server.start(*SYNCED)
    return one


def test_a_worker_that_starts_after_a_restore_says_so(worker, redis_server, tmp_path):
    """Nothing told that Redis's data were older than those of the last shutdown."""
    file = tmp_path / "data-time"
    flags = ("--data-time-file", str(file))
    first = with_older_data(redis_server, worker, file, flags, lambda one: one.stop())
    assert not first.lines(WENT_BACK), "a restart of Redis alone is no restore"
    second = worker(*flags, server=redis_server)
    told = eventually(lambda: second.lines(WENT_BACK), 10, "the warning")
    assert told[0]["level"] == "error" and int(told[0]["olderByMs"]) > 0
    second.stop()
    assert not worker(*flags, server=redis_server).lines(WENT_BACK), "told once"


def test_a_worker_that_lives_through_a_restore_says_so(worker, redis_server, tmp_path):
    file = tmp_path / "data-time"
    one = with_older_data(redis_server, worker, file, ("--data-time-file", str(file)), lambda one: None)
    eventually(lambda: one.lines(WENT_BACK), 10, "the warning")


def test_live_clients_are_told_while_gateways_run(gateway, server, topics):
    gw = gateway(server=server)
    told, left, quiet = topics(), topics("dj"), topics()
    with gw.client() as client, gw.http() as http:
        epochs = {topic: client.subscribe(topic)["epoch"] for topic in (told, left, quiet)}
        for topic in (told, left):
            publish(http, topic, 1)
            client.expect("e", offset=1)
        assert reset(server, "shop:*")[0] == "topics: 2 reset, 0 reset before, 0 refused"
        gaps = [client.expect("gap") for _ in range(2)]
        assert {gap["topic"] for gap in gaps} == {told, quiet}
        for gap in gaps:
            assert gap["data"]["reason"] == "reset" and gap["data"]["offset"] == 0
            assert gap["data"]["epoch"] != epochs[gap["topic"]]
        assert publish(http, left, 2)["epoch"] == epochs[left]
        client.expect("e", topic=left, offset=2)
        assert publish(http, told, 2)["offset"] == 1
        client.expect("e", topic=told, offset=1)
        client.expect_nothing()


def test_a_second_run_tells_nobody_again(gateway, server, topic):
    gw = gateway(server=server)
    with gw.client() as client:
        client.subscribe(topic)
        assert reset(server, "--dry-run")[0] == "topics: 1 to reset, 0 reset before, 0 refused"
        client.expect_nothing()
        assert reset(server)[0].startswith("topics: 1 reset, 0 ")
        client.expect("gap")
        assert reset(server)[0].startswith("topics: 0 reset, 1 ")
        client.expect_nothing()
        assert reset(server, "--again")[0].startswith("topics: 1 reset, 0 ")
        client.expect("gap")


def test_thousands_of_topics_in_pages(server):
    with server.client() as db:
        pipeline = db.pipeline()
        for number in range(5_000):
            pipeline.hset(f"p:shop:{number}#meta", mapping={"epoch": "k", "offset": 8, "run": "r" * 40 + "+"})
            pipeline.hset(f"shop:{number}#meta", mapping={"epoch": "k", "offset": 8, "run": "r" * 40 + "+"})
        pipeline.execute()
        pace = ("--limit", "scanKeys=100", "--limit", "scanPauseMs=1")
        assert reset(server, "--redis-prefix", "p:", *pace)[0] == "topics: 5000 reset, 0 reset before, 0 refused"
        runs = {name.startswith(b"p:"): db.hget(name, "run") for name in db.scan_iter("*#meta", count=1_000)}
        assert runs == {True: b"reset", False: b"r" * 40 + b"+"}


def test_what_cannot_be_reset_is_told(server):
    with server.client() as db:
        db.set("shop:1#meta", "text")
        db.hset("shop:2#meta", mapping={"epoch": "k", "offset": 8, "run": "r" * 40})
    out, error = reset(server, code=1)
    assert out == "topics: 1 reset, 0 reset before, 1 refused"
    assert "BADKEY" in error and "run it again" in error


def test_a_pattern_that_is_none_is_refused(server):
    assert "expected a topic" in reset(server, "shop*", code=64)[1]
