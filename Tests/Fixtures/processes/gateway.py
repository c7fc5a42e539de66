"""A real gateway process: started with flags, found by its ready file, stopped by SIGTERM."""

import json
from pathlib import Path

import httpx

from Fixtures.clients.certificates import Certificate
from Fixtures.clients.native import Client
from Fixtures.processes.figures import descriptors, resident_bytes
from Fixtures.processes.node import NodeProcess
from Fixtures.waiting import eventually

API_KEY = "test-key-0123456789abcdef0123456789abcdef"


class Gateway(NodeProcess):
    """One node. Its keys live in its directory, too."""

    def __init__(self, directory: Path, redis_url: str, certificate: Certificate, secret: bytes, *flags: str,
                 limits: dict | None = None, config: dict | None = None, listen: str = "127.0.0.1:0",
                 has_ops: bool = True, keys: list[str] | None = None):
        super().__init__(directory, "gateway")
        self.certificate = certificate
        (directory / "secret").write_bytes(secret)
        (directory / "api-keys").write_text("\n".join([f"backend:{API_KEY}", *(keys or [])]) + "\n")
        # Short goodbyes keep the tests quick; a test that is about them sets its own. A small
        # machine has descriptors for so many clients: else every gateway would warn of it.
        limits = {"drainMs": 1_000, "drainGraceMs": 0, "connectionsMax": 10_000} | (limits or {})
        self.arguments += [
            "--listen", listen, *(("--ops", "127.0.0.1:0") if has_ops else ()), "--redis", redis_url,
            "--tls-cert", str(certificate.cert), "--tls-key", str(certificate.key),
            "--jwt-secret-file", str(directory / "secret"), "--api-keys", str(directory / "api-keys"), *flags]
        for name, value in limits.items():
            self.arguments += ["--limit", f"{name}={value}"]
        if config is not None:
            (directory / "config.json").write_text(json.dumps(config))
            self.arguments += ["--config", str(directory / "config.json")]

    # Life

    def wait_ready(self, seconds_max: float = 10) -> "Gateway":
        """Waits until readiness is earned: a probe came back through Redis."""
        eventually(lambda: self.ops("/readyz").status_code == 200, seconds_max, "readiness")
        return self

    # Addresses

    @property
    def origin(self) -> str:
        host, port = self.address()
        return f"https://{host}:{port}"

    def client(self, path: str = "/ws", **options) -> Client:
        """A new WebSocket client."""
        host, port = self.address()
        return Client(f"wss://{host}:{port}{path}", self.certificate.trusting_context(), **options)

    def http(self, key: str | None = API_KEY, headers: dict | None = None, **options) -> httpx.Client:
        """An HTTP client that presents an API key."""
        headers = ({"apikey": key} if key is not None else {}) | (headers or {})
        return httpx.Client(
            base_url=self.origin, verify=self.certificate.trusting_context(), headers=headers, timeout=10,
            trust_env=False, **options)

    def ops(self, path: str) -> httpx.Response:
        """Asks the private listener; without one, the public listener from this machine."""
        if "ops" not in self.addresses:
            with self.http(key=None) as http:
                return http.get(path)
        return super().ops(path)

    def publish(self, topic: str = "shop:42", event: str = "queue:update", data: dict | None = None, **more) -> dict:
        """Publishes over HTTP and returns the position."""
        with self.http() as http:
            response = http.post("/v1/broadcast", json={"topic": topic, "event": event, "data": data or {}, **more})
        assert response.status_code == 200, response.text
        return response.json()

    # What the kernel and the log say

    @property
    def fd_count(self) -> int:
        return descriptors(self.process.pid)

    @property
    def resident_bytes(self) -> int:
        return resident_bytes(self.process.pid)


def command(http: httpx.Client, name: str, **arguments) -> dict:
    """Runs a command as the client's caller and returns its answer, which must be one."""
    response = http.post(f"/v1/commands/{name}", json=arguments)
    assert response.status_code == 200, response.text
    return response.json()


def error_code(response: httpx.Response) -> str:
    """The code in the body of an HTTP error: {"error":{"code":...,"message":...}}."""
    error = response.json()["error"]
    assert isinstance(error["message"], str) and error["message"]
    return error["code"]
