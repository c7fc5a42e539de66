"""How Redis may be reached: socket, TCP, password, ACL user, TLS; and what is said when it may not."""

import pytest

from Fixtures.processes.gateway import Gateway
from Fixtures.processes.node import ENVIRONMENT
from Fixtures.processes.ports import free_port
from Fixtures.redis.cluster import RedisCluster
from Fixtures.redis.sentinels import SentinelGroup
from Fixtures.redis.server import RedisServer
from Fixtures.redis.tls import CLUSTER_RIGHTS, GATEWAY_RIGHTS, files, users_of
from Fixtures.waiting import eventually

PASSWORD = "correct horse battery staple"


def gateway_of(tmp_path, url, certificate, secret):
    return Gateway(tmp_path / "gateway", url, certificate, secret, limits={"listenGraceMs": 0})


def serves(gateway, topic):
    gateway.start().wait_ready()
    with gateway.client() as client:
        client.subscribe(topic)
        gateway.publish(topic, "e", {})
        client.expect("e", offset=1)


def refused_because(gateway, word):
    """It runs and stays alive, but is not ready, and says why; and never tells the password."""
    gateway.start()
    eventually(lambda: word in gateway.ops("/readyz").text, 10, word)
    assert gateway.ops("/readyz").status_code == 503 and gateway.ops("/livez").status_code == 200
    assert PASSWORD not in gateway.log_text and "correct%20horse" not in gateway.log_text


@pytest.fixture
def locked(tmp_path):
    server = RedisServer(tmp_path / "redis", tcp=True).start()
    with server.client() as redis:
        redis.config_set("requirepass", PASSWORD)
    yield server
    server.stop()


@pytest.mark.parametrize("url, served", [
    ("redis://:{good}@127.0.0.1:{port}", True), ("redis://default:{good}@127.0.0.1:{port}/0", True),
    ("unix://{socket}?password={good}", True), ("redis://localhost:{port}", "noauth"),
    ("redis://:wrong@127.0.0.1:{port}", "wrongpass"), ("redis://nobody:{good}@127.0.0.1:{port}", "wrongpass"),
])
def test_password(tmp_path, locked, certificate, secret, topic, url, served):
    good = PASSWORD.replace(" ", "%20")
    url = url.format(good=good, port=locked.port, socket=locked.socket_path)
    gateway = gateway_of(tmp_path, url, certificate, secret)
    try:
        if served is True:
            serves(gateway, topic)
        else:
            refused_because(gateway, served)
    finally:
        gateway.stop()


def test_a_user_with_only_the_rights_it_needs(tmp_path, server, certificate, secret, topic):
    """What an operator should grant: these commands, our keys, our channels."""
    with server.client() as redis:
        redis.execute_command(
            "ACL", "SETUSER", "switchboard", "on", ">secret-of-redis", "resetkeys", "resetchannels", *GATEWAY_RIGHTS)
    url = f"unix://{server.socket_path}?user=switchboard&password=secret-of-redis"
    gateway = gateway_of(tmp_path, url, certificate, secret)
    try:
        serves(gateway, topic)
    finally:
        gateway.stop()


def test_a_cluster_by_tls_as_a_user_with_only_the_rights_it_needs(tmp_path, certificate, secret, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "SSL_CERT_FILE", str(certificate.cert))
    cluster = RedisCluster(
        tmp_path / "cluster", "--user", "gate", "on", ">secret-of-redis", *CLUSTER_RIGHTS, replicas=0,
        certificate=certificate)
    gateways = {password: Gateway(tmp_path / password, f"rediss+cluster://gate:{password}@{cluster.hosts}", certificate,
                                  secret, "--shards", "1") for password in ("secret-of-redis", "wrong")}
    try:
        cluster.start()
        gateway = gateways["secret-of-redis"].start().wait_ready()
        with gateway.client() as client:
            for number in range(8):
                client.subscribe(f"shop:{number}")
                gateway.publish(f"shop:{number}", "e", {})
                client.expect("e", topic=f"shop:{number}", offset=1)
        for node in cluster.nodes:
            with node.client() as redis:
                assert users_of(redis) == {"gate"}
        assert "noperm" not in gateway.log_text
        refused_because(gateways["wrong"], "wrongpass")
        assert "secret-of-redis" not in gateway.log_text
    finally:
        for gateway in gateways.values():
            gateway.stop()
        cluster.stop()


