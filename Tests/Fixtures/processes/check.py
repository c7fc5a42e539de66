"""`switchboard check` with the settings of a gateway."""

import subprocess
from pathlib import Path

from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.node import BINARY, ENVIRONMENT


def check(directory: Path, url: str, *flags: str) -> subprocess.CompletedProcess:
    """Asks about a Redis; the key of a backend lies in `directory`."""
    (directory / "keys").write_text(f"backend:{API_KEY}\n")
    return subprocess.run([str(BINARY), "check", "--redis", url, "--listen-plain", "127.0.0.1:1",
                           "--api-keys", str(directory / "keys"), *flags],
                          capture_output=True, text=True, timeout=30, env=ENVIRONMENT, check=False)
