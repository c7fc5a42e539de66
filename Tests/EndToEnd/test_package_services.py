"""The installed package at work: its units' own command lines run under a supervisor, and are upgraded under load."""

import asyncio
import json
import re
import signal
import ssl
import time
from pathlib import Path

import httpx
import pytest

from Fixtures.clients.followers import Follower, publish, true
from Fixtures.clients.native import Client
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.ports import free_port
from Fixtures.processes.released import DebianRoot
from Fixtures.processes.units import Supervisor, path_with, wait_for
from Fixtures.waiting import eventually

KINDS = ("worker", "courier", "gateway")
FOLLOWERS = 40

pytestmark = pytest.mark.shipped


@pytest.fixture(scope="module")
def next_package(released, tmp_path_factory):
    return released.next_version(tmp_path_factory.mktemp("next"))


class Machine:
    """A system with the package, configured as deploy/README.md says, and a supervisor in the place of systemd."""

    def __init__(self, directory, released, redis_url, certificate, **changes):
        self.root = DebianRoot(directory / "root", released)
        self.root.install()
        self.own = self.root.folder / "etc/switchboard"
        self.port, self.ops = free_port(), free_port()
        self.certificate = certificate
        settings = json.loads((self.own / "gateway.json").read_text())
        settings |= {
            "listen": f"127.0.0.1:{self.port}", "ops": f"127.0.0.1:{self.ops}", "redis": redis_url,
            "worker-ops": f"127.0.0.1:{free_port()}", "courier-ops": f"127.0.0.1:{free_port()}",
            "limits": {"drainMs": 1_500, "drainGraceMs": 200, "connectionsMax": 10_000},
            "services": {"spotify": {"token-url": None}}}
        # The default's other values, where this system has the files.
        for name, value in settings.items():
            if isinstance(value, str) and value.startswith("/etc/switchboard"):
                settings[name] = str(self.root.folder) + value
        self.configure(settings)
        (self.own / "tls/fullchain.pem").write_bytes(certificate.cert.read_bytes())
        (self.own / "tls/privkey.pem").write_bytes(certificate.key.read_bytes())
        (self.own / "jwt-secret").write_bytes(SECRET)
        (self.own / "api-keys").write_text(f"backend:{API_KEY}\n")
        self.supervisor = Supervisor(self.root.folder, directory / "supervisor", **changes)
        # The package's scripts find this `systemctl` first.
        self.root.environment["PATH"] = path_with(self.supervisor.programs)
        self.gateway, self.worker, self.courier = map(self.supervisor.unit, ("gateway", "worker", "courier"))

    def configure(self, settings: dict) -> None:
        self.settings = settings
        (self.own / "gateway.json").write_text(json.dumps(settings))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def http(self) -> httpx.Client:
        return httpx.Client(base_url=f"https://{self.address}", verify=self.certificate.trusting_context(),
                            trust_env=False, timeout=10, headers={"apikey": API_KEY})

    def client(self, token=None) -> Client:
        return Client(f"wss://{self.address}/ws", self.certificate.trusting_context(), token)

    def is_ready(self) -> bool:
        return httpx.get(f"http://127.0.0.1:{self.ops}/readyz", trust_env=False).status_code == 200

    def close(self) -> None:
        self.supervisor.close()


@pytest.fixture
def machine(tmp_path, released, server, certificate):
    """A factory of machines, with changes to the units' settings; the Redis is this test's own."""
    made = []

    def make(**changes):
        made.append(Machine(tmp_path / f"machine-{len(made)}", released, server.url, certificate, **changes))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_every_unit_starts_reloads_and_ends_as_systemd_asks(machine):
    one = machine()
    for unit in (one.gateway, one.worker, one.courier):
        assert unit.start(), unit.log_text[-2_000:]
        assert unit.heard == ["READY=1"]
        eventually(lambda unit=unit: unit.signs_of_life >= 2, 10, "signs of life")
        limits = Path(f"/proc/{unit.process.pid}/limits").read_text()
        assert re.search(r"^Max core file size +0 +0 ", limits, re.M), "the process forbids it by itself, too"
        assert f" info starting role={unit.name[12:-8]} version={one.root.release.version} " in (
            unit.log_text.splitlines()[0])
    assert one.gateway.reload()
    eventually(lambda: one.gateway.heard[1:] and one.gateway.heard[-1] == "READY=1", 10, "the end of the reload")
    assert "RELOADING=1" in one.gateway.heard and one.gateway.status == ""
    assert one.courier.reload()
    eventually(lambda: "reloaded" in one.courier.log_text, 10, "the courier's reload")
    for unit in (one.gateway, one.worker, one.courier):
        process = unit.process
        assert unit.stop() == 0 and process.returncode == 0, unit.log_text[-2_000:]
        assert unit.heard[-1] == "STOPPING=1" and unit.state == "inactive"


