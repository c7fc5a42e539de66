"""The faults of the night shift: each makes its installation, causes the fault, and mends it (night_shift.py)."""

import contextlib
import datetime
import json
import resource
import shutil
import signal
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Callable

from Fixtures.clients import raw
from Fixtures.clients.certificates import Certificate, write_certificate
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.nginx import RunningNginx
from Fixtures.waiting import eventually, pass_time
from night_site import DAY, Named, Site
from websockets.exceptions import ConnectionClosed

FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
FAULTS: dict[str, tuple[Callable, Named]] = {}


def fault(row: str | None, log: str, metric: str | None = None, labels: dict | None = None, **more):
    """Makes a generator a fault: it causes it, yields, and mends it."""
    def register(function):
        FAULTS[function.__name__] = (function, Named(row, log, metric, labels or {}, **more))
        return function
    return register


def warned(site: Site, row: str) -> bool:
    """Whether the row is among the warnings."""
    answer = site.nodes["gateway"].ops("/readyz")
    return row in [one["name"] for one in answer.json().get("warnings", ())]


# Redis


@fault("redis", "redis")
def redis_stopped(site):
    site.gateway()
    yield
    site.redis.kill()
    yield
    site.redis.start()


@fault("redis", "READONLY|read only|read-only")
def redis_read_only(site):
    site.gateway()
    with site.redis.client() as db:
        yield
        db.execute_command("REPLICAOF", "127.0.0.1", "1")
        yield
        db.execute_command("REPLICAOF", "NO", "ONE")


@fault("redis", "OOM|out of memory")
def redis_out_of_memory(site):
    site.gateway()
    with site.redis.client() as db:
        yield
        db.config_set("maxmemory", 1_000_000)
        yield
        db.config_set("maxmemory", 0)


@fault("redis", "WRONGPASS|NOAUTH|password")
def redis_password_rotated(site):
    with site.redis.client() as db:
        db.execute_command("ACL", "SETUSER", "app", "on", ">before", "~*", "&*", "+@all")
        site.gateway(url=f"redis://app:before@127.0.0.1:{site.redis.port}")
        yield
        db.execute_command("ACL", "SETUSER", "app", "resetpass", ">after")
        db.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        db.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        yield
        db.execute_command("ACL", "SETUSER", "app", "resetpass", ">before")


@fault("redis", "redis")
def redis_stalled(site):
    site.gateway()
    yield
    site.redis.signal(signal.SIGSTOP)
    yield
    site.redis.signal(signal.SIGCONT)


# Certificates


@fault("certificate", "the certificate ends")
def certificate_ends_soon(site):
    site.gateway()
    yield
    write_certificate(site.directory, ends=2 * DAY)
    site.nodes["gateway"].signal(signal.SIGHUP)
    yield
    write_certificate(site.directory, ends=365 * DAY)
    site.nodes["gateway"].signal(signal.SIGHUP)


@fault("certificate", "the certificate has ended")
def certificate_ended(site):
    """It ends while the gateway serves it."""
    site.certificate = write_certificate(site.directory, ends=datetime.timedelta(seconds=20))
    site.gateway()
    yield
    eventually(lambda: time.time() > site.certificate.cert.stat().st_mtime + 21, 25, "the end of the certificate")
    yield
    write_certificate(site.directory, ends=365 * DAY)
    site.nodes["gateway"].signal(signal.SIGHUP)


def spoilt(site, spoil: Callable[[Certificate], None]):
    """Spoils the files and reloads: the old certificate serves on, and the operator learns why."""
    site.gateway()
    yield
    spoil(site.certificate)
    site.nodes["gateway"].signal(signal.SIGHUP)
    yield
    write_certificate(site.directory, ends=365 * DAY)
    site.nodes["gateway"].signal(signal.SIGHUP)


@fault(None, "certificate", "switchboard_reloads_total", {"result": "refused"})
def certificate_is_junk(site):
    yield from spoilt(site, lambda certificate: certificate.cert.write_text("junk\n"))


@fault(None, "certificate|server.crt", "switchboard_reloads_total", {"result": "refused"})
def certificate_is_missing(site):
    yield from spoilt(site, lambda certificate: certificate.cert.unlink())


@fault(None, "key", "switchboard_reloads_total", {"result": "refused"})
def key_is_of_another(site):
    def swap(certificate):
        other = write_certificate(site.directory, name="other")
        shutil.copy(other.key, certificate.key)
    yield from spoilt(site, swap)


# Processes


@fault("workers", "worker")
def worker_dead(site):
    site.gateway()
    site.worker()
    eventually(lambda: not warned(site, "workers"), 20, "the worker is known")
    yield
    site.nodes["worker"].kill()
    yield
    site.worker()


@fault(None, "webhook", "switchboard_webhooks_failed_total", speaker="courier")
def receiver_down(site):
    gateway = site.gateway()
    directory = site.directory / "courier"
    directory.mkdir()
    (directory / "secret").write_text("whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldY" + "\n")
    with OutsideServer(site.certificate, lambda asked: Answer(204)) as receiver:
        config = {"webhooks": {"orders": {"url": receiver.url + "/hook", "secret-file": str(directory / "secret"),
                                          "topics": ["order:*"]}}}
        site.nodes["courier"] = CourierProcess(directory, site.redis.url, site.certificate, config)
        site.nodes["courier"].start()
        yield
        receiver.away()
        gateway.publish("order:1", "order:created")
        yield
        receiver.listen()


# Clients


