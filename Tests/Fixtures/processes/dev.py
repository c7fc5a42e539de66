"""`switchboard dev` as a user starts it, for tests that need one whole node and nothing else."""

import contextlib
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import httpx

from Fixtures.processes.metrics import Metrics
from Fixtures.processes.node import NodeProcess
from Fixtures.waiting import eventually

READY_SECONDS_MAX = 30


def trusting_anybody() -> ssl.SSLContext:
    """A TLS context that takes a node's own certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class RunningGateway(NodeProcess):
    """`switchboard dev` on a free port, run from a directory of the test, where it keeps its state; a context manager.

    The state's place is left to the default, `.switchboard` below the working directory, as `make run` does. A port
    other than 0 is for one that follows another at its address.
    """

    def __init__(self, directory, *arguments, port=0):
        super().__init__(Path(directory), "dev")
        self.working_directory = self.directory
        self.arguments += ["--port", str(port), *(str(argument) for argument in arguments)]

    def __enter__(self):
        try:
            self.start()
            eventually(self._is_ready, READY_SECONDS_MAX, "readiness")
        except BaseException:
            with contextlib.suppress(Exception):
                self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def authority(self):
        """HOST:PORT of the TLS listener."""
        return "%s:%d" % self.address()

    @property
    def https(self):
        return f"https://{self.authority}"

    @property
    def wss(self):
        return f"wss://{self.authority}"

    @property
    def port(self):
        return self.address()[1]

    @property
    def api_key(self):
        return (self.directory / ".switchboard/api-key").read_text()

    def log(self):
        """The lines of the log, which are not on the terminal."""
        return (self.directory / ".switchboard/dev.log").read_text(errors="replace")

    @property
    def terminal(self):
        """What it has printed."""
        return self.log_text

    def metrics(self):
        """The metrics of now; without a private listener, the public one tells them to this machine."""
        with urllib.request.urlopen(self.https + "/metrics", context=trusting_anybody(), timeout=10) as answer:
            return Metrics(answer.read().decode())

    def _is_ready(self):
        try:
            with urllib.request.urlopen(self.https + "/readyz", context=trusting_anybody(), timeout=10) as answer:
                return answer.status == 200
        except urllib.error.HTTPError:
            return False


def asked(gateway, method, path, body=None):
    """A backend's request with dev's API key."""
    with httpx.Client(verify=False, trust_env=False, timeout=10) as client:
        return client.request(method, gateway.https + path, headers={"apikey": gateway.api_key}, json=body)


def answer_of(gateway, name, **arguments):
    """The answer of a command; none while the gateway is away or refuses."""
    with contextlib.suppress(httpx.TransportError):
        answer = asked(gateway, "POST", f"/v1/commands/{name}", arguments)
        if answer.status_code == 200:
            return answer.json()
    return None
