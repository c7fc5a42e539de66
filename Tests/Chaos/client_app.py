"""The Swift examples against real gateways.

That of docs/clients.md misses nothing while its gateway is killed and back, by TLS and without. That of README.md hears
what `switchboard dev` tells. The content of Examples/Shop follows a shop's music.

usage: .venv/bin/python Tests/Chaos/client_app.py APP README ROOM      (scripts/client-package.sh builds them)
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import paths  # noqa: F401  It makes the helpers of the tests importable.
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.dev import RunningGateway
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

SHOP, USER, EVENTS = "demo", "ann", 30


def lines_of(output: Path) -> list[str]:
    """What the app has said in whole lines."""
    return output.read_text().split("\n")[:-1]


def run(app: str, directory: Path, scheme: str) -> list[str]:
    """Lets the app see a vote, events, the end of its gateway and its return; returns what it said."""
    certificate = write_certificate(directory)
    output = directory / "app.log"
    listen = f"127.0.0.1:{free_port()}"
    server = RedisServer(directory / "redis").start()

    def gateway(name: str, listen: str = "127.0.0.1:0") -> Gateway:
        flags = [] if scheme == "wss" else ["--listen-plain", listen]
        secure = listen if scheme == "wss" else "127.0.0.1:0"
        return Gateway(directory / name, server.url, certificate, SECRET, *flags, listen=secure).start().wait_ready()

    first, other = gateway("first", listen), gateway("other")
    process = None
    try:
        with other.http() as http:
            command(http, "start_session", shopId=SHOP)
            for user in (USER, "bob"):
                command(http, "check_in", shopId=SHOP, userId=user)
            command(http, "add_track", shopId=SHOP, trackId="t1", userId="bob")
        with open(output, "w") as log:
            process = subprocess.Popen(
                ["stdbuf", "-oL", app, f"{scheme}://{listen}/ws", sign(SECRET, USER), SHOP, str(certificate.cert)],
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        eventually(lambda: any(line.startswith("live at") for line in lines_of(output)), 20, "the topic")
        offset = 0
        for number in range(EVENTS):
            # The gateway dies in the middle, events go on, and it comes back.
            if number == EVENTS // 3:
                first.process.kill()
                first.process.wait()
                eventually(lambda: "pending" in lines_of(output), 20, "the end of the gateway")
            if number == 2 * EVENTS // 3:
                first = gateway("again", listen)
            offset = other.publish(f"dj:{SHOP}", "hello", {"number": number})["offset"]
        eventually(lambda: any(f"event {offset} " in line for line in lines_of(output)), 60, "the last event")
    except BaseException:
        print(output.read_text() if output.exists() else "the app did not start", file=sys.stderr)
        raise
    finally:
        if process:
            process.kill()
            process.wait()
        for node in (first, other):
            if node.process.poll() is None:
                node.stop()
        server.stop()
    return lines_of(output)


def first_event(app: str, directory: Path) -> str:
    """What the README's program heard first of the demo."""
    with RunningGateway(directory / "dev") as dev, open(directory / "readme.log", "w+") as log:
        process = subprocess.Popen(
            ["stdbuf", "-oL", app, f"{dev.wss}/ws", str(directory / "dev/.switchboard/cert.pem")], stdout=log,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            lines = eventually(lambda: [line for line in lines_of(Path(log.name)) if line.startswith("event ")], 60,
                               "an event of the shop")
        finally:
            process.kill()
            process.wait()
    return lines[0][:120]


def follow_room(app: str, directory: Path) -> str:
    """Lets the example's content see tracks, a vote, the end of its gateway and that of the music."""
    certificate = write_certificate(directory)
    listen = f"127.0.0.1:{free_port()}"
    server = RedisServer(directory / "redis").start()
    started = []

    def gateway(listen: str = "127.0.0.1:0") -> Gateway:
        started.append(Gateway(directory / f"gateway-{len(started)}", server.url, certificate, SECRET, listen=listen))
        return started[-1].start().wait_ready()

    process = None
    log = directory / "room.log"
    try:
        first, other = gateway(listen), gateway()
        with other.http() as http, open(log, "w") as output:
            def call(name: str, **arguments: str) -> None:
                command(http, name, shopId=SHOP, **arguments)

            def shows(wanted: str) -> None:
                eventually(lambda: lines_of(log)[-1:] == [wanted], 60, wanted)

            call("start_session")
            for user in (USER, "bob"):
                call("check_in", userId=user)
            call("add_track", trackId="t1", trackName="One", userId="bob")
            process = subprocess.Popen(
                ["stdbuf", "-oL", app, f"wss://{listen}/ws", sign(SECRET, USER), SHOP, str(certificate.cert)],
                stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            shows("room live on t1:1 ")
            call("add_track", trackId="t2", trackName="Two", userId="bob")
            shows("room live on t1:1 t2:1 ")
            first.process.kill()
            first.process.wait()
            shows("room away on t1:1 t2:1 ")
            call("vote", trackId="t2", vote="up", userId=USER)
            gateway(listen)
            shows("room live on t2:2 t1:1 ")
            call("remove_track", trackId="t1")
            shows("room live on t2:2 ")
            call("stop_session")
            shows("room live off  ")
    except BaseException:
        print(log.read_text() if log.exists() else "the app did not start", file=sys.stderr)
        raise
    finally:
        if process:
            process.kill()
            process.wait()
        for node in started:
            if node.process.poll() is None:
                node.stop()
        server.stop()
    return f"{len(lines_of(log))} changes"


def check(lines: list[str]) -> None:
    """Everything came, once and in order, and nothing was said to be missing."""
    assert lines[0] == "queue [\"t1\"]", lines[0]
    assert lines[1] == "voted t1 2", lines[1]
    assert not [line for line in lines if line.startswith("gap")]
    base = next(int(line.split()[-1]) for line in lines if line.startswith("live at"))
    offsets = [int(match[1]) for line in lines if (match := re.match(r"event (\d+) ", line))]
    assert offsets == list(range(base + 1, base + 1 + len(offsets))), offsets
    numbers = [int(match[1]) for line in lines if (match := re.search(r'hello {"number":(\d+)}', line))]
    assert numbers == list(range(EVENTS)), numbers
    assert any(line.startswith("live again") for line in lines)


if __name__ == "__main__":
    for way in ("wss", "ws"):
        with tempfile.TemporaryDirectory() as place:
            said = run(sys.argv[1], Path(place), way)
        check(said)
        print("client-package: %s, %d lines, %d events in order over a killed gateway" % (
            way, len(said), sum(line.startswith("event") for line in said)))
    with tempfile.TemporaryDirectory() as place:
        print("client-package: the README's program heard", first_event(sys.argv[2], Path(place)))
    with tempfile.TemporaryDirectory() as place:
        print("client-package: the example's room showed", follow_room(sys.argv[3], Path(place)))
