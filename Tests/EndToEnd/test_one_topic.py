"""One topic, one history, one order: every kind of client hears what every other says."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from Fixtures.clients.phoenix import Supabase
from Fixtures.clients.socketio import Phone
from Fixtures.clients.streams import stream
from Fixtures.waiting import eventually

SAID = 20


@pytest.fixture
def trusting(monkeypatch, certificate):
    """Supabase's client takes its trust from the environment."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.cert))


def listen(es, heard):
    """Puts what a stream brings into a list, until all have spoken."""
    while len(heard) < SAID:
        record = es.next()
        if record.event == "said":
            heard.append(json.loads(record.data)["data"]["by"])


def test_five_kinds_of_clients_on_two_gateways_share_one_order(gateway, token, trusting):
    """Native, Supabase's Python client, python-socketio by WebSocket and by polling, and an event stream.

    All of them say something at the same time, an event stream's page by HTTP; all hear everything in one order.
    """
    one, other = gateway(), gateway()
    name = "one-topic"
    topic = f"phoenix:{name}"
    heard = {kind: [] for kind in ("native", "supabase", "socket.io websocket", "socket.io polling", "event stream")}

    async def run(native, socket, polling):
        async with Supabase(other, token("supabase")) as supabase:
            channel = await supabase.join(name, ack=True, own=True)
            loop = asyncio.get_running_loop()

            async def say(number):
                def by(kind):
                    return {"by": f"{kind} {number}"}

                await asyncio.gather(
                    loop.run_in_executor(pool, lambda: native.send(
                        "publish", {"event": "said", "data": by("native")}, topic=topic)),
                    channel.send_broadcast("said", by("supabase")),
                    loop.run_in_executor(pool, lambda: socket.call(
                        "publish", {"topic": topic, "event": "said", "data": by("socket.io websocket")})),
                    loop.run_in_executor(pool, lambda: polling.call(
                        "publish", {"topic": topic, "event": "said", "data": by("socket.io polling")})),
                    loop.run_in_executor(pool, lambda: other.publish(topic, "said", by("event stream"))))

            for number in range(SAID // 5):
                await say(number)
            while len(heard["supabase"]) < SAID:
                heard["supabase"].append((await supabase.next())["payload"]["by"])

    with ExitStack() as stack:
        native = stack.enter_context(one.client(token=token("native")))
        native.subscribe(topic)
        socket = stack.enter_context(Phone(one, auth={"token": token("socket")}))
        polling = stack.enter_context(Phone(other, transports=("polling",), auth={"token": token("polling")}))
        for phone in (socket, polling):
            phone.call("subscribe", {"topic": topic})
        es = stack.enter_context(stream(one, topic, access_token=token("stream")))
        es.expect("subscribed")
        pool = stack.enter_context(ThreadPoolExecutor(8))
        listening = pool.submit(listen, es, heard["event stream"])
        asyncio.run(run(native, socket, polling))
        listening.result(timeout=10)
        for kind, phone in (("socket.io websocket", socket), ("socket.io polling", polling)):
            eventually(lambda phone=phone: phone.names().count("said") == SAID, 10)
            heard[kind] = [data["by"] for _, event, data in phone.heard if event == "said"]
        while len(heard["native"]) < SAID:
            message = native.receive()
            if message["event"] == "said":
                heard["native"].append(message["data"]["by"])
        with one.http() as http:
            log = http.get(f"/v1/topics/{topic}/events?limit=100").json()["events"]

    order = [event["data"]["by"] for event in log]
    assert len(order) == SAID == len(set(order))
    # One line for each kind of client: how much it heard, and whether in the order of the log.
    table = {kind: (len(said), said == order) for kind, said in heard.items()}
    assert table == {kind: (SAID, True) for kind in heard}, table
