"""A delivery allocates nothing (OpenSSL's calls of malloc count, too), a tick writes once to each member, and an idle
connection holds little memory."""

import subprocess
import time
from pathlib import Path

import pytest

from Fixtures.clients import dialect_crowds
from Fixtures.clients.crowd import Crowd
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.floor import Floor, build
from Fixtures.processes.gateway import Gateway

# Without the optimiser, each copy of a value counts.
pytestmark = [pytest.mark.shipped, pytest.mark.alone]

SOURCE = Path(__file__).resolve().parents[1] / "Fixtures" / "processes" / "count_allocations.c"
FEW, MANY = 50, 200
EVENTS = 64
# What else allocates meanwhile: the sweeps of the node and its looks at Redis, some 80 times a second.
OTHERS_PER_SECOND = 160


@pytest.fixture(scope="session")
def counting_library(tmp_path_factory):
    library = tmp_path_factory.mktemp("count") / "count_allocations.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", library, SOURCE], check=True)
    return library


class Allocations:
    """What a process with the library counts."""

    def __init__(self, library, file):
        self.file = file
        file.write_bytes(bytes(24))
        self.environment = {"LD_PRELOAD": str(library), "ALLOCATIONS_FILE": str(file)}

    def _counters(self):
        bytes_ = self.file.read_bytes()
        return [int.from_bytes(bytes_[at:at + 8], "little", signed=True) for at in (0, 8, 16)]

    def __call__(self) -> int:
        """Calls so far."""
        return self._counters()[0]

    def held(self) -> tuple[int, int]:
        """Live blocks, and their bytes; only differences mean something."""
        return tuple(self._counters()[1:])


@pytest.fixture
def counted(tmp_path, shared_server, certificate, counting_library):
    """A factory of gateways that count: the gateway, and its allocations."""
    started = []

    def start(**limits):
        allocations = Allocations(counting_library, tmp_path / f"allocations-{len(started)}")
        gateway = Gateway(
            tmp_path / f"gateway-{len(started)}", shared_server.url, certificate, SECRET, "--shards", "1",
            limits={"unauthenticatedPerAddressMax": 10_000, "connectionsPerAddressMax": 10_000,
                    "connectsPerAddressPerSecond": 100_000,
                    # Timers of connections come due for each of them, too.
                    "pingMs": 600_000, "tlsHandshakeMs": 600_000, "redisProbeMs": 60_000} | limits)
        gateway.environment = allocations.environment
        started.append(gateway)
        return gateway.start().wait_ready(), allocations

    yield start
    for gateway in started:
        gateway.stop()


def publish(db, topic: str, at_once: int) -> None:
    """Publishes so many events that the gateway gets by one read, and so writes in one tick."""
    with db.pipeline(transaction=True) as together:
        for _ in range(at_once):
            together.publish(topic, '{"event":"e","data":{"pad":"%s"}}' % ("x" * 180))
        together.execute()


def writes(gateway) -> int:
    """Writes to clients and Redis so far."""
    return int(gateway.metric("switchboard_writes_total"))


