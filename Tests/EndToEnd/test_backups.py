"""The page about backups is true: its commands are typed as they stand, and the copy has every key."""

import contextlib
import re
import shlex
import signal
import subprocess

import pytest

from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.deploy_files import ROOT
from Fixtures.processes.deployments import ORDER, Deployment, write
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.redis.contents import lasting
from Fixtures.redis.waiting import until
from Fixtures.waiting import pass_time

PAGE = (ROOT / "docs" / "operations.md").read_text()


def blocks() -> list[list[str]]:
    """The commands of the page: of an append-only file the backup and the restore, then the same of a dump."""
    section = re.search(r"^## Backing up and restoring Redis\n(.*?)^## ", PAGE, re.M | re.S)[1]
    return [block.splitlines() for block in re.findall(r"^```\n(.*?)^```$", section, re.M | re.S)]


class Terminal:
    """Types the page's lines at the master of a deployment; what the machine has elsewhere is replaced."""

    def __init__(self, deployment: Deployment, place):
        self.deployment, self.place = deployment, place
        [self.server] = deployment.masters()

    def type(self, line: str) -> None:
        """Types one line; `# wait until it is 0` repeats it until its output says so."""
        command, _, remark = line.partition("#")
        command = command.strip()
        if command.startswith("systemctl "):
            assert command in ("systemctl stop redis-server", "systemctl start redis-server")
            return self.server.end(signal.SIGTERM) if "stop" in command else self.start()
        if "redis-server /etc/redis/redis.conf" in command:
            assert command.startswith("runuser -u redis -- ") and command.endswith(" --daemonize yes")
            words = command.partition("redis.conf ")[2].removesuffix(" --daemonize yes")
            return self.start(*shlex.split(words))
        if remark.strip() == "wait until it is 0":
            return until(lambda: re.search(r"^\w+:0\r?$", self.run(command), re.M), what=line)
        return self.run(command)

    def start(self, *more: str) -> None:
        """Starts the server by its own command."""
        self.server.start(*more)
        until(lambda: self.deployment.asked(self.server, "ping"), what="an answer")

    def run(self, command: str) -> str:
        """Runs a command of the page; its output."""
        password = (self.deployment.secrets / "operator-password").read_text()
        client = f"redis-cli -p {self.server.port} --user operator --pass {password} --no-auth-warning"
        command = re.sub(r"^redis-cli\b", client, command).replace("/var/lib/redis", str(self.server.directory))
        command = re.sub(r"^switchboard\b", str(BINARY.absolute()), command).replace("URL", self.deployment.url)
        done = subprocess.run(command, shell=True, cwd=self.place, capture_output=True, text=True, timeout=60,
                              env=ENVIRONMENT)
        # The server ends before it answers.
        assert done.returncode == 0 or command.endswith("SHUTDOWN"), command + done.stdout + done.stderr
        if command.endswith("SHUTDOWN"):
            self.server.process.wait(10)
        return done.stdout


@pytest.fixture
def pair(tmp_path):
    """A deployment that has data, and a fresh one."""
    made = []
    try:
        for name in ("old", "new"):
            (tmp_path / name).mkdir()
            made.append(Deployment("one", tmp_path / name))
            made[-1].start()
        yield made
    finally:
        for one in made:
            one.stop()


@contextlib.contextmanager
def backed_up(deployment, certificate, place, lines):
    """A gateway that wrote data before the page's lines copied them: it, its position, and the terminal."""
    gateway = Gateway(place / "before", deployment.url, certificate, SECRET)
    try:
        gateway.start().wait_ready()
        position = write(gateway, "shop")
        terminal = Terminal(deployment, place)
        for line in lines:
            terminal.type(line)
        yield gateway, position, terminal
    finally:
        gateway.stop()


@pytest.mark.parametrize("first", [0, 2], ids=["append-only file", "dump"])
def test_a_restored_backup_has_every_key_position_and_event(pair, certificate, tmp_path, first):
    """The page restored none of ten keys: all had been written by scripts."""
    old, new = pair
    backup, restore = blocks()[first:first + 2]
    with backed_up(old, certificate, tmp_path, backup) as (_, position, _):
        pass
    before = old.contents()
    assert b"order:77#log" in before and len(before) > 20
    terminal = Terminal(new, tmp_path)
    for line in restore:
        if line.startswith("switchboard reset-epochs"):
            assert lasting(before) == lasting(new.contents())
        terminal.type(line)
    assert restore[-1].startswith("switchboard reset-epochs")
    gateway = Gateway(tmp_path / "after", new.url, certificate, SECRET)
    try:
        with gateway.start().wait_ready().client(token=sign(SECRET, "ann", topics=[ORDER])) as client:
            answer = client.subscribe(ORDER, position)
            assert not answer["recovered"] and answer["epoch"] != position["epoch"]
    finally:
        gateway.stop()


@pytest.fixture
def group(tmp_path):
    """Three servers with three Sentinels."""
    made = Deployment("sentinel", tmp_path)
    try:
        yield made.start()
    finally:
        made.stop()


def test_a_backup_is_restored_to_a_group_with_sentinels(group, certificate, tmp_path):
    """The order of docs/run/sentinel.md. While Sentinels ran, another server was promoted and the backup was gone."""
    backup, restore = blocks()[:2]
    with backed_up(group, certificate, tmp_path, backup) as (gateway, position, terminal):
        gateway.publish(ORDER, "lost", {})
    assert group.asked(terminal.server, "xlen", f"{ORDER}#log") == position["offset"] + 1
    for watcher in group.watchers:
        watcher.end(signal.SIGTERM)
    for line in restore[:-1]:
        terminal.type(line)
        if line.startswith("systemctl stop"):
            pass_time(6, "Sentinels would promote another server (down-after-milliseconds)")
    group.start()
    assert group.masters() == [terminal.server]
    for server in group.servers:
        assert group.asked(server, "xlen", f"{ORDER}#log") == position["offset"]
    terminal.type(restore[-1])
