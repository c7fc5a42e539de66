"""A client that loses nothing in silence, in forty lines: it resumes every topic by its position (docs/protocol.md).

Needs Python 3.11 and `pip install websockets`. `await follow("wss://gateway.example/ws", ["shop:42"], heard, anew)`
calls `heard(topic, event, data)` for every event, in order and once. It calls `anew(topic, state)` whenever what came
before does not lead to what comes next: at the start, and after a loss that the gateway told. `state` is None where
the namespace has none and after a `gap`; the program reads the state anew then.
"""

import asyncio
import json
import random

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

FINAL = {"bad_request", "unauthorized", "forbidden", "not_found", "too_large"}  # trying again would not help


async def follow(url, topics, heard, anew, **options):
    positions, pause = {}, 0.1  # the last event seen of each topic; seconds before the next connection
    while True:
        try:
            async with connect(url, **options) as socket:
                again = {0: asyncio.create_task(subscribe(socket, topics, positions))}
                async for text in socket:
                    message = json.loads(text)
                    event, topic, data = message["event"], message.get("topic"), message.get("data", {})
                    if event in ("subscribed", "gap"):
                        pause = 0.1
                        if data.get("recovered"):
                            continue  # the events after our own position follow: we keep it
                        if "epoch" in data:
                            positions[topic] = {"epoch": data["epoch"], "offset": data["offset"]}
                        anew(topic, data.get("state"))
                    elif event == "draining":
                        pause = data["reconnectAfterMs"] / 1000  # the close follows within seconds
                    elif event == "error" and data["code"] in FINAL:
                        raise RuntimeError(f"{topic}: {data['message']}")
                    elif event == "error":
                        wait = data.get("retryAfterMs", random.uniform(100, 1000)) / 1000
                        refused = [topic] if topic else topics
                        again[topic] = asyncio.create_task(subscribe(socket, refused, positions, wait))
                    elif topic:
                        if "offset" in message:
                            positions[topic]["offset"] = message["offset"]
                        heard(topic, event, data)
        except (OSError, WebSocketException):
            pass  # refused or cut: we come back with what we have
        await asyncio.sleep(random.uniform(pause / 2, pause))
        pause = min(2 * pause, 5)


async def subscribe(socket, topics, positions, wait=0):
    await asyncio.sleep(wait)
    wanted = [{"topic": topic} | ({"since": positions[topic]} if topic in positions else {}) for topic in topics]
    try:
        await socket.send(json.dumps({"event": "subscribe", "data": {"topics": wanted}, "ref": "subscribe"}))
    except ConnectionClosed:
        pass  # the reader has noticed, too
