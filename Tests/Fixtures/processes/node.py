"""A process of the built binary: known by its ready file, stopped by SIGTERM."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import httpx

from Fixtures.processes.figures import are_stopped
from Fixtures.processes.metrics import Metrics
from Fixtures.waiting import eventually

BINARY = Path(os.environ.get(
    "SWITCHBOARD_BIN", Path(__file__).resolve().parents[3] / ".build" / "release" / "switchboard"))
# Our own variables would be unknown settings to the process, which refuses them.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SWITCHBOARD_")}
# For a machine that is busy with other tests; a process that ends is noticed at once.
START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 30


# One for all questions to private listeners, which are not encrypted: a client of its own for each would read the
# system's certificates each time, for 25 ms of processor. Connections are not kept, so a node at rest has none.
_operator = httpx.Client(trust_env=False, timeout=5, limits=httpx.Limits(max_keepalive_connections=0))


class NodeProcess:
    """One process. Its files (log, ready file) live in its own directory."""

    def __init__(self, directory: Path, kind: str):
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.kind = kind
        self.log_path = directory / f"{kind}.log"
        self.ready_path = directory / "ready.json"
        self.arguments = [str(BINARY.absolute()), kind, "--ready-file", str(self.ready_path.absolute()),
                          "--log", "json"]
        # Added to the environment of the process; where its log goes instead of its file; where it runs.
        self.environment = {}
        self.output = None
        self.working_directory = None
        self.process = None
        # What runs under valgrind takes longer.
        self.start_seconds_max = START_SECONDS_MAX
        # Where it listens, by kind of listener, as its ready file says.
        self.addresses = {}

    def start(self):
        """Starts the process and waits for the ready file."""
        self.ready_path.unlink(missing_ok=True)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.arguments, stdout=log, stderr=log if self.output is None else self.output,
                stdin=subprocess.DEVNULL, env=ENVIRONMENT | self.environment, cwd=self.working_directory)
        deadline = time.monotonic() + self.start_seconds_max
        while not self.ready_path.exists() or not self.ready_path.read_text().endswith("}\n"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the {self.kind} did not start:\n{self.log_text}")
            time.sleep(0.01)  # lint:allow between two looks, with a deadline
        self.addresses = json.loads(self.ready_path.read_text())
        return self

    def address(self, kind: str = "tls") -> tuple[str, int]:
        """Host and port of a listener: tls, plain or ops."""
        first = self.addresses[kind][0]
        return first["host"], first["port"]

    def ops(self, path: str) -> httpx.Response:
        """Asks the private listener."""
        host, port = self.address("ops")
        return _operator.get(f"http://{host}:{port}{path}")

    def metrics(self) -> Metrics:
        """The metrics of now."""
        return Metrics(self.ops("/metrics").text)

    def metric(self, name: str, **labels) -> float:
        """The sum over the lines of a metric that have these labels."""
        return self.metrics().value(name, **labels)

    def signal(self, number: int) -> None:
        """Sends a signal to the process; after SIGSTOP all of its threads stand."""
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            eventually(lambda: are_stopped(self.process.pid), what="every thread stands")

    def wait(self, seconds_max: float = STOP_SECONDS_MAX) -> int:
        """Waits for the end of the process and returns its exit code."""
        return self.process.wait(timeout=seconds_max)

    def stop(self) -> None:
        """Ends the process in good order; it must end by itself, with 0."""
        if self.process is None:
            return
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise
        assert process.returncode == 0, f"exit code {process.returncode}:\n{self.log_text[-4000:]}"

    def kill(self) -> None:
        """Ends the process as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    @property
    def log_text(self) -> str:
        return self.log_path.read_text(errors="replace")
