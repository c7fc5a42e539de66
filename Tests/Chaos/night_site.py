"""An installation for one fault of the night shift, and what must name the fault."""

import contextlib
import datetime
from pathlib import Path
from typing import NamedTuple

from Fixtures.clients.certificates import Certificate, write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer

DAY = datetime.timedelta(days=1)


class Named(NamedTuple):
    """What must name a fault; an absent part is not asked for."""

    # `reason` or a name among `warnings` of /readyz.
    row: str | None
    # A pattern in the log of `speaker`, behind the moment of the fault.
    log: str
    # Name and labels of a counter that must be higher than before; `None`: the row's gauge, which must be 0.
    metric: str | None = None
    labels: dict = {}
    # Whose log and metrics: the node that an operator would look at.
    speaker: str = "gateway"


class Site:
    """An installation for one fault; everything in it ends with the context."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.stack = contextlib.ExitStack()
        self.certificate = write_certificate(directory, ends=365 * DAY)
        self.redis = RedisServer(directory / "redis", tcp=True).start()
        self.stack.callback(lambda: self.redis.process and self.redis.kill())
        self.nodes: dict[str, Gateway | Worker | CourierProcess] = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes.values():
            node.kill()
        self.stack.close()

    def gateway(self, *flags: str, certificate: Certificate | None = None, name: str = "gateway", url: str = "",
                **options) -> Gateway:
        limits = {"redisProbeMs": 500, "outboxLateMs": 1_000, "workersMissingMs": 1_000} | options.pop("limits", {})
        self.nodes[name] = Gateway(
            self.directory / name, url or self.redis.url, certificate or self.certificate, SECRET, *flags,
            limits=limits, **options)
        return self.nodes[name].start().wait_ready()

    def worker(self, *flags: str, url: str = "", **options) -> Worker:
        self.nodes["worker"] = Worker(
            self.directory / "worker", url or self.redis.url, "--worker-ops", "127.0.0.1:0", *flags, **options)
        return self.nodes["worker"].start()

    def token(self, user: str, **claims) -> str:
        return sign(SECRET, user, **claims)
