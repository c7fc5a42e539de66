"""`switchboard top` in a real terminal: it fits it, obeys keys, and gives it back at every end."""

import json
import os
import re
import signal
import subprocess

import pytest

from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.terminal import width
from Fixtures.processes.top import PATIENT, fleet, name_of, nodes, on_screen, once, row  # noqa: F401
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually


def test_deliveries_have_a_rate(fleet, nodes):
    """The second answer shows what changed since the first, a second before."""
    with fleet.gateways[0].client() as client:
        client.subscribe("shop:top-2")
        with on_screen(fleet.redis.url) as screen:
            def rated():
                fleet.gateways[0].publish("shop:top-2", "e", {})
                return [line for line in screen.frame() if re.search(r"deliveries (?!0/s|-/s)[\d.]+/s", line)]

            eventually(rated, 10, "a rate of deliveries")


def test_a_killed_and_a_hung_node_are_named(fleet, nodes, tmp_path, certificate):
    extra = fleet.gateway(tmp_path / "extra", certificate, {"redisProbeMs": 500})
    name = name_of(extra)
    assert "gateways 3" in once(fleet.redis.url)[1]
    with on_screen(fleet.redis.url) as screen:
        screen.shows(name)
        extra.signal(signal.SIGSTOP)
        hung = next(line for line in once(fleet.redis.url, "--limit", "fleetWaitMs=500") if "no answer" in line)
        assert hung == f"no answer of {name}: it hangs, or Redis does"
        extra.kill()
        lines = once(fleet.redis.url)
        assert f"no answer of {name}: it has ended, or has lost Redis" in lines
        assert row(lines, nodes[0]) and "missing 1" in lines[1]
        screen.shows(f"no answer of {name} (")
        with fleet.redis.client() as redis:
            redis.hdel("#nodes", name)
        screen.shows("has gone")
        assert not any(line.startswith(name) and "ready" in line for line in screen.frame())


def test_the_screen_fits_the_terminal_and_obeys_keys(fleet, nodes):
    with fleet.gateways[0].client() as client, on_screen(fleet.redis.url, columns=160, rows=40) as screen:
        client.subscribe("shop:top-3")
        lines = screen.shows(nodes[0])
        assert len(lines) == 40 and all(width(line) <= 160 for line in lines)
        assert row(lines, nodes[1]) and any("VERSION" in line for line in lines)
        screen.press("t")
        lines = screen.shows("shop:top-3")
        assert any(line.startswith("Hottest topics by events, 1 to") for line in lines)
        screen.press("o")
        screen.shows("Hottest topics by bytes")
        screen.resize(60, 20)
        eventually(lambda: len(screen.frame()) == 20, 5, "a frame of the new size")
        assert all(width(line) <= 60 for line in screen.frame())
        for key, title in [("s", "Slowest sessions"), ("k", "Talkers by events"), ("d", "Queues and dead"),
                           ("?", "the next order of the list"), ("n", "NODE")]:
            screen.press(key)
            screen.shows(title)
        screen.press("p")
        screen.shows("paused")
        screen.press("q")
        assert screen.wait() == 0 and screen.is_restored()


def test_arrows_scroll(fleet, nodes):
    clients = [fleet.gateways[0].client() for _ in range(1)]
    try:
        for number in range(30):
            clients[0].subscribe(f"shop:scroll-{number:02}")
        with on_screen(fleet.redis.url, columns=100, rows=24) as screen:
            screen.press("t")
            first = next(line for line in screen.shows("Hottest topics by events, 1 to") if "Hottest" in line)
            screen.press("\x1b[B\x1b[B")
            screen.shows("Hottest topics by events, 3 to")
            screen.press("\x1b[6~")
            eventually(lambda: not any(line.startswith("Hottest topics by events, 3 to") for line in screen.frame()), 5)
            screen.press("\x1b[H")
            assert first in screen.shows("Hottest topics by events, 1 to")
    finally:
        for client in clients:
            client.close()


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGQUIT, 131)])
def test_every_signal_restores_the_terminal(fleet, nodes, number, code):
    with on_screen(fleet.redis.url) as screen:
        screen.shows(nodes[0])
        assert screen.settings() != screen.before
        if number == signal.SIGINT:
            screen.press("\x03")
        else:
            screen.process.send_signal(number)
        assert screen.wait() == code and screen.is_restored()


