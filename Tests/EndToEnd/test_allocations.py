"""A delivery allocates nothing (OpenSSL's calls of malloc count, too), and a tick writes once to each member."""

import subprocess
import time
from pathlib import Path

import pytest

from Fixtures.clients import dialect_crowds
from Fixtures.clients.crowd import Crowd
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway

# Without the optimiser, each copy of a value counts.
pytestmark = pytest.mark.shipped

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


@pytest.fixture
def counted(tmp_path, shared_server, certificate, counting_library):
    """A factory of gateways that count: the gateway, and a function that tells the calls made so far."""
    started = []

    def start(**limits):
        numbers = tmp_path / f"allocations-{len(started)}"
        numbers.write_bytes(bytes(8))
        gateway = Gateway(
            tmp_path / f"gateway-{len(started)}", shared_server.url, certificate, SECRET, "--shards", "1",
            limits={"unauthenticatedPerAddressMax": 10_000, "connectionsPerAddressMax": 10_000,
                    "connectsPerAddressPerSecond": 100_000,
                    # Timers of connections come due for each of them, too.
                    "pingMs": 600_000, "tlsHandshakeMs": 600_000, "redisProbeMs": 60_000} | limits)
        gateway.environment = {"LD_PRELOAD": str(counting_library), "ALLOCATIONS_FILE": str(numbers)}
        started.append(gateway)
        return gateway.start().wait_ready(), lambda: int.from_bytes(numbers.read_bytes(), "little")

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
