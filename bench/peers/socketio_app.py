"""Pub/sub by Socket.IO rooms, with Redis between the processes.

A client subscribes by the event `subscribe` with a topic, and is answered `subscribed`; POST /pub/TOPIC with a JSON
object as body is the event `e` for all of them.
"""

import json
import os

import socketio

# Only WebSockets: no sticky sessions are needed, whatever the number of processes.
server = socketio.AsyncServer(
    async_mode="asgi", client_manager=socketio.AsyncRedisManager(os.environ["REDIS_URL"]), transports=["websocket"],
    http_compression=False)
socket_app = socketio.ASGIApp(server)


@server.on("subscribe")
async def subscribe(sid, topic):
    await server.enter_room(sid, topic)
    await server.emit("subscribed", topic, to=sid, ignore_queue=True)


async def app(scope, receive, send):
    if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith("/pub/"):
        await publish(scope["path"].removeprefix("/pub/"), receive, send)
    else:
        await socket_app(scope, receive, send)


async def publish(topic, receive, send):
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    await server.emit("e", json.loads(body), room=topic)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})
