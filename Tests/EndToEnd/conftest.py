"""Fixtures of the end-to-end tests: real Redis, real gateways, real TLS, every port picked by the kernel."""

import concurrent.futures
import itertools
import os

import pytest

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.node import BINARY
from Fixtures.processes.released import make_release
from Fixtures.processes.worker import Worker
from Fixtures.redis.cluster import RedisCluster
from Fixtures.redis.sentinels import SentinelGroup
from Fixtures.redis.server import RedisServer
from Fixtures.redis.watch import RedisWatch
from Fixtures.seeds import seeded


@pytest.fixture(scope="session", autouse=True)
def binary():
    """Without the binary no test can pass; one sentence says so better than hundreds of errors."""
    if not BINARY.exists():
        pytest.exit(f"{BINARY} is missing: run `swift build -c release`, or set SWITCHBOARD_BIN", returncode=1)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    return write_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """The release of this run's programs, which all processes of the run share."""
    own = tmp_path_factory.getbasetemp()
    return make_release((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "release")


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def shared_gateway(tmp_path_factory, shared_server, certificate):
    """A gateway with default settings, for tests that leave no trace in it."""
    gateway = Gateway(tmp_path_factory.mktemp("gateway"), shared_server.url, certificate, SECRET)
    gateway.start().wait_ready()
    yield gateway
    gateway.stop()


@pytest.fixture
def gw(shared_gateway):
    """The shared gateway; fails the test in which it died."""
    yield shared_gateway
    assert shared_gateway.process.poll() is None, shared_gateway.log_text[-4000:]


@pytest.fixture
def server(request, tmp_path):
    """A Redis of this test's own, to be stopped and started at will.

    A test may take it as `indirect`, and have the fixture of that name in its place: `group` or `cluster`.
    """
    kind = getattr(request, "param", "server")
    if kind != "server":
        yield request.getfixturevalue(kind)
        return
    server = RedisServer(tmp_path / "redis").start()
    yield server
    server.stop()


@pytest.fixture
def group(tmp_path):
    """A master, its replica and three Sentinels of this test's own."""
    group = SentinelGroup(tmp_path / "group")
    try:
        yield group.start()
    finally:
        group.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Redis Cluster of three masters and three replicas, for the tests of one file: they leave it whole."""
    cluster = RedisCluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield cluster.start()
    finally:
        cluster.stop()


@pytest.fixture
def gateway(tmp_path, shared_server, certificate):
    """A factory of gateways of this test's own: `gateway("--shards", "1", limits={...})`."""
    started, numbers = [], itertools.count(1)

    def start(*flags, server=None, certificate=certificate, limits=None, config=None, listen="127.0.0.1:0",
              has_ops=True, keys=None):
        directory = tmp_path / f"gateway-{next(numbers)}"
        gateway = Gateway(directory, (server or shared_server).url, certificate, SECRET, *flags, limits=limits,
                          config=config, listen=listen, has_ops=has_ops, keys=keys)
        started.append(gateway)
        return gateway.start().wait_ready()

    yield start
    for gateway in started:
        gateway.stop()


@pytest.fixture
def worker(tmp_path, shared_server):
    """A factory of workers of this test's own: `worker("--keyspace-events", "never", limits={...})`."""
    started, numbers = [], itertools.count(1)

    def start(*flags, server=None, url=None, scripts=None, limits=None):
        directory = tmp_path / f"worker-{next(numbers)}"
        url = url or (server or shared_server).url
        one = Worker(directory, url, *flags, scripts=scripts, limits=limits)
        started.append(one)
        return one.start()

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def db(shared_server):
    """A client of the shared Redis."""
    with shared_server.client() as client:
        yield client


@pytest.fixture
def watch(shared_server):
    """`with watch() as seen:` collects every command that Redis receives meanwhile."""
    return lambda: RedisWatch(shared_server)


@pytest.fixture
def token():
    """Signs a token with the gateways' secret: `token("u1", topics=["order:*"])`."""
    return lambda sub="u1", **claims: sign(SECRET, sub, **claims)


@pytest.fixture
def secret():
    return SECRET


_topic_numbers = itertools.count(1)


@pytest.fixture
def topic():
    """A shop topic that no other test uses, nor any name that begins with it."""
    return f"shop:test-{next(_topic_numbers)}-"


@pytest.fixture
def topics():
    """A maker of topics that no other test uses: `topics("order")`."""
    return lambda namespace="shop": f"{namespace}:test-{next(_topic_numbers)}-"


@pytest.fixture
def rng(request):
    """Randomness that is the same in every run of this test; `SWITCHBOARD_SEED=n` gives another."""
    return seeded(request.node.name)


@pytest.fixture
def held():
    """Runs a request that is held, in a thread of its own."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        yield lambda call: pool.submit(call)
