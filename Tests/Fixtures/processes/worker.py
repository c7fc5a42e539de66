"""A real worker process: started with flags, known by its ready file, stopped by SIGTERM."""

import json
from pathlib import Path

from Fixtures.processes.node import NodeProcess


class Worker(NodeProcess):
    """One worker."""

    def __init__(self, directory: Path, redis_url: str, *flags: str, scripts: Path | None = None,
                 limits: dict | None = None):
        super().__init__(directory, "worker")
        self.arguments += ["--redis", redis_url, *flags]
        if scripts is not None:
            self.arguments += ["--scripts", str(scripts)]
        for name, value in (limits or {}).items():
            self.arguments += ["--limit", f"{name}={value}"]

    def lines(self, message: str) -> list[dict]:
        """The lines of the log with that message."""
        found = []
        for line in self.log_text.splitlines():
            if line.startswith("{") and (entry := json.loads(line))["message"] == message:
                found.append(entry)
        return found
