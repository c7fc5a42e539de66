"""Starts the built gateway as a user would, for tests that need one whole node and nothing else."""

import json
import os
import select
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("SWITCHBOARD_BINARY", ROOT / ".build/release/switchboard"))
START_SECONDS = 30
STOP_SECONDS = 30


class RunningGateway:
    """`switchboard dev` on a free port, run from a directory of the test, where it keeps its state; a context manager.

    The state's place is left to the default, `.switchboard` below the working directory, as `make run` does. A port
    other than 0 is for one that follows another at its address.
    """

    def __init__(self, directory, *arguments, port=0):
        self._directory = Path(directory)
        self._arguments = [str(argument) for argument in arguments]
        self._port = port
        self._ready_file = self._directory / "ready.json"
        self._log_path = self._directory / "switchboard.log"
        self._process = None
        self.authority = None

    def __enter__(self):
        if not BINARY.exists():
            raise FileNotFoundError(f"{BINARY} is missing: `make build` makes it")
        self._directory.mkdir(parents=True, exist_ok=True)
        # One that an earlier run left here would tell its address.
        self._ready_file.unlink(missing_ok=True)
        with open(self._log_path, "wb") as log:
            self._process = subprocess.Popen(
                [BINARY.resolve(), "dev", "--port", str(self._port), "--ready-file", self._ready_file.resolve(),
                 *self._arguments],
                cwd=self._directory, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            self.authority = listen_address(self._wait_ready())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"the gateway did not stop within {STOP_SECONDS} s\n{self.log()}") from None

    @property
    def https(self):
        return f"https://{self.authority}"

    @property
    def wss(self):
        return f"wss://{self.authority}"

    @property
    def port(self):
        return int(self.authority.rpartition(":")[2])

    @property
    def api_key(self):
        return (self._directory / ".switchboard/api-key").read_text()

    def log(self):
        return self._log_path.read_text(errors="replace")

    def _wait_ready(self):
        """Waits for the ready file, looking ten times a second, or for the process to end."""
        exited = os.pidfd_open(self._process.pid)
        try:
            for _ in range(START_SECONDS * 10):
                ready = self._read_ready()
                if ready is not None:
                    return ready
                if select.select([exited], [], [], 0.1)[0]:
                    raise AssertionError(f"the gateway ended at start, status {self._process.wait()}\n{self.log()}")
        finally:
            os.close(exited)
        raise AssertionError(f"the gateway was not ready within {START_SECONDS} s\n{self.log()}")

    def _read_ready(self):
        try:
            return json.loads(self._ready_file.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None


def listen_address(ready):
    """HOST:PORT of the TLS listener in a ready file."""
    first = ready["tls"][0]
    return f"{first['host']}:{first['port']}"
