"""A gateway that runs out of file descriptors says so before, and refuses whom it cannot serve (O3).

At limits of 96 and 400 readiness stayed green, nothing was logged, and 88 and 110 clients hung in the backlog.
"""

import contextlib
import os
import re
import resource
import socket
import subprocess
from pathlib import Path

import pytest

from Fixtures.processes.node import ENVIRONMENT
from Fixtures.processes.ports import free_port
from Fixtures.waiting import eventually

# One address, as many connections as it likes; they never shake hands.
CROWD = {
    "connectionsPerAddressMax": 5_000, "unauthenticatedMax": 5_000, "unauthenticatedPerAddressMax": 5_000,
    "connectsPerAddressPerSecond": 100_000, "tlsHandshakeMs": 60_000}
SHARDS = 32


def listening(port: int) -> int:
    """The number of sockets that listen at a port of IPv4."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def is_open(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def warnings(gw) -> list:
    return [one["name"] for one in gw.ops("/readyz").json().get("warnings", ())]


@pytest.mark.parametrize("limit", [96, 400, 1_024])
def test_who_finds_no_descriptor_is_refused_and_readiness_says_so_before(gateway, server, topic, limit):
    gw = gateway("--shards", "1", server=server, limits=CROWD)
    pid = gw.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    crowd = []

    def enter(count: int) -> None:
        for _ in range(count):
            crowd.append(socket.create_connection(gw.address()))
            crowd[-1].setblocking(False)

    with gw.client() as client:
        client.subscribe(topic)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, before[1]))
        try:
            # It can never serve 10,000, and says so while there is room.
            eventually(lambda: "descriptors" in warnings(gw), 5, "the warning")
            assert gw.ops("/readyz").status_code == 200
            eventually(lambda: "fewer file descriptors than clients are allowed" in gw.log_text, 5, "the log")

            # A few descriptors before the first client is refused.
            ceiling = limit - min(32, limit // 4)
            enter(max(0, ceiling - max(8, limit // 20) + 2 - gw.fd_count))
            eventually(lambda: gw.ops("/readyz").status_code == 503, 5, "readiness red")
            assert gw.ops("/readyz").json()["reason"] == "descriptors"
            eventually(lambda: "hardly any file descriptors left" in gw.log_text, 5, "the log")
            assert gw.metric("switchboard_connections_refused_total") == 0

            enter(limit)
            eventually(
                lambda: sum(map(is_open, crowd)) <= gw.metric("switchboard_connections") <= limit, 10,
                "nobody hangs in the backlog")
            assert gw.metric("switchboard_connections_refused_total") >= limit / 2
            # Who is in is served.
            client.request("ping")
        finally:
            for connection in crowd:
                connection.close()
        gw.wait_ready()
        with gw.client() as late:
            late.request("ping")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        eventually(lambda: "descriptors" not in warnings(gw), 5, "the end of the warning")


def starts_again_with_few_descriptors(gw) -> None:
    """Starts it again with enough descriptors for the process, and not for all of its shards."""
    gw.stop()
    port = free_port()
    # A ready file would need one more.
    words = [word for word in gw.arguments if word not in ("--ready-file", str(gw.ready_path.absolute()))]
    words[words.index("--ops") + 1] = f"127.0.0.1:{port}"
    with open(gw.log_path, "ab") as log:
        gw.process = subprocess.Popen(["prlimit", "--nofile=110", *words], stdout=log, stderr=log, env=ENVIRONMENT)
    gw.addresses = {"ops": [{"host": "127.0.0.1", "port": port}]}
    # Until the shards that fail have closed their sockets, these leave no descriptor for a question.
    eventually(lambda: 0 < gw.log_text.count('"a shard cannot run"') == SHARDS - listening(port), 10, "the log")


def tells_the_failed_shards(gw) -> None:
    """All sockets of a port answer, also those of shards that could not start."""
    for _ in range(24):
        answer = gw.ops("/readyz")
        assert answer.status_code == 503 and "threads" in answer.json()["reasons"], answer.text


def test_a_shard_that_cannot_start_takes_no_connection(gateway, server):
    """Its sockets stayed open: half of the questions about readiness, and of the clients, were never answered."""
    gw = gateway("--shards", str(SHARDS), server=server)
    starts_again_with_few_descriptors(gw)
    tells_the_failed_shards(gw)
    eventually(lambda: '"listener":"tls"' in gw.log_text.split("a shard cannot run")[-1], 10, "clients are let in")
    clients = int(re.findall(r'"listener":"tls","address":"127.0.0.1:(\d+)"', gw.log_text)[-1])
    for _ in range(24):
        with socket.create_connection(("127.0.0.1", clients), timeout=5) as connection:
            connection.sendall(b"no TLS\r\n\r\n")
            # The answer is an alert or the end; one that hangs is a TimeoutError.
            with contextlib.suppress(ConnectionError):
                connection.recv(64)
    gw.kill()


def test_readiness_answers_where_links_have_taken_every_descriptor(gateway, server):
    """Dials that Redis did not answer held the last ones, and the question was never accepted."""
    gw = gateway("--shards", "8", server=server)
    gw.wait_ready()
    pid, full = gw.process.pid, gw.fd_count
    server.stop()
    eventually(lambda: gw.fd_count < full - 8, 5, "the end of the links")
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (full, before[1]))
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(server.socket_path)
        silent.listen(64)
        eventually(lambda: gw.fd_count >= full - 8, 10, "the dials")
        for _ in range(24):
            answer = gw.ops("/readyz")
            assert answer.status_code == 503 and "redis" in answer.json()["reasons"], answer.text
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    os.unlink(server.socket_path)
    server.start()
    gw.wait_ready()