def test_the_main_job_is_done_by_the_installed_package(machine):
    """A subscriber gets events of a publisher, and a booking that the worker has to move on."""
    one = machine()
    for kind in KINDS:
        assert one.supervisor.unit(kind).start()
    eventually(one.is_ready, 10, "readiness")
    with one.client() as client, one.http() as http:
        begin = client.subscribe("shop:1")
        answer = http.post("/v1/broadcast", json={"topic": "shop:1", "event": "hello", "data": {"n": 1}})
        assert answer.status_code == 200
        client.expect("hello", topic="shop:1", offset=begin["offset"] + 1, data={"n": 1})
        # The worker makes the shop's queue of what the command has kept.
        book = {"shopId": "1", "bookingId": "b1", "userId": "ann", "tier": "standard"}
        for name, arguments in (("set_barber", {"shopId": "1", "barberId": "m1", "active": True}),
                                ("create_booking", book),
                                ("move_booking", {"shopId": "1", "bookingId": "b1", "status": "confirmed"})):
            answer = http.post(f"/v1/commands/{name}", json=arguments)
            assert answer.status_code == 200, f"{name}: {answer.text}"
        while (message := client.receive(10))["event"] != "queue:update" or not message["data"]["queueLength"]:
            pass
        assert message["topic"] == "shop:1" and message["data"]["queueLength"] == 1
        nodes = eventually(lambda: (found := http.get("/v1/nodes").json())["total"] == 3 and found, 15, "the nodes")
        assert {row["role"] for row in nodes["nodes"]} == set(KINDS)
        assert {row["version"] for row in nodes["nodes"]} == {one.root.release.version}


def test_a_service_that_hangs_is_ended_and_started_anew(machine):
    """A tenth of the units' own times, which `test_package.py` reads."""
    one = machine(WatchdogSec="1s", TimeoutAbortSec="500ms", RestartSec="100ms")
    assert one.gateway.start()
    first = one.gateway.process
    before = one.gateway.signs_of_life
    eventually(lambda: one.gateway.signs_of_life > before + 2, 10, "signs of life")
    first.send_signal(signal.SIGSTOP)
    eventually(lambda: one.gateway.starts == 2, 20, "the second start")
    # SIGABRT does not reach a stopped process; SIGKILL does.
    assert first.wait(5) == -signal.SIGKILL
    wait_for(one.gateway, "active")
    eventually(one.is_ready, 10, "readiness")


def test_a_service_without_redis_is_alive_and_not_restarted(machine, server):
    """A worker becomes ready with Redis, and its unit has no limit for the start: `infinity`."""
    one = machine(WatchdogSec="1s", TimeoutAbortSec="500ms")
    assert one.gateway.start()
    server.stop()
    eventually(lambda: not one.is_ready(), 20, "red readiness")
    before = one.gateway.signs_of_life
    eventually(lambda: one.gateway.signs_of_life > before + 6, 20, "signs of life")
    assert one.gateway.starts == 1 and one.gateway.state == "active"
    server.start()


