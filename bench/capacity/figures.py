"""The measured figures of the model: what each is, in which unit, and which step of `measure` finds it."""

FIGURES = {
    # name: (unit, step, meaning)
    "delivery_us_20": ("us", "fanout", "gateway, one delivery, 20 events/s on each connection; the publish is in it"),
    "delivery_us_100": ("us", "fanout", "the same at 100 events/s"),
    "delivery_us_400": ("us", "fanout", "the same at 400 events/s"),
    "delivery_us_1600": ("us", "fanout", "the same at 1,600 events/s: most leave in one write with others"),
    "wire_bytes": ("bytes", "fanout", "on the loopback for one delivery of 200 bytes: TLS, TCP/IP, acknowledgement"),
    "setup_us": ("us", "idle", "gateway, one new connection: TCP, full TLS 1.3 handshake, upgrade, subscribe"),
    "idle_us": ("us/s", "idle", "gateway, one silent connection: a ping every 25 s"),
    "base_bytes": ("bytes", "idle", "gateway, private memory before its first client"),
    "connection_bytes": ("bytes", "idle", "gateway, private memory of one TLS connection with one subscription"),
    "kernel_bytes": ("bytes", "idle", "kernel, slab and socket buffers of one end of a connection"),
    "topic_bytes": ("bytes", "unicast", "gateway, a topic with members, beyond the connection"),
    "http_publish_us": ("us", "unicast", "gateway, one publish over HTTP on a kept connection"),
    "receive_us": ("us", "unicast", "gateway, an event from Redis on its way to its members"),
    "redis_publish_us": ("us", "unicast", "Redis, one logged publish with its idempotency key, and one copy of it"),
    "redis_message_bytes": ("bytes", "unicast", "from Redis for one publish: the answer and one copy"),
    "redis_copy_us": ("us", "redis", "Redis, each further gateway that has a member"),
    "redis_event_bytes": ("bytes", "redis", "Redis, one event of 200 bytes in a log"),
    "redis_topic_bytes": ("bytes", "redis", "Redis, a topic with one event"),
    "command_us": ("us", "vote", "gateway, one command of a client with its answer (`vote`)"),
    "redis_command_us": ("us", "vote", "Redis, the script of that command, with the event it emits"),
    "nginx_delivery_us": ("us", "nginx", "nginx passing TCP through, one delivery at 20 events/s"),
    "nginx_setup_us": ("us", "nginx", "nginx passing TCP through, one new connection"),
    "nginx_bytes": ("bytes", "nginx", "nginx, private memory of one connection"),
}
STEPS = list(dict.fromkeys(step for _, step, _ in FIGURES.values()))
