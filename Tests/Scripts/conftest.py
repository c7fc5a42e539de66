"""Fixtures of the script tests: a real redis-server and the scripts."""

import contextlib

import pytest

from Fixtures.redis.server import RedisServer
from Fixtures.scripts import answers_seen
from Fixtures.scripts.command_scripts import Commands
from Fixtures.scripts.lua_scripts import Scripts
from Fixtures.seeds import seeded

#: A compiled script takes Redis some 200 kB.
SCRIPTS_KEPT_MAX = 150


#: Tests that count what scripts cost Redis.
COUNTING = {"test_costs.py", "test_weights.py", "test_messaging_weights.py", "test_all_or_nothing.py"}


@pytest.fixture(autouse=True)
def heard(request, monkeypatch):
    """What built-in scripts publish is compared with their headers."""
    monkeypatch.setattr(answers_seen, "listens", request.path.name not in COUNTING)


@pytest.fixture
def others_data(monkeypatch):
    """The test puts data of others in the place of the scripts' own; no type speaks of what scripts pass on of it."""
    monkeypatch.setattr(answers_seen, "is_paused", True)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")).running() as server:
        yield server


@pytest.fixture
def db(server):
    """A client on an emptied server with default settings."""
    client = server.client()
    client.flushall()
    client.config_set("maxmemory", 0)
    client.config_set("rdbcompression", "no")  # compressed, one value has several dumps
    # To compile the scripts anew for each test took much of the tests' time.
    if client.info("memory")["number_of_cached_scripts"] > SCRIPTS_KEPT_MAX:
        client.script_flush()
    yield client
    client.config_set("maxmemory", 0)
    client.close()


@pytest.fixture
def scripts(db):
    return Scripts(db)


@pytest.fixture
def rng(request):
    """Randomness that is the same in every run of this test; `SWITCHBOARD_SEED=n` gives another."""
    return seeded(request.node.name)


@pytest.fixture
def listener(db):
    """A subscriber of shop:42 that returns what was sent since it was last asked."""
    link = db.pubsub(ignore_subscribe_messages=True)
    link.subscribe("shop:42")
    link.get_message(timeout=5)

    def sent():
        # A PING on the same link is answered after everything that was sent before it.
        link.ping()
        messages = []
        while (message := link.parse_response(block=True))[0] != b"pong":
            messages.append(message[2])
        return messages

    yield sent
    link.close()


@pytest.fixture
def unchanged(db):
    """A context in which no key may change, appear or vanish."""

    def snapshot():
        # DUMP is the value byte for byte, PEXPIRETIME the moment it expires.
        return {key: (db.dump(key), db.pexpiretime(key)) for key in db.keys("*")}

    @contextlib.contextmanager
    def check():
        before = snapshot()
        yield
        assert snapshot() == before

    return check


@pytest.fixture
def commands(db):
    """Commands and refreshes by name."""
    return Commands(db)
