"""What a supervisor hears of a gateway, and a gateway that hangs."""

import re
import signal
import socket
import time

import pytest

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.held_thread import Held
from Fixtures.waiting import eventually, pass_time


class Supervisor:
    """The socket at which systemd would listen."""

    def __init__(self, directory):
        self.path = str(directory / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(10)

    def hears(self, word: str) -> None:
        """Waits for a message."""
        while self.socket.recv(4_096).decode() != word:
            pass

    def hears_until(self, word: str) -> list[str]:
        """The messages up to one, without signs of life."""
        heard = []
        while not heard or heard[-1] != word:
            heard.append(self.socket.recv(4_096).decode())
        return [one for one in heard if one != "WATCHDOG=1"]

    def forget(self) -> None:
        """Drops what has come."""
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.recv(4_096)
        except BlockingIOError:
            self.socket.settimeout(10)

    def has_heard(self) -> bool:
        """Whether anything has come."""
        self.socket.setblocking(False)
        try:
            return bool(self.socket.recv(4_096, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        finally:
            self.socket.settimeout(10)


@pytest.fixture
def supervisor(tmp_path):
    one = Supervisor(tmp_path)
    yield one
    one.socket.close()


@pytest.fixture
def supervised(tmp_path, server, certificate, supervisor):
    """A gateway that systemd would watch, with three loops and a limit of 3 s for each."""
    gateway = Gateway(tmp_path / "supervised", server.url, certificate, SECRET, "--shards", "2",
                      limits={"stuckExitMs": 3_000})
    # A third of it is the time between two signs of life.
    gateway.environment = {"NOTIFY_SOCKET": supervisor.path, "WATCHDOG_USEC": "600000"}
    yield gateway.start()
    if gateway.process and gateway.process.poll() is None:
        gateway.stop()


def test_a_supervisor_hears_of_the_start_of_life_and_of_the_end(supervised, supervisor):
    supervisor.hears("READY=1")
    for _ in range(3):
        supervisor.hears("WATCHDOG=1")
    supervised.process.send_signal(signal.SIGTERM)
    supervisor.hears("STOPPING=1")


def test_a_supervisor_hears_of_a_reload_and_why_it_was_refused(supervised, supervisor):
    """`systemctl reload` succeeds once the signal is sent; the line of `systemctl status` says what came of it."""
    supervisor.hears("READY=1")
    for keys, status in (("backend:short", "reload refused, nothing changed: "), (f"backend:{API_KEY}", "")):
        (supervised.directory / "api-keys").write_text(keys + "\n")
        supervised.process.send_signal(signal.SIGHUP)
        began, said, ended = supervisor.hears_until("READY=1")
        moment = re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=(\d+)", began)
        assert 0 <= time.clock_gettime(time.CLOCK_MONOTONIC) - int(moment[1]) / 1e6 < 10
        assert said.startswith("STATUS=" + status) and "\n" not in said
        assert ("api-keys" in said) == bool(status), said


def test_a_stopped_gateway_is_silent_and_does_not_end_itself_afterwards(supervised, supervisor):
    supervisor.hears("WATCHDOG=1")
    supervised.signal(signal.SIGSTOP)
    supervisor.forget()
    pass_time(4, "longer than a loop may stand")
    assert not supervisor.has_heard()
    supervised.signal(signal.SIGCONT)
    # It did not run meanwhile, so nothing is held against its loops.
    for _ in range(3):
        supervisor.hears("WATCHDOG=1")
    supervised.wait_ready()


def test_a_loop_that_hangs_ends_the_process(supervised, supervisor):
    supervisor.hears("WATCHDOG=1")
    with Held(supervised.process.pid, "shard-1"):
        eventually(lambda: "a loop is stuck, the process ends itself" in supervised.log_text, 20, "its last line")
    assert supervised.wait() == -signal.SIGABRT
    supervised.process = None


def test_a_process_that_stood_still_says_so_when_it_goes_on(gateway, worker):
    """A gateway that had been stopped for seconds went on as if nothing had been."""
    for node in (gateway("--shards", "1"), worker("--worker-ops", "127.0.0.1:0")):
        # The page of metrics is there before the first look at the loops.
        eventually(lambda node=node: node.metric("switchboard_process_stalls_total") == 0, 10, "its metrics")
        pass_time(1.2, "two looks at the loops")
        node.signal(signal.SIGSTOP)
        pass_time(3.5, "longer than a machine that is only busy lets it stand")
        node.signal(signal.SIGCONT)
        eventually(lambda node=node: node.metric("switchboard_process_stalls_total") == 1, 10, "the metric")
        assert node.metric("switchboard_process_stall_milliseconds_total") >= 2_000
        eventually(lambda node=node: "the process stood still and goes on" in node.log_text, 5, "the log")
