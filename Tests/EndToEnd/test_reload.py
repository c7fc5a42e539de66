"""SIGHUP: new certificates without a broken connection, bad ones refused, and TLS sessions that outlive both."""

import datetime
import json
import re
import secrets
import signal
import socket
import ssl
import threading
import time

import pytest

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tls_sessions import SessionClient, handshakes
from Fixtures.processes.gateway import Gateway
from Fixtures.waiting import eventually

ROTATIONS = 15
DAY = datetime.timedelta(days=1)
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


def served_serial(gateway) -> int:
    """The serial of the certificate that a new connection gets."""
    from cryptography import x509
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(gateway.address(), timeout=5) as plain, context.wrap_socket(plain) as connection:
        return x509.load_der_x509_certificate(connection.getpeercert(binary_form=True)).serial_number


def reloads(gateway, result: str) -> int:
    return int(gateway.metric("switchboard_reloads_total", result=result))


def test_rotation_under_new_connections(gateway, tmp_path, topic):
    """Certificates change again and again while clients come: none fails, none is dropped, each is soon the new one."""
    certificate = write_certificate(tmp_path)
    gw = gateway(certificate=certificate)
    clients = [gw.client() for _ in range(10)]
    failures, made, is_over = [], [0, 0], threading.Event()

    def connect_again_and_again(number):
        while not is_over.is_set():
            try:
                served_serial(gw)
                made[number] += 1
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=connect_again_and_again, args=(number,)) for number in range(len(made))]
    try:
        for client in clients:
            client.subscribe(topic)
        for thread in threads:
            thread.start()
        slowest = 0.0
        for _ in range(ROTATIONS):
            renewed = write_certificate(tmp_path)
            started = time.monotonic()
            gw.signal(signal.SIGHUP)
            eventually(lambda: served_serial(gw) == renewed.serial, 5, "the new certificate")
            slowest = max(slowest, time.monotonic() - started)
        is_over.set()
        for thread in threads:
            thread.join()
        print(f"{sum(made)} handshakes, {ROTATIONS} rotations, the slowest served after {slowest * 1000:.0f} ms")
        assert failures == [] and min(made) > 0
        assert reloads(gw, "ok") == ROTATIONS and reloads(gw, "refused") == 0
        gw.certificate = renewed
        gw.publish(topic, "e", {})
        for client in clients:
            client.expect("e", offset=1)
    finally:
        is_over.set()
        for client in clients:
            client.close()


BAD = {
    "garbage": r"cannot use the certificate in .*server\.crt",
    "missing": r"cannot use the certificate in .*server\.crt: No such file or directory",
    "unreadable": r"cannot use the certificate in .*server\.crt: no start line",
    "no key": r"cannot use the key in .*server\.key",
    "other key": r"server\.key.*mismatch",
    "expired": r"the certificate in .*server\.crt has expired",
    "not yet valid": r"the certificate in .*server\.crt is not valid yet",
}


def spoil(directory, certificate, kind):
    if kind == "garbage":
        certificate.cert.write_text("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    elif kind in ("missing", "unreadable"):
        certificate.cert.unlink()
        if kind == "unreadable":
            # The superuser may read every file, but nobody reads a directory as one.
            certificate.cert.mkdir()
    elif kind == "no key":
        certificate.key.write_text("")
    elif kind == "other key":
        certificate.key.write_bytes(write_certificate(directory, "other").key.read_bytes())
    elif kind == "expired":
        write_certificate(directory, starts=-2 * DAY, ends=-DAY)
    elif kind == "not yet valid":
        write_certificate(directory, starts=DAY, ends=2 * DAY)


@pytest.mark.parametrize("kind", BAD)
def test_bad_certificate_is_refused_loudly(gateway, tmp_path, topic, kind):
    certificate = write_certificate(tmp_path)
    gw = gateway(certificate=certificate)
    context = certificate.trusting_context()
    with gw.client() as client:
        client.subscribe(topic)
        spoil(tmp_path, certificate, kind)
        gw.signal(signal.SIGHUP)
        eventually(lambda: reloads(gw, "refused") == 1, 10, "the refusal")
        assert reloads(gw, "ok") == 0

        def alarms():
            # The last line may be on its way still.
            lines = [json.loads(line) for line in gw.log_text.splitlines(keepends=True) if line.endswith("\n")]
            return [line for line in lines if line["level"] == "error"]

        [alarm] = eventually(alarms, 10, "the alarm in the log")
        assert re.search(BAD[kind], alarm["reason"]), alarm
        assert served_serial(gw) == certificate.serial
        gw.certificate = trusted(certificate, context)
        gw.publish(topic, "e", {})
        client.expect("e")
        if kind == "unreadable":
            certificate.cert.rmdir()
        renewed = write_certificate(tmp_path)
        gw.signal(signal.SIGHUP)
        eventually(lambda: served_serial(gw) == renewed.serial, 10, "a good one after all")


def trusted(certificate, context):
    """The certificate as clients know it, whatever its files are now."""
    class Known(type(certificate)):
        def trusting_context(self):
            return context
    return Known(certificate.cert, certificate.key, certificate.serial)


# Sessions


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.parametrize("has_file", [False, True], ids=["private key", "ticket key file"])
def test_a_session_resumes_at_another_node(gateway, tmp_path, version, has_file):
    secret = tmp_path / "tickets"
    secret.write_bytes(secrets.token_bytes(48))
    flags = ["--tls-ticket-key-file", str(secret)] if has_file else []
    one, two, client = gateway(*flags), gateway(*flags), SessionClient(version)
    before = handshakes(two)
    assert [client.visit(gw) for gw in (one, two, one, two)] == [False, True, True, True]
    assert handshakes(two) == (before[0] + 2, before[1] + 2)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_a_session_does_not_resume_where_the_secret_is_another(gateway, tmp_path, version):
    secret = tmp_path / "tickets"
    secret.write_bytes(secrets.token_bytes(32))
    one, two, client = gateway(), gateway("--tls-ticket-key-file", str(secret)), SessionClient(version)
    assert [client.visit(gw) for gw in (one, two, two)] == [False, False, True]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_a_session_outlives_reloads_and_restarts(gateway, tmp_path, version):
    certificate = write_certificate(tmp_path)
    gw, client = gateway(certificate=certificate), SessionClient(version)
    assert client.visit(gw) is False
    for _ in range(3):
        renewed = write_certificate(tmp_path)
        gw.signal(signal.SIGHUP)
        eventually(lambda: served_serial(gw) == renewed.serial, 3, "the new certificate, with another key")
        assert client.visit(gw) is True
    gw.stop()
    gw.start().wait_ready()
    assert client.visit(gw) is True, "its last ticket was made with the key of today"


@pytest.mark.parametrize("size", [0, 31, 1_025])
def test_a_ticket_key_file_of_a_wrong_size_is_named(tmp_path, shared_server, certificate, secret, size):
    tickets = tmp_path / "tickets"
    tickets.write_bytes(bytes(size))
    gateway = Gateway(
        tmp_path / "gateway", shared_server.url, certificate, secret, "--tls-ticket-key-file", str(tickets))
    with pytest.raises(RuntimeError, match=rf"{tickets}: must have 32 to 1024 bytes, not {size}"):
        gateway.start()
