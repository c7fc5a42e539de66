"""Ways in which a client of clients/js can never connect: each stands in its status, by name and in words."""

import subprocess

import pytest

from Fixtures.clients.js_client import InNode
from Fixtures.processes.hopeless_servers import addresses
from Fixtures.processes.nginx import free_port

# A proxy whose author has not thought of WebSockets.
NGINX = """
daemon off; error_log {folder}/error.log; pid {folder}/pid;
events {{ }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://{gateway}; }} }}
}}
"""

# By the way: the code, whether it is permanent, and a word that its developer needs.
WAYS = {
    "another certificate": ("untrusted", "self-signed certificate"),
    "another path": ("not_found", "404"),
    "another scheme": ("bad_address", "protocol"),
    "a foreign origin": ("forbidden", "403"),
    "a refused token": ("unauthorized", "refused the token"),
    "a refused API key": ("unauthorized", "401"),
    "another protocol": ("wrong_protocol", "HTTP"),
    "TLS at a plain port": ("not_tls", "ws://"),
    "no TLS at its port": ("tls_required", "wss://"),
    "a proxy without upgrades": ("not_websocket", "Upgrade"),
    "a name that does not resolve": ("unresolved", "switchboard.invalid"),
    "a closed port": ("unreachable", "ECONNREFUSED"),
}


@pytest.fixture
def proxy(tmp_path):
    """Starts nginx before a gateway, and returns its address."""
    processes = []

    def start(gateway):
        port = free_port()
        (tmp_path / "nginx.conf").write_text(NGINX.format(folder=tmp_path, port=port, gateway=gateway))
        processes.append(subprocess.Popen(
            ["nginx", "-p", tmp_path, "-c", tmp_path / "nginx.conf"], stderr=subprocess.DEVNULL))
        return f"127.0.0.1:{port}"

    yield start
    for process in processes:
        process.terminate()
        process.wait()


def places(gateway, proxied, other):
    """What to open, by the way: at the gateway where it plays a part, else at a server of the test."""
    tls, plain = ("%s:%d" % gateway.address(kind) for kind in ("tls", "plain"))
    secure = f"wss://{tls}/ws"
    return {
        "another certificate": {"url": other["another certificate"]},
        "another path": {"url": f"wss://{tls}/nothing"},
        "another scheme": {"url": f"ftp://{tls}/ws"},
        "a foreign origin": {"url": secure, "headers": {"Origin": "https://elsewhere.example"}},
        "a refused token": {"url": secure, "token": "no.such.token"},
        "a refused API key": {"url": secure, "headers": {"apikey": "unknown"}},
        "another protocol": {"url": other["another protocol"]},
        "TLS at a plain port": {"url": f"wss://{plain}/ws"},
        "no TLS at its port": {"url": f"ws://{tls}/ws"},
        "a proxy without upgrades": {"url": f"ws://{proxied}/ws"},
        "a name that does not resolve": {"url": other["a name that does not resolve"]},
        "a closed port": {"url": f"ws://127.0.0.1:{free_port()}/ws"},
    }


def test_the_reason_stands_in_the_status(gateway, proxy, certificate, tmp_path):
    """Twelve ways to see no connection looked alike: an endless attempt, without a word."""
    node = gateway("--listen-plain", "127.0.0.1:0")
    opened = places(node, proxy("%s:%d" % node.address("plain")), addresses(tmp_path))
    with InNode(certificate) as driven:
        for way, (code, word) in WAYS.items():
            driven.order("open", **opened[way])
            # The proxy may begin to listen after the first attempt.
            status = driven.next(reason=code)["status"]
            assert status["reason"]["isPermanent"] is (code not in ("unresolved", "unreachable")), way
            assert word in status["reason"]["message"], (way, status)
            # A token or an origin that is refused is not shown again; all else could be mended while the client waits.
            assert status["phase"] == ("unauthorized" if code in ("unauthorized", "forbidden") else "waiting"), way
            driven.order("stop")
            driven.next(phase="stopped")


def test_an_address_for_browsers_is_one_for_websockets(gw, certificate):
    """`https://` is what a developer has at hand: it means `wss://`."""
    with InNode(certificate) as driven:
        driven.order("open", url="https://%s:%d/ws" % gw.address())
        assert driven.next(phase="open")["status"]["reason"] is None
        driven.order("stop")
        driven.next(phase="stopped")
