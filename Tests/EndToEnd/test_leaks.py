"""Connections come and go; descriptors and memory return to where they were."""

import asyncio
import gc
import os
import socket
import ssl

import pytest
from websockets.asyncio.client import connect

from Fixtures.clients import raw
from Fixtures.waiting import eventually

LONG_ROUNDS = int(os.environ.get("SWITCHBOARD_CHURN_ROUNDS", "10"))
AT_ONCE = 200
WARM_UP = 5
GROWTH_A_ROUND_MAX = (4 << 20) // 10


async def churn(gw, context: ssl.SSLContext, round: int) -> None:
    """Opens 200 connections, joins a topic on each, and ends them in three ways."""
    host, port = gw.address()

    async def one(number):
        connection = await connect(
            f"wss://{host}:{port}/ws", ssl=context, compression=None, proxy=None, open_timeout=30, close_timeout=5)
        await connection.send('{"event":"subscribe","data":{"topic":"shop:churn-%d"}}' % (number % 7))
        await connection.recv()
        if (number + round) % 3 == 0:
            connection.transport.abort()
        elif (number + round) % 3 == 1:
            await connection.close(1000)
        else:
            await connection.close(4000)

    await asyncio.gather(*(one(number) for number in range(AT_ONCE)))


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [
    pytest.param(5, id="short"), pytest.param(LONG_ROUNDS, id="long", marks=pytest.mark.thorough)])
def test_churn_leaves_nothing_behind(gateway, rounds):
    # This process may be slow with its part of 200 handshakes.
    gw = gateway("--shards", "2", limits={
        "topicLingerMs": 100, "connectsPerAddressPerSecond": 100_000, "tlsHandshakeMs": 60_000,
        "requestHeadMs": 60_000, "authenticateMs": 60_000})
    context = gw.certificate.trusting_context()
    descriptors = gw.fd_count
    settled = []
    for round in range(rounds + WARM_UP):
        asyncio.run(churn(gw, context, round))
        gc.collect()
        eventually(lambda: gw.fd_count <= descriptors, 10, "every descriptor closed")
        settled.append(gw.resident_bytes)
    growth = settled[-1] - settled[WARM_UP - 1]
    print(f"{rounds} rounds of {AT_ONCE}: resident {settled[WARM_UP - 1] >> 10} kB -> {settled[-1] >> 10} kB")
    assert growth <= GROWTH_A_ROUND_MAX * rounds
    # The count before may include the last probe of readiness, still open then.
    assert gw.fd_count <= descriptors
    page = gw.metrics()
    for name in ("switchboard_connections", "switchboard_sessions", "switchboard_subscriptions",
                 "switchboard_queued_bytes"):
        assert page.value(name) == 0, name


@pytest.mark.slow
def test_half_open_handshakes_leave_nothing_behind(gateway):
    """Peers that vanish in the middle of TLS, of the request, and right after the upgrade."""
    gw = gateway(limits={"tlsHandshakeMs": 500, "requestHeadMs": 500, "authenticateMs": 500})
    descriptors = gw.fd_count
    for _ in range(50):
        for stage in range(4):
            if stage == 0:
                socket.create_connection(gw.address()).close()
            elif stage == 1:
                raw.connect(gw).close()
            elif stage == 2:
                connection = raw.connect(gw)
                connection.sendall(b"GET /ws HTTP/1.1\r\nHost: x\r\n")
                connection.close()
            else:
                raw.upgrade(gw)[0].close()
    eventually(lambda: gw.fd_count <= descriptors, 10, "every descriptor closed")
