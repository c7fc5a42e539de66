"""A service of the compose files as a process on loopback: its own command, at addresses and places of a test."""

import re
import signal
import subprocess
from pathlib import Path

STOP_SECONDS_MAX = 30


class Container:
    """A service's own command on this machine: its secrets, data and addresses are elsewhere, and nothing else."""

    def __init__(self, service: dict, secrets: Path, directory: Path, ports: dict):
        directory.mkdir()
        self.directory, self.ports, self.process = directory, ports, None
        networks = service["networks"]
        self.host = networks["inside"]["ipv4_address"] if isinstance(networks, dict) else None
        self.port = ports.get(self.host)
        for path in secrets.iterdir():
            text = path.read_text().replace("/run/secrets", str(directory)).replace("/data", str(directory))
            text = re.sub(r"^port \d+", f"port {self.port}", text, flags=re.M)
            text = re.sub(r"^bind .*", "bind 127.0.0.1", text, flags=re.M)
            (directory / path.name).write_text(self._here(text))
        self.words = [self._here(word).replace("/run/secrets", str(directory)).replace("/data/", f"{directory}/run-")
                      .replace("$$", "$") for word in service["command"]]
        if self.words[0] == "redis-server":
            mine = {"--port": str(self.port), "--bind": "127.0.0.1", "--dir": str(directory)}
            # redis-server takes an option and its value as two words as well as one.
            pairs = [word.split("=", 1) for word in self.words]
            self.words = [part for name, *value in pairs for part in (name, *(mine.get(name, one) for one in value))]
        self.environment = {name: self._here(value) for name, value in service.get("environment", {}).items()}

    def _here(self, text: str) -> str:
        # With a port behind it, or alone.
        for host, port in self.ports.items():
            text = re.sub(re.escape(host) + r"([ :])\d+\b", rf"127.0.0.1\g<1>{port}", text).replace(host, "127.0.0.1")
        return text

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def start(self, *more: str) -> "Container":
        """Starts the process, on the files that an earlier run left; `more` words are for this run."""
        assert not self.is_running, "it runs already, and nothing would end that process"
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([*self.words, *more], stdout=log, stderr=log, cwd=self.directory,
                                            env={"PATH": "/usr/bin:/bin"} | self.environment)
        return self

    @property
    def log(self) -> str:
        """What the process has written."""
        return (self.directory / "log").read_text(errors="replace")

    def end(self, number: int = signal.SIGKILL) -> None:
        """Ends the process; SIGTERM is what `docker compose stop` and systemd send."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(STOP_SECONDS_MAX)
            self.process = None