def spent(gateway, allocations, db, topic: str, members: int, at_once: int) -> tuple[int, float]:
    """Calls, and seconds, that the events cost with so many members, once everything is warm."""
    with Crowd(gateway, topic, members) as crowd:
        def deliver(events):
            for _ in range(events // at_once):
                publish(db, topic, at_once)
                for _ in range(at_once):
                    crowd.receive("e")

        deliver(2 * at_once)
        written = writes(gateway)
        before, begun = allocations(), time.monotonic()
        deliver(EVENTS)
        result = allocations() - before, time.monotonic() - begun
        # The rest are answers to the metrics' own request, probes, and the look at withdrawn rights twice a second.
        assert 0 <= writes(gateway) - written - EVENTS // at_once * members < 20 + 4 * result[1]
        return result


@pytest.mark.parametrize("at_once, limits", [
    pytest.param(1, {}, id="one a tick"),
    pytest.param(16, {}, id="sixteen a tick"),
    pytest.param(1, {"fanoutSliceMembers": 64}, id="in slices"),
])
def test_a_delivery_allocates_nothing(counted, db, topics, at_once, limits):
    gateway, allocations = counted(**limits)
    few, _ = spent(gateway, allocations, db, topics(), FEW, at_once)
    many, seconds = spent(gateway, allocations, db, topics(), MANY, at_once)
    deliveries = EVENTS * (MANY - FEW)
    print(f"\n{EVENTS} events: {few} allocations for {FEW} members, {many} for {MANY} in {seconds:.1f} s: "
          f"{(many - few) / deliveries:.5f} a delivery")
    assert few >= EVENTS, "an event is parsed and encoded once, which allocates: the counter counts"
    # An allocation for each write would be one in sixteen of them. A busy host wakes the node oftener than a quiet one.
    assert many - few < max(OTHERS_PER_SECOND * seconds, deliveries / 25)


def spent_on_published(gateway, allocations, crowd, http, events: int) -> tuple[int, float]:
    """Calls, and seconds, that events with positions cost, once everything is warm."""
    def deliver(count):
        for _ in range(count):
            answer = http.post("/v1/broadcast", json={"topic": crowd.topic, "event": "e", "data": {"pad": "x" * 180}})
            assert answer.status_code == 200, answer.text
            crowd.receive("e")

    deliver(4)
    before, begun = allocations(), time.monotonic()
    deliver(events)
    return allocations() - before, time.monotonic() - begun


def test_a_delivery_in_another_dialect_allocates_nothing(counted, topics):
    """Only events that are encoded anew for each member, or written with something of their own, could break this."""
    gateway, allocations = counted()
    few_members, many_members, events = 10, 110, 32
    deliveries = events * (many_members - few_members)
    found = {}
    with gateway.http() as http:
        for dialect in dialect_crowds.ALL:
            figures = []
            for members in (few_members, many_members):
                with dialect(gateway, topics(), members) as crowd:
                    figures.append(spent_on_published(gateway, allocations, crowd, http, events))
            (few, _), (many, seconds) = figures
            assert few >= events, "an event is parsed and encoded once, which allocates: the counter counts"
            # One for each delivery would be all of them: a sixteenth is what a busy host's extra rounds may cost.
            found[dialect.__name__] = many - few, max(OTHERS_PER_SECOND * seconds, deliveries / 16)
    print(f"\n{deliveries} deliveries each: " + ", ".join(f"{name} {calls}" for name, (calls, _) in found.items()))
    assert {name: figures for name, figures in found.items() if figures[0] >= figures[1]} == {}


IDLE = 600
# Blocks and bytes of an idle, subscribed native connection beside OpenSSL's, with what malloc adds to each block.
IDLE_BLOCKS_MAX, IDLE_BYTES_MAX = 6, 1_500


class FloorCrowd(Crowd):
    """Subscribers of the floor; the path is the subscription."""

    path = "/sub/idle"

    async def _subscribe(self, connection):
        """The floor answers nothing."""


def held_each(crowd, server, topic, allocations) -> tuple[float, float]:
    """Blocks and bytes that one more connection holds."""
    # The first ones fill what the connections share.
    with crowd(server, topic, FEW):
        before = allocations.held()
        with crowd(server, topic, IDLE):
            after = allocations.held()
    return tuple((late - early) / IDLE for early, late in zip(before, after, strict=True))


def test_an_idle_connection_holds_little_beside_openssl(counted, topics, certificate, counting_library, tmp_path):
    gateway, allocations = counted()
    blocks, size = held_each(Crowd, gateway, topics(), allocations)
    bare = Allocations(counting_library, tmp_path / "allocations-floor")
    build()
    floor = Floor(certificate, environment=bare.environment)
    try:
        bare_blocks, bare_size = held_each(FloorCrowd, floor, "idle", bare)
    finally:
        floor.stop()
    print(f"\nan idle connection: {size:.0f} bytes in {blocks:.1f} blocks; "
          f"the bare loop: {bare_size:.0f} in {bare_blocks:.1f}")
    assert bare_blocks > 20, "OpenSSL's are counted"
    assert 1 <= blocks - bare_blocks <= IDLE_BLOCKS_MAX
    assert 100 <= size - bare_size <= IDLE_BYTES_MAX