@fault(None, "slow_consumer|slow consumer", "switchboard_connections_closed_total", {"reason": "slow_consumer"})
def slow_reader(site):
    gateway = site.gateway(limits={"outboundAgeMs": 500, "outboundBytesMax": 262_144})
    bearer = "Authorization: Bearer " + site.token("slow", topics=["order:1"])
    slow, status, _ = raw.upgrade(gateway, bearer, receive_buffer=4_096)
    assert status == 101
    with slow, gateway.http() as http:
        slow.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": "order:1"}}).encode()))
        eventually(lambda: http.get("/v1/topics/order:1").json()["subscribers"]["sessions"] == 1, 5, "its topic")
        yield
        for _ in range(60):
            gateway.publish("order:1", "e", {"pad": "x" * 60_000})
        yield


def crowded(site, descriptors: int):
    """So many descriptors are allowed, and as many clients come."""
    gateway = site.gateway()
    soft, hard = resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)
    yield
    with contextlib.ExitStack() as clients:
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (descriptors, hard))
        for _ in range(descriptors):
            with contextlib.suppress(OSError):
                clients.enter_context(raw.connect(gateway))
        yield
    resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (soft, hard))


@fault("descriptors", "descriptor")
def descriptors_96(site):
    yield from crowded(site, 96)


@fault("descriptors", "descriptor")
def descriptors_400(site):
    yield from crowded(site, 400)


@fault("descriptors", "descriptor")
def descriptors_1024(site):
    yield from crowded(site, 1024)


@fault(None, "asks more than its rate.*flooder", "switchboard_rate_warnings_total")
def user_floods(site):
    """One user publishes as fast as a socket takes it."""
    gateway = site.gateway()
    with gateway.client(token=site.token("flooder", topics=["order:1"])) as client:
        client.subscribe("order:1")
        yield
        # It is warned, read later, refused, and ended.
        with contextlib.suppress(ConnectionClosed):
            for number in range(400):
                client.send("publish", {"topic": "order:1", "event": "e", "data": number})
        yield


@fault(None, "asks more than its rate.*flooder", "switchboard_rate_limited_total")
def user_floods_by_http(site):
    gateway = site.gateway()
    yield
    with gateway.http(site.token("flooder")) as http:
        for number in range(400):
            http.post("/v1/commands/vote", json={"shopId": "1", "trackId": "t", "number": number})
    yield


@fault("clock", "clock")
def clock_two_hours_fast(site):
    site.gateway()
    gateway = site.nodes["gateway"]
    gateway.stop()
    path = site.directory / "clock"
    path.write_text("+0\n")
    gateway.environment = {"LD_PRELOAD": str(FAKETIME[0]), "FAKETIME_TIMESTAMP_FILE": str(path),
                           "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    gateway.start().wait_ready()
    site.gateway(name="second")
    site.gateway(name="third")
    yield
    path.write_text("+2h\n")
    yield
    path.write_text("+0\n")


@fault(None, "stood still", "switchboard_process_stalls_total")
def gateway_stopped(site):
    """It stands for six seconds, then goes on: while it stands it answers nobody."""
    gateway = site.gateway()
    yield
    gateway.signal(signal.SIGSTOP)
    pass_time(6, "the gateway stands")
    gateway.signal(signal.SIGCONT)
    yield


# Ways in that do not fit


@fault(None, "PROXY|proxy", "switchboard_connections_closed_total", {"reason": "proxy_header"})
def nginx_without_proxy_header(site):
    gateway = site.gateway("--trust-proxy", "127.0.0.1/32", "--proxy-protocol", "tls")
    yield
    with contextlib.suppress(OSError):
        raw.connect(gateway).close()
    yield


@fault(None, "PROXY|stray", "switchboard_connections_closed_total", {"reason": "stray_proxy_header"})
def proxy_header_to_a_plain_port(site):
    gateway = site.gateway("--listen-plain", "127.0.0.1:0")
    yield
    with socket.create_connection(gateway.address("plain"), timeout=5) as connection:
        connection.sendall(b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n")
        with contextlib.suppress(OSError):
            connection.recv(1)
        yield


@fault(None, "tls|TLS|http", "switchboard_connections_closed_total", {"reason": "tls_failed"})
def http_to_a_tls_port(site):
    gateway = site.gateway()
    yield
    with socket.create_connection(gateway.address(), timeout=5) as connection:
        connection.sendall(b"GET /ws HTTP/1.1\r\nHost: a\r\n\r\n")
        with contextlib.suppress(OSError):
            connection.recv(1)
        yield


@fault(None, "asked for without Upgrade", "switchboard_upgrades_missing_total")
def upgrade_dropped(site):
    """A client comes through nginx, whose configuration forgot the two lines about `Upgrade`."""
    gateway = site.gateway("--listen-plain", "127.0.0.1:0", "--trust-proxy", "127.0.0.1/32")
    plain = "%s:%s" % gateway.address("plain")
    forgotten = {f"proxy_set_header {field} {value};": "" for field, value in (
        ("Upgrade", "$http_upgrade"), ("Connection", "$connection_to_gateway"))}
    with RunningNginx(site.directory / "nginx", ("127.0.0.1:9", "127.0.0.1:9"), (plain, plain),
                      site.certificate.cert, site.certificate.key, more=forgotten) as nginx:
        yield
        host, port = nginx.http.split(":")
        before = SimpleNamespace(address=lambda: (host, int(port)), certificate=site.certificate)
        # A client that is refused tries again.
        for _ in range(5):
            with raw.connect(before) as connection:
                connection.sendall(
                    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                assert b"426" in connection.recv(4_096)
        yield