def test_sentinels_by_tls_with_a_user_of_their_own(tmp_path, certificate, secret, topic, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "SSL_CERT_FILE", str(certificate.cert))
    group = SentinelGroup(
        tmp_path / "group", "--user", "gate", "on", ">secret-of-redis", *GATEWAY_RIGHTS, replicas=0, sentinels=1,
        certificate=certificate,
        sentinel_lines=("user watcher on >secret-of-sentinels &* -@all +auth +client|setname +info +sentinel|master"
                        " +subscribe +ping",))
    hosts = f"127.0.0.1:{group.sentinels[0].port}"
    url = "rediss+sentinel://gate:secret-of-redis@{}/group?sentinel-user=watcher&sentinel-password={}"
    gateways = {password: gateway_of(tmp_path / password, url.format(hosts, password), certificate, secret)
                for password in ("secret-of-sentinels", "wrong")}
    try:
        group.start()
        serves(gateways["secret-of-sentinels"], topic)
        with group.servers[0].client() as redis, group.sentinels[0].client() as sentinel:
            assert users_of(redis) == {"gate"} and users_of(sentinel) == {"watcher"}
        gateways["wrong"].start()
        eventually(lambda: "wrongpass" in gateways["wrong"].log_text, 10, "the reason of the Sentinels")
        eventually(lambda: "no_master" in gateways["wrong"].ops("/readyz").text, 10, "the reason of the links")
    finally:
        for gateway in gateways.values():
            gateway.stop()
        group.stop()


def test_password_changed_and_changed_back(tmp_path, locked, certificate, secret, topic):
    """R15: no restart is needed."""
    good = PASSWORD.replace(" ", "%20")
    gateway = gateway_of(tmp_path, f"redis://:{good}@127.0.0.1:{locked.port}", certificate, secret)
    try:
        serves(gateway, topic)
        with locked.client(password=PASSWORD) as redis:
            redis.config_set("requirepass", "another")
            redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            eventually(lambda: "wrongpass" in gateway.ops("/readyz").text, 10, "wrongpass")
            redis.config_set("requirepass", PASSWORD)
        gateway.wait_ready()
    finally:
        gateway.stop()


@pytest.fixture
def encrypted(tmp_path, certificate):
    port = free_port()
    server = RedisServer(
        tmp_path / "redis", "--tls-port", str(port), *files(certificate)).start()
    yield port
    server.stop()


def test_tls(tmp_path, encrypted, certificate, secret, topic, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "SSL_CERT_FILE", str(certificate.cert))
    gateway = gateway_of(tmp_path, f"rediss://localhost:{encrypted}", certificate, secret)
    try:
        serves(gateway, topic)
    finally:
        gateway.stop()


def test_tls_with_an_unknown_authority(tmp_path, encrypted, certificate, secret, monkeypatch):
    monkeypatch.delitem(ENVIRONMENT, "SSL_CERT_FILE", raising=False)
    gateway = gateway_of(tmp_path, f"rediss://localhost:{encrypted}", certificate, secret)
    try:
        refused_because(gateway, "disconnected")
    finally:
        gateway.stop()


def test_a_replica_is_not_taken(tmp_path, server, certificate, secret):
    replica = RedisServer(tmp_path / "replica", "--replicaof", "127.0.0.1", "1").start()
    gateway = gateway_of(tmp_path, replica.url, certificate, secret)
    try:
        refused_because(gateway, "readonly")
        with replica.client() as redis:
            redis.replicaof("no", "one")
        gateway.wait_ready()
    finally:
        gateway.stop()
        replica.stop()