def test_an_upgrade_under_load_loses_no_event(machine, next_package, gateway, server):
    """Clients of the upgraded gateway come back at their position; backends publish by another machine meanwhile."""
    one, other = machine(), gateway(server=server)
    for kind in KINDS:
        assert one.supervisor.unit(kind).start()
    eventually(one.is_ready, 10, "readiness")
    before = {kind: one.supervisor.unit(kind).process.pid for kind in KINDS}
    topics = [f"shop:upgrade-{number}" for number in range(4)]
    took = []

    async def upgrade(followers, published):
        began = time.monotonic()
        await asyncio.to_thread(one.root.install, next_package)
        took.append(time.monotonic() - began)
        await true(lambda: all(follower.live for follower in followers), 30, "everybody's return")

    followers, failures, published = asyncio.run(under_load(one, other, topics, upgrade))
    assert one.root.state() == f"ii|{one.root.release.version}+next"
    after = {kind: one.supervisor.unit(kind).process.pid for kind in KINDS}
    assert not set(before.values()) & set(after.values()), "each service runs the new program"
    for kind in KINDS:
        assert one.supervisor.unit(kind).starts == 2 and one.supervisor.unit(kind).state == "active"
    order = [words[-1] for words in one.supervisor.calls if words[0] == "try-restart"]
    assert order == [f"switchboard-{kind}.service" for kind in KINDS], "workers go first"
    assert [follower.holes for follower in followers if follower.holes] == []
    assert all(follower.returns for follower in followers) and failures == []
    events = sum(published.values())
    assert events > 50 and all(follower.offset == published[follower.topic] for follower in followers)
    print(f"{events} events to {len(followers)} clients, {took[0]:.1f} s for the upgrade, none lost")


async def under_load(one, other, topics, change):
    """Followers of one machine and publishers to another, while `change` happens."""
    context: ssl.SSLContext = one.certificate.trusting_context()
    followers = [Follower(lambda: one.address, context, topics[n % len(topics)]) for n in range(FOLLOWERS)]
    failures, published = [], {}
    async with asyncio.TaskGroup() as group:
        http = httpx.AsyncClient(verify=context, trust_env=False, timeout=20)
        tasks = [group.create_task(follower.run()) for follower in followers]
        await true(lambda: all(follower.live for follower in followers), 30, "everybody's arrival")
        publisher = group.create_task(publish(http, other.origin, topics, 0.02, failures, published))
        await true(lambda: sum(published.values()) > 20, 20, "the load")
        await change(followers, published)
        publisher.cancel()
        await true(lambda: all(follower.offset >= published[follower.topic] for follower in followers), 20,
                   "the last event")
        for task in tasks:
            task.cancel()
        await http.aclose()
    return followers, failures, published


def test_an_upgrade_that_refuses_the_configuration_changes_nothing_that_runs(machine, next_package):
    """The operator sees it in dpkg's output and exit code, and mends it with the services still up."""
    one = machine()
    assert one.gateway.start() and one.worker.start()
    pids = one.gateway.process.pid, one.worker.process.pid
    good = one.settings
    one.configure(good | {"drain-secnds": 3})
    done = one.root.install(next_package, check=False)
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert "drain-secnds" in said and "drain-seconds" in said, said
    assert "go on with the version before: switchboard-worker switchboard-gateway" in said
    assert (one.gateway.process.pid, one.worker.process.pid) == pids and one.is_ready()
    assert one.root.state().startswith("iF")
    one.configure(good)
    one.root.dpkg("--configure", "switchboard")
    assert one.root.state() == f"ii|{one.root.release.version}+next"
    assert one.gateway.starts == 2 and one.worker.starts == 2 and one.courier.starts == 0
    eventually(one.is_ready, 10, "readiness")


def test_a_policy_that_forbids_restarts_is_kept_and_named(machine, next_package):
    """`policy-rc.d` is how an image, or an operator with a plan of his own, says that packages start nothing."""
    one = machine()
    assert one.gateway.start()
    policy = one.root.folder / "usr/sbin/policy-rc.d"
    policy.parent.mkdir(exist_ok=True)
    policy.write_text('#!/bin/sh\n[ "$2" = restart ] && exit 101\n')
    policy.chmod(0o755)
    said = one.root.install(next_package).stderr
    assert "policy-rc.d forbids the restart of switchboard-gateway.service" in said
    assert one.gateway.starts == 1 and one.is_ready()


def test_a_removal_ends_the_services(machine):
    one = machine()
    assert one.gateway.start() and one.worker.start()
    process = one.gateway.process
    one.root.dpkg("--remove", "switchboard")
    assert process.returncode == 0 and one.gateway.state == one.worker.state == "inactive"
    assert ["disable", "--now", *(f"switchboard-{kind}.service" for kind in ("gateway", "courier", "worker"))] in [
        words for words in one.supervisor.calls]
    # Its configuration is kept, so it can be installed again as it was.
    one.root.install()
    assert json.loads((one.own / "gateway.json").read_text()) == one.settings
    assert one.gateway.start(), one.gateway.log_text[-2_000:]
