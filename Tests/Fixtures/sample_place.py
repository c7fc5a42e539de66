"""A directory in which the samples of the pages run as they stand."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.samples import sample


class Place:
    """A directory as a reader has it: the clone's binary, and the state of `switchboard dev`."""

    def __init__(self, directory: Path, gateway: Gateway, redis_socket: Path):
        self.directory, self.gateway = directory, gateway
        state = directory / ".switchboard"
        state.mkdir(parents=True)
        (state / "api-key").write_text(API_KEY + "\n")
        (state / "api-keys").write_text(f"backend:{API_KEY}\n")
        (state / "jwt-secret").write_bytes(SECRET)
        (state / "cert.pem").symlink_to(gateway.certificate.cert)
        (state / "redis.sock").symlink_to(redis_socket)
        (directory / ".build/release").mkdir(parents=True)
        (directory / ".build/release/switchboard").symlink_to(BINARY.absolute())
        (directory / "app.json").write_text(sample("docs/start.md#1-run-it:json"))
        (state / "ready.json").write_text(json.dumps(gateway.addresses))

    def text(self, name: str, **replaced: str) -> str:
        """A sample with this gateway's address."""
        text = sample(name).replace("127.0.0.1:8443", "%s:%d" % self.gateway.address())
        text = text.replace("<jwt>", sign(SECRET, "ann"))
        for old, new in replaced.items():
            assert old in text, f"{name} does not say {old}"
            text = text.replace(old, new)
        return text

    @property
    def environment(self) -> dict:
        return ENVIRONMENT | {"NODE_EXTRA_CA_CERTS": ".switchboard/cert.pem", "SSL_CERT_FILE": ".switchboard/cert.pem"}

    def words(self, language: str, text: str) -> list[str]:
        """A command that runs a program of a language."""
        if language in ("sh", "text"):
            return ["sh", "-euc", text]
        if language == "python":
            return [sys.executable, "-u", "-c", text]
        ending, program = {"javascript": ("mjs", "node"), "php": ("php", "php")}[language]
        (self.directory / f"sample.{ending}").write_text(text)
        assert shutil.which(program), f"no {program} on PATH (scripts/packages.sh test installs it)"
        return [program, f"sample.{ending}"]

    def run(self, language: str, text: str) -> str:
        """Runs a program to its end; its output."""
        done = subprocess.run(self.words(language, text), cwd=self.directory, capture_output=True, text=True,
                              timeout=30, env=self.environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextlib.contextmanager
    def running(self, language: str, text: str):
        """A program that does not end by itself."""
        with subprocess.Popen(self.words(language, text), cwd=self.directory, stdout=subprocess.PIPE, text=True,
                              env=self.environment, start_new_session=True) as program:
            try:
                yield program
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)
