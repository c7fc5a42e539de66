"""A Redis that could not load its own file is told of before it is restarted: by `check`, in the log, in `/readyz`."""

import re
import subprocess

import pytest
from redis import Redis

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.check import check
from Fixtures.processes.gateway import Gateway
from Fixtures.redis.server import RedisServer
from Fixtures.redis.waiting import until
from Fixtures.waiting import eventually

OURS = ("switchboard", "on", ">ours", "~*", "&*", "+@all", "-@admin", "+config|get", "+client|list", "+acl|dryrun")
MENDED = ("default", "off", "resetpass", "~*", "&*", "+@all")
METRIC = "switchboard_redis_default_user_can_load"


class Guarded(RedisServer):
    """A server with an append-only file and the users of a file of its own."""

    def __init__(self, directory, *options: str):
        directory.mkdir()
        (directory / "users.acl").write_text("user operator on >op ~* &* +@all\n")
        super().__init__(directory, "--appendonly", "yes", "--aclfile", str(directory / "users.acl"),
                         "--repl-diskless-sync-delay", "0", *options, tcp=True)

    def client(self, **options) -> Redis:
        """The operator's own."""
        return super().client(**{"username": "operator", "password": "op"} | options)

    def rule(self, *words: str) -> None:
        """`ACL SETUSER`."""
        with self.client() as db:
            assert db.execute_command("ACL", "SETUSER", *words) == b"OK"

    @property
    def ours(self) -> str:
        """The gateways' address."""
        return f"redis://switchboard:ours@127.0.0.1:{self.port}"


@pytest.fixture
def guarded(tmp_path):
    server = Guarded(tmp_path / "guarded").start()
    server.rule(*OURS)
    yield server
    server.stop()


# Rules for the user `default`, and whether Redis could load its file with them.
RULES = {
    "off and nothing": ("reset", False), "off and mended": ("off resetpass ~* &* +@all", True),
    "on with a password": ("reset on >secret ~* &* +@all", True),
    "some keys": ("reset off ~shop:* ~order:* +@all", False), "no channels": ("reset off ~* resetchannels +@all", True),
    "one write missing": ("reset off ~* +@all -xadd", False),
    "no dangerous ones": ("reset off ~* +@all -@dangerous", True),
}


def test_check_tells_whether_redis_could_load_its_own_file(guarded, tmp_path):
    for name, (rules, is_good) in RULES.items():
        guarded.rule("default", *rules.split())
        done = check(tmp_path, guarded.ours)
        assert (done.returncode == 0) is is_good, name + done.stdout + done.stderr
        assert ("a restart of Redis would lose what scripts wrote" in done.stdout) is not is_good, name + done.stdout
        assert ("may load the append-only file" in done.stdout) is is_good, name
    with guarded.client() as db:
        guarded.rule("default", "reset")
        # A dump is no list of commands.
        db.config_set("appendonly", "no")
    assert check(tmp_path, guarded.ours).returncode == 0


def test_what_check_upgrade_prints_mends_the_deployment_when_typed(guarded, tmp_path):
    guarded.rule("default", "reset")
    guarded.rule("switchboard", "-acl|dryrun")
    done = check(tmp_path, guarded.ours)
    assert done.returncode == 0 and "warning: " in done.stdout and "+acl|dryrun" in done.stdout, done.stdout
    for step in ("user may not ask", "would lose what scripts wrote"):
        done = check(tmp_path, guarded.ours, "--upgrade")
        assert "step 1 of 1" in done.stdout and step in done.stdout, done.stdout
        commands = [line for line in done.stdout.splitlines() if line.startswith("  redis-cli ")]
        assert len(commands) == 2
        for command in commands:
            typed = subprocess.run(command.replace("--askpass", "--pass op --no-auth-warning"), shell=True,
                                   capture_output=True, text=True, timeout=10)
            assert typed.stdout.strip() == "OK", command + typed.stdout
    done = check(tmp_path, guarded.ours, "--upgrade")
    assert done.returncode == 0 and "upgrade: nothing is to be changed" in done.stdout, done.stdout
    assert re.search(r"^user default off [^#>]*~\* &\* \+@all$", (guarded.directory / "users.acl").read_text(), re.M)


def test_check_asks_replicas_which_have_users_of_their_own(guarded, tmp_path):
    guarded.rule(*MENDED)
    replica = Guarded(tmp_path / "replica", "--replicaof", "127.0.0.1", str(guarded.port), "--masteruser", "operator",
                      "--masterauth", "op").start()
    try:
        def is_in_step():
            with replica.client() as db:
                return db.info("replication")["master_link_status"] == "up"
        until(is_in_step, what="a replica in step")
        done = check(tmp_path, guarded.ours)
        assert f"warning: 127.0.0.1:{replica.port} does not say" in done.stdout and done.returncode == 0, done.stdout
        replica.rule(*OURS)
        replica.rule("default", "reset")
        done = check(tmp_path, guarded.ours, "--upgrade")
        assert f"error: 127.0.0.1:{replica.port}: a restart" in done.stdout and done.returncode == 1, done.stdout
        assert f"-p {replica.port}" in done.stdout and f"-p {guarded.port}" not in done.stdout
        replica.rule(*MENDED)
        done = check(tmp_path, guarded.ours)
        assert "append-only file of 2 servers" in done.stdout and done.returncode == 0, done.stdout
        assert "the rights of a gateway on 2 servers" in done.stdout
        # After a failover the gateways would never become ready.
        replica.rule("switchboard", "resetchannels")
        done = check(tmp_path, guarded.ours)
        assert (f"error: 127.0.0.1:{replica.port}: the Redis user switchboard lacks rights of a gateway: ACL SETUSER"
                " switchboard &*, then ACL SAVE" in done.stdout and done.returncode == 1), done.stdout
    finally:
        replica.stop()


def test_a_gateway_warns_while_redis_could_not_load_its_own_file(guarded, tmp_path, certificate):
    guarded.rule("default", "reset")
    gateway = Gateway(tmp_path / "gateway", guarded.ours, certificate, SECRET, limits={"redisLoadCheckMs": 100})
    told = "redis could not load its own file"
    try:
        gateway.start().wait_ready()
        [warning] = eventually(lambda: gateway.ops("/readyz").json().get("warnings"), 5, "a warning")
        assert warning["name"] == "redis_default_user" and warning["since"].endswith("Z")
        assert "ACL SETUSER default off resetpass ~* &* +@all" in warning["mend"]
        assert gateway.ops("/readyz").status_code == 200 and told in gateway.log_text
        place = f"127.0.0.1:{guarded.port}"
        assert gateway.metric(METRIC, address=place) == 0
        guarded.rule("switchboard", "-acl|dryrun")
        eventually(lambda: "does not say whether" in gateway.log_text, 5, "a line in the log")
        assert "+acl|dryrun" in gateway.ops("/readyz").json()["warnings"][0]["mend"]
        guarded.rule(*OURS)
        guarded.rule(*MENDED)
        eventually(lambda: "warnings" not in gateway.ops("/readyz").json(), 5, "no warning")
        assert gateway.metric(METRIC, address=place) == 1
        assert gateway.log_text.count(told) <= 2 and "can load its own file again" in gateway.log_text
    finally:
        gateway.stop()
