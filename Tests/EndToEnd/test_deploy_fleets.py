"""The files of deploy/ for Sentinel and for a Redis Cluster: what compose starts, and its users."""

import json
import re
import subprocess

import pytest
from redis import Redis

from Fixtures.processes import deploy_files
from Fixtures.processes.deploy_container import Container
from Fixtures.processes.deploy_files import DEPLOY
from Fixtures.processes.ports import free_pair
from Fixtures.redis.waiting import until

BASE = deploy_files.compose()
KINDS = ("sentinel", "cluster")
FILES = {kind: deploy_files.compose(kind) for kind in KINDS}
HOST = re.compile(r"172\.28\.5\.\d+")


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    """The directory of secrets of each kind."""
    made = {}
    for kind in KINDS:
        made[kind] = tmp_path_factory.mktemp(kind) / "secrets"
        subprocess.run([DEPLOY / "secrets.sh", made[kind], kind], check=True, capture_output=True, timeout=60)
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_added_runs_without_rights_and_by_its_own_address(kind):
    added = {name: service for name, service in FILES[kind]["services"].items() if name not in BASE["services"]}
    assert len(added) >= 5
    for name, service in added.items():
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["user"] == "redis", name
        assert service["security_opt"] == ["no-new-privileges:true"] and "ports" not in service, name
    inside = [service["networks"]["inside"]["ipv4_address"] for file in (BASE, FILES[kind])
              for service in file["services"].values() if isinstance(service["networks"], dict)]
    assert len(set(inside)) == len(inside)
    volumes = [volume.partition(":")[0] for service in added.values() for volume in service.get("volumes", ())]
    assert sorted(volumes) == sorted(FILES[kind]["volumes"]), "data that two would share, or that nobody has"


@pytest.mark.parametrize("kind", KINDS)
def test_secrets_are_those_that_are_mounted_and_name_those_that_run(kind, secrets):
    file, made = FILES[kind], {path.name for path in secrets[kind].iterdir()}
    named = {**BASE["secrets"], **file["secrets"]}
    assert {entry["file"] for entry in named.values()} == {f"secrets/{name}" for name in made}
    assert {name for service in file["services"].values() for name in service.get("secrets", ())} <= set(named)
    for path in secrets[kind].glob("*.conf"):
        settings = re.sub("^#.*", "", path.read_text(), flags=re.M)
        assert "PASSWORD" not in settings and "10.0.0." not in settings, path
    running = {service["networks"]["inside"]["ipv4_address"] for service in file["services"].values()
               if isinstance(service["networks"], dict)}
    told = set(HOST.findall((secrets[kind] / "settings.json").read_text()))
    assert len(told) == 3 and told <= running


@pytest.fixture
def started(secrets, tmp_path):
    """Starts some services of a kind."""
    running = []

    def start(kind, *names):
        file = FILES[kind]["services"]
        ports = {file[name]["networks"]["inside"]["ipv4_address"]: free_pair() for name in names}
        for name in names:
            running.append(Container(file[name], secrets[kind], tmp_path / name, ports).start())
        return running
    yield start
    for one in running:
        one.end()


def test_a_replica_and_a_sentinel_get_what_they_need_by_their_users(started, secrets):
    master, replica, sentinel = started("sentinel", "redis", "redis-2", "sentinel-1")
    url = json.loads((secrets["sentinel"] / "settings.json").read_text())["redis"]
    password, asking = re.search(r"switchboard:(\w+)@.*sentinel-password=(\w+)$", url).groups()
    with Redis(port=replica.port, username="switchboard", password=password) as db:
        until(lambda: db.info("replication")["master_link_status"] == "up", what="a replica in step")
    with Redis(port=sentinel.port, password=asking) as db:
        # It is told by the master itself, so its own user may ask.
        told = until(lambda: (one := db.sentinel_master("switchboard"))["num-slaves"] == 1 and one, what="its replicas")
    assert told["flags"] == "master" and told["port"] == master.port, told


def test_a_node_of_the_cluster_obeys_its_operator(started, secrets):
    [node] = started("cluster", "redis")
    password = (secrets["cluster"] / "operator-password").read_text()
    with Redis(port=node.port, username="operator", password=password) as db:
        until(db.ping, what="an answer")
        assert db.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383) == b"OK"
        until(lambda: b"cluster_state:ok" in db.execute_command("CLUSTER", "INFO"), what="a cluster")
