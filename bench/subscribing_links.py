#!/usr/bin/env python3
"""What a message costs Redis for each link that has subscribed to its channel.

A node has one such link for each shard with members of the topic. Redis's processor time for a PUBLISH is taken with
0, 1, 2, 4 and 8 links, in turns: one message at a time, and 50 in flight, where Redis sends many by one write.
"""

import argparse
import socket
import statistics
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests"))
from Fixtures.redis.server import RedisServer  # noqa: E402

LINKS = (0, 1, 2, 4, 8)
PAYLOAD = b"Pabcdefgh 123456 queue:update -\n" + b'{"text":"' + b"x" * 160 + b'"}'


def call(*words: bytes) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Link:
    """Subscribes to channels, and reads what comes."""

    def __init__(self, path: str, channels: list):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.sendall(call(b"SUBSCRIBE", *channels))
        confirmed = b""
        while confirmed.count(b"subscribe\r\n") < len(channels):
            confirmed += self.socket.recv(65_536)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while self.socket.recv(1 << 20):
            pass


def publish(path: str, channel: bytes, count: int, in_flight: int):
    with socket.socket(socket.AF_UNIX) as publisher:
        publisher.connect(path)
        message = call(b"PUBLISH", channel, PAYLOAD) * in_flight
        for _ in range(count // in_flight):
            publisher.sendall(message)
            answers = 0
            while answers < in_flight:
                answers += publisher.recv(65_536).count(b"\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--count", type=int, default=20_000)
    options = parser.parse_args()
    found: dict = {}
    with tempfile.TemporaryDirectory() as directory, RedisServer(Path(directory) / "redis").running() as server:
        path = str(server.socket_path)
        for links in LINKS[1:]:
            for _ in range(links):
                Link(path, [b"shop:%d" % links])
        for _ in range(options.rounds):
            for in_flight in (1, 50):
                for links in LINKS:
                    before = server.cpu_seconds()
                    publish(path, b"shop:%d" % links, options.count, in_flight)
                    us = (server.cpu_seconds() - before) / options.count * 1e6
                    found.setdefault((in_flight, links), []).append(us)
    print("| in flight | " + " | ".join(f"{links} links" for links in LINKS) + " | for each link |")
    for in_flight in (1, 50):
        medians = [statistics.median(found[in_flight, links]) for links in LINKS]
        each = (medians[-1] - medians[0]) / LINKS[-1]
        print(f"| {in_flight} | " + " | ".join(f"{us:.1f}" for us in medians) + f" | {each:.2f} |")


if __name__ == "__main__":
    main()
