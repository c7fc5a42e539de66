"""A real worker process: started with flags, known by its ready file, stopped by SIGTERM."""

import json
import signal
import subprocess
import time
from pathlib import Path

from gateway_process import BINARY, ENVIRONMENT, START_SECONDS_MAX, STOP_SECONDS_MAX


class Worker:
    """One worker. Its files (log, ready file) live in its own directory."""

    def __init__(self, directory: Path, redis_url: str, *flags: str, scripts: Path | None = None,
                 limits: dict | None = None):
        directory.mkdir(parents=True, exist_ok=True)
        self.log_path = directory / "worker.log"
        self.ready_path = directory / "ready.json"
        self.process = None
        self.arguments = [str(BINARY), "worker", "--redis", redis_url, "--ready-file", str(self.ready_path),
                          "--log", "json", *flags]
        if scripts is not None:
            self.arguments += ["--scripts", str(scripts)]
        for name, value in (limits or {}).items():
            self.arguments += ["--limit", f"{name}={value}"]

    def start(self) -> "Worker":
        """Starts the process and waits until it works."""
        self.ready_path.unlink(missing_ok=True)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.arguments, stdout=log, stderr=log, env=ENVIRONMENT)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self.ready_path.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the worker did not start:\n{self.log_text}")
            time.sleep(0.01)  # lint:allow between two looks, with a deadline
        return self

    def signal(self, number: int) -> None:
        """Sends a signal to the process."""
        self.process.send_signal(number)

    def stop(self) -> None:
        """Ends the worker; it must give its leases back and end by itself, with 0."""
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
        """Ends the worker as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    @property
    def log_text(self) -> str:
        return self.log_path.read_text(errors="replace")

    def lines(self, message: str) -> list[dict]:
        """The lines of the log with that message."""
        found = []
        for line in self.log_text.splitlines():
            if line.startswith("{") and (entry := json.loads(line))["message"] == message:
                found.append(entry)
        return found
