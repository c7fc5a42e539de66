"""TLS sessions that a client keeps and offers again."""

import socket
import ssl


class SessionClient:
    """A TLS client of one version that keeps the last session it was given."""

    def __init__(self, version: ssl.TLSVersion):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.context.minimum_version = self.context.maximum_version = version
        self.session = None

    def visit(self, gateway) -> bool:
        """Asks for a page, since a ticket may come as late as the answer; whether the handshake was abbreviated."""
        with socket.create_connection(gateway.address(), timeout=5) as plain:
            with self.context.wrap_socket(plain, session=self.session) as connection:
                connection.sendall(b"GET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                assert connection.recv(65_536).startswith(b"HTTP/1.1 404 ")
                self.session = connection.session
                return connection.session_reused


def handshakes(gateway) -> tuple[int, int]:
    """The gateway's own count of handshakes, and of abbreviated ones."""
    page = gateway.metrics()
    return tuple(int(page.value(f"switchboard_tls_handshakes_{name}total")) for name in ("", "resumed_"))
