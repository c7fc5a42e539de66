"""Start, health, metrics, drain and reload."""

import re
import signal
import socket
import ssl
import subprocess
import time

import pytest
from websockets.exceptions import ConnectionClosed

from certificates import write_certificate
from crowd import Crowd
from node_process import BINARY, ENVIRONMENT
from waiting import eventually


def served_serial(gateway) -> int:
    """The serial of the certificate that a new connection gets."""
    from cryptography import x509
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(gateway.address(), timeout=5) as plain, context.wrap_socket(plain) as connection:
        return x509.load_der_x509_certificate(connection.getpeercert(binary_form=True)).serial_number


def run(*words: str) -> subprocess.CompletedProcess:
    """Runs the binary to its end."""
    return subprocess.run([str(BINARY), *words], capture_output=True, text=True, timeout=10, env=ENVIRONMENT)


def test_ready_file_names_the_listeners(gw):
    for kind in ("tls", "ops"):
        host, port = gw.address(kind)
        assert host == "127.0.0.1" and 0 < port < 65_536


def test_health_routes(gw):
    assert gw.ops("/livez").status_code == gw.ops("/readyz").status_code == gw.ops("/metrics").status_code == 200


def test_readiness_is_red_while_hardly_any_descriptor_is_left(gateway, topic):
    gw = gateway()
    with Crowd(gw, topic, 60):
        # Room for whoever asks; one of those counted may be a look at readiness that has ended.
        subprocess.run(["prlimit", f"--nofile={gw.fd_count + 1}:", "--pid", str(gw.process.pid)], check=True)
        answer = eventually(
            lambda: (answer := gw.ops("/readyz")).status_code == 503 and answer.json(), 5, "readiness red")
        assert answer == {
            "status": "not ready", "reason": "descriptors", "conditions": [{"part": "node", "reason": "descriptors"}]}
        assert gw.ops("/livez").status_code == 200
        subprocess.run(["prlimit", "--nofile=1024:", "--pid", str(gw.process.pid)], check=True)
        gw.wait_ready()
    assert gw.log_text.count("hardly any file descriptors left") == 1


def test_private_routes_are_not_public_when_ops_is_apart(gw):
    with gw.http(key=None) as http:
        for path in ("/metrics", "/readyz", "/livez", "/debug"):
            assert http.get(path).status_code == 404


def test_metrics_are_prometheus_text_without_topics_or_users(gw, topic, token):
    with gw.client(token=token("somebody-special")) as client:
        client.subscribe(topic)
        gw.publish(topic)
        text = gw.ops("/metrics").text
    line = re.compile(r'[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? [-+0-9.eE]+(Inf|NaN)?')
    for row in text.splitlines():
        assert row.startswith("# ") or line.fullmatch(row), row
    assert topic not in text and "somebody-special" not in text, "labels are bounded"
    assert re.search(r"^switchboard_connections \d+$", text, re.M)


@pytest.mark.parametrize("flags", [
    ["--lisen", "127.0.0.1:0"], ["--listen", "nonsense"], ["--limit", "nothing=1"], ["--limit", "pingMs=0"],
    ["--limit", "pingMs=-5"], ["--listen", "127.0.0.1:0"], ["--log", "xml"],
    ["--tls-cert", "/nonexistent", "--tls-key", "/nonexistent", "--listen", "127.0.0.1:0"],
], ids=lambda flags: " ".join(flags))
def test_wrong_flags_are_explained(flags):
    result = run("gateway", *flags)
    assert result.returncode != 0
    assert flags[0].lstrip("-")[:4] in result.stderr or "/nonexistent" in flags and "/nonexistent" in result.stderr


def test_unknown_flag_names_the_nearest(gw):
    result = run("gateway", "--lisen", "x")
    assert "--listen" in result.stderr


def test_log_is_one_json_object_a_line(gw):
    import json
    for line in gw.log_text.splitlines():
        assert isinstance(json.loads(line), dict)


# Drain


def test_drain_tells_clients_and_exits_with_zero(gateway, topic):
    gw = gateway(limits={"drainMs": 2_000, "drainGraceMs": 0})
    with Crowd(gw, topic, 60) as crowd:
        started = time.monotonic()
        gw.signal(signal.SIGTERM)
        closed = crowd.closed()
        assert {code for code, _ in closed} == {1012}
        assert all(events == ["draining"] for _, events in closed)
    assert gw.wait() == 0
    assert time.monotonic() - started < 6


