"""A real courier: started with flags and a config file, known by its ready file, stopped by SIGTERM."""

import json
from pathlib import Path

from Fixtures.processes.node import BINARY, NodeProcess


class CourierProcess(NodeProcess):
    """One courier. What it asks and whom it tells is `config`."""

    def __init__(self, directory: Path, redis_url: str, certificate, config: dict, *flags: str,
                 limits: dict | None = None):
        super().__init__(directory, "courier")
        (directory / "config.json").write_text(json.dumps(config))
        self.arguments = [str(BINARY.absolute().parent / "switchboard-courier"), *self.arguments[2:],
                          "--redis", redis_url, "--config", str(directory / "config.json"),
                          "--outside-ca", str(certificate.cert), "--courier-ops", "127.0.0.1:0", *flags]
        for name, value in (limits or {}).items():
            self.arguments += ["--limit", f"{name}={value}"]
