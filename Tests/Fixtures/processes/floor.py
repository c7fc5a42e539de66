"""The bare loop in C that the gateway is compared with (bench/floor)."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]


class Floor:
    """A running floor, with what `raw` and `Crowd` ask of a gateway."""

    def __init__(self, certificate, environment: dict | None = None):
        subprocess.run([ROOT / "bench/floor/build.sh"], check=True)
        self.certificate = certificate
        self.process = subprocess.Popen(
            [ROOT / ".build/floor", "0", certificate.cert, certificate.key], stdout=subprocess.PIPE,
            env=os.environ | (environment or {}))
        self.port = int(self.process.stdout.readline())

    def address(self):
        return "127.0.0.1", self.port

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()