def test_it_is_suspended_and_continued(fleet, nodes):
    with on_screen(fleet.redis.url) as screen:
        screen.shows(nodes[0])
        screen.press("\x1a")
        eventually(lambda: os.waitid(os.P_PID, screen.process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT), 5, "a stop")
        assert screen.is_restored()
        seen = len(screen.read())
        screen.process.send_signal(signal.SIGCONT)
        eventually(lambda: b"\x1b[?1049h" in screen.read()[seen:], 5, "its screen")
        screen.press("q")
        assert screen.wait() == 0 and screen.is_restored()


def test_a_lost_terminal_ends_it(fleet, nodes):
    with on_screen(fleet.redis.url) as screen:
        screen.shows(nodes[0])
        screen.hang_up()
        assert screen.process.wait(timeout=10) == 129


def test_a_terminal_that_takes_nothing_does_not_hold_it(fleet, nodes):
    """A write to a terminal whose other end is not read would wait, and SIGTERM with it."""
    with on_screen(fleet.redis.url, columns=400, rows=200) as screen:
        screen.shows(nodes[0])
        # Each draws a frame.
        screen.press("?" * 1_000)
        eventually(lambda: screen.unread() > 4_000, 5, "frames that nobody reads")
        screen.process.send_signal(signal.SIGTERM)
        assert screen.process.wait(timeout=10) == 143
        assert screen.settings() == screen.before


def test_a_dumb_terminal_and_no_color(fleet, nodes):
    with on_screen(fleet.redis.url, TERM="dumb") as screen:
        eventually(lambda: nodes[0].encode() in screen.read(), 10, "a node")
        screen.press("q")
        assert screen.wait() == 0 and b"\x1b" not in screen.read() and screen.settings() == screen.before
    with on_screen(fleet.redis.url, NO_COLOR="1") as screen:
        screen.shows(nodes[0])
        assert not re.search(rb"\x1b\[[0-9;]*3[0-7]m", screen.read())


@pytest.mark.parametrize("flags", [["--once"], []])
def test_a_broken_pipe_ends_it_quietly(fleet, nodes, flags):
    reader, writer = os.pipe()
    with subprocess.Popen(
            [BINARY, "top", "--redis", fleet.redis.url, "--interval", "1", *PATIENT, *flags], stdout=writer,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=ENVIRONMENT) as process:
        os.close(writer)
        os.close(reader)
        assert process.wait(timeout=20) == 0 and process.stderr.read() == b""


def test_texts_follow_each_other_in_a_pipe(fleet, nodes):
    with subprocess.Popen(
            [BINARY, "top", "--redis", fleet.redis.url, "--interval", "1", "--json", *PATIENT],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=ENVIRONMENT) as process:
        try:
            first, second = (json.loads(process.stdout.readline()) for _ in range(2))
        finally:
            process.terminate()
    assert first["time"] < second["time"] and {node["id"] for node in second["nodes"]} == set(nodes)


def test_redis_goes_and_returns(gateway, tmp_path):
    server = RedisServer(tmp_path / "redis").start()
    try:
        name = name_of(gateway(server=server))
        with on_screen(server.url) as screen:
            screen.shows(name)
            server.stop()
            lines = screen.shows("Redis cannot be used")
            assert row(lines, name) and "as of" in lines[0], "the last answer stays"
            server.start()

            def is_new():
                """Redis may answer before the gateway has announced itself again: its row is gone until then."""
                lines = screen.frame()
                return (any(line.startswith(name) for line in lines) and "as of" not in lines[0]
                        and not any("no answer" in line for line in lines))
            eventually(is_new, 20, "a new answer")
    finally:
        server.stop()
