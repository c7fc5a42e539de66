"""A private redis-server for tests: its own directory, a unix socket, no TCP port unless asked for."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import redis

from Fixtures.processes.ports import free_port

START_SECONDS_MAX = 10
PREFERRED_NICENESS = -10


def prefer(process) -> None:
    """Lets a process run before others, where the system allows it: an operator's machine has room for it."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, process.pid, PREFERRED_NICENESS)


def fill_million(client, key: str, prefix: str, score: str) -> None:
    """Puts the members `prefix0` to `prefix999999` into a sorted set; `score` is Lua of `n`.

    Redis makes them itself: to send them takes ten times as long.
    """
    text = f"""
    local words = {{}}
    for n = tonumber(ARGV[1]), tonumber(ARGV[1]) + 9999 do
      words[#words + 1], words[#words + 2] = {score}, ARGV[2] .. n
      if #words == 2000 then
        redis.call('ZADD', KEYS[1], unpack(words))
        words = {{}}
      end
    end
    """
    for start in range(0, 1_000_000, 10_000):
        client.eval(text, 1, key, start, prefix)


class RedisServer:
    """Starts, stops, kills and restarts one redis-server; data and address survive a restart."""

    def __init__(self, directory: Path, *options: str, tcp: bool = False):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.socket_path = str(self.directory / "redis.sock")
        self.port = free_port() if tcp else 0
        self.options = list(options)
        # Whether it runs before others: a server that stands still on a busy machine is taken for dead.
        self.is_preferred = False
        self.process = None

    @property
    def url(self) -> str:
        """The address as `--redis` takes it."""
        return f"redis://127.0.0.1:{self.port}" if self.port else f"unix://{self.socket_path}"

    def start(self, *options: str) -> "RedisServer":
        """Starts the server and waits until it answers; `options` are added for this run."""
        assert self.process is None, "already running"
        with open(self.directory / "redis.log", "ab") as log:
            self.process = subprocess.Popen(
                ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.socket_path,
                 "--dir", str(self.directory), "--save", "", "--appendonly", "no", "--daemonize", "no",
                 *self.options, *options],
                stdout=log, stderr=log)
        if self.is_preferred:
            prefer(self.process)
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                with self.client() as client:
                    client.ping()
                return self
            except (redis.ConnectionError, redis.BusyLoadingError) as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.directory / "redis.log").read_text()) from error
                time.sleep(0.01)  # lint:allow between two looks, with a deadline

    @contextlib.contextmanager
    def running(self, *options: str):
        """Starts the server, gives it to the block, and ends it afterwards, also when a test has stopped it."""
        self.start(*options)
        try:
            yield self
        finally:
            self.stop()

    def stop(self) -> None:
        """Ends the server by SIGTERM (it saves what its configuration says)."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the server by SIGKILL: what a crash leaves."""
        self._end(signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Sends a signal to the server, e.g. SIGSTOP."""
        self.process.send_signal(number)

    def _end(self, number: int) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(timeout=START_SECONDS_MAX)
        self.process = None
        if os.path.exists(self.socket_path):
            os.unlink(self.socket_path)

    def client(self, **options) -> redis.Redis:
        """A new client; replies are bytes."""
        return redis.Redis(unix_socket_path=self.socket_path, **options)

    def cpu_seconds(self) -> float:
        """Processor time that the server has used since its start; unlike a clock, it does not run while others do."""
        with self.client() as client:
            cpu = client.info("cpu")
            return cpu["used_cpu_user"] + cpu["used_cpu_sys"]

    @property
    def run_id(self) -> str:
        """What identifies this run of the process."""
        with self.client() as client:
            return client.info("server")["run_id"]