def test_drain_hints_differ_so_that_clients_do_not_return_at_once(gateway):
    gw = gateway(limits={"drainMs": 1_000, "drainGraceMs": 0})
    clients = [gw.client() for _ in range(10)]
    try:
        gw.signal(signal.SIGTERM)
        delays = [client.expect("draining")["data"]["reconnectAfterMs"] for client in clients]
        assert len(set(delays)) > 1 and all(isinstance(delay, int) and delay >= 0 for delay in delays)
    finally:
        for client in clients:
            client.close()


def test_readiness_turns_red_before_clients_are_closed(gateway):
    gw = gateway(limits={"drainMs": 3_000, "drainGraceMs": 2_000})
    with gw.client() as client:
        gw.signal(signal.SIGTERM)
        eventually(lambda: gw.ops("/readyz").status_code == 503, 2, "readiness red")
        assert gw.ops("/livez").status_code == 200
        client.expect_close(1012, timeout=10, after=("draining",))
    assert gw.wait() == 0


def test_events_arrive_until_the_end(gateway, topic):
    one, two = gateway(limits={"drainMs": 2_000, "drainGraceMs": 500}), gateway()
    with one.client() as client:
        client.subscribe(topic)
        one.signal(signal.SIGTERM)
        two.publish(topic, "e", {})
        events = [message["event"] for message in client.expect_close(1012, timeout=10, after=("draining", "e"))]
        assert events.count("e") == 1


def test_new_connections_are_refused_during_a_drain(gateway):
    gw = gateway(limits={"drainMs": 3_000, "drainGraceMs": 0})
    with gw.client() as client:
        gw.signal(signal.SIGTERM)
        client.expect("draining")
        with pytest.raises(Exception):
            gw.client().request("ping")


def test_second_sigterm_ends_at_once(gateway):
    gw = gateway(limits={"drainMs": 60_000, "drainGraceMs": 30_000})
    with gw.client() as client:
        gw.signal(signal.SIGTERM)
        eventually(lambda: gw.ops("/readyz").status_code == 503, 5, "the drain")
        gw.signal(signal.SIGTERM)
        gw.wait(seconds_max=3)
        with pytest.raises(ConnectionClosed):
            while True:
                client.receive()
    gw.process = None


# Reload


def test_reload_swaps_the_certificate_without_dropping_anybody(gateway, tmp_path, topic):
    certificate = write_certificate(tmp_path)
    gw = gateway(certificate=certificate)
    with gw.client() as client:
        client.subscribe(topic)
        assert served_serial(gw) == certificate.serial
        renewed = write_certificate(tmp_path)
        gw.signal(signal.SIGHUP)
        eventually(lambda: served_serial(gw) == renewed.serial, 3, "the new certificate")
        gw.publish(topic, "e", {})
        client.expect("e")


@pytest.mark.parametrize("damage", ["garbage", "missing", "other key", "empty"])
def test_bad_certificate_is_not_taken(gateway, tmp_path, damage):
    certificate = write_certificate(tmp_path)
    gw = gateway(certificate=certificate)
    if damage == "garbage":
        certificate.cert.write_text("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    elif damage == "missing":
        certificate.cert.unlink()
    elif damage == "empty":
        certificate.key.write_text("")
    else:
        certificate.key.write_bytes(write_certificate(tmp_path, "other").key.read_bytes())
    before = gw.log_text
    gw.signal(signal.SIGHUP)
    eventually(lambda: re.search(r'"(error|warning)"', gw.log_text[len(before):]), 3, "an alarm in the log")
    assert served_serial(gw) == certificate.serial


def test_many_reloads_under_handshakes(gateway, tmp_path):
    certificate = write_certificate(tmp_path)
    gw = gateway(certificate=certificate)
    for _ in range(20):
        write_certificate(tmp_path)
        gw.signal(signal.SIGHUP)
        for _ in range(5):
            served_serial(gw)
    gw.certificate = certificate
    with gw.client() as client:
        client.request("ping")
