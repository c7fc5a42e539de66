"""How long from a booking change to `queue:update` at a client: through Redis, keyspace event, worker, gateway, TLS.

usage: .venv/bin/python bench/queue-latency.py [CHANGES]

Method: one Redis, one worker, one gateway with default settings; one client on the shop's topic. A booking is moved by
POST /v1/commands/move_booking, or written straight into Redis as a backend would, in turn; each change alters the
queue's length. The clock runs from just before the request is sent until the client has the event that shows the new
length; one process holds both ends. The next change follows 50 ms to 150 ms later, by chance, so that it falls at any
moment of the 20 ms in which the worker gathers changes.
"""

import json
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests"), str(ROOT / "Tests" / "EndToEndTests")]

from certificates import write_certificate  # noqa: E402
from gateway_process import Gateway  # noqa: E402
from support.redis_server import RedisServer  # noqa: E402
from tokens import SECRET  # noqa: E402
from worker_process import Worker  # noqa: E402


def measure(gateway, db, changes):
    """Milliseconds of each change, by way."""
    times = {"command": [], "redis": []}
    with gateway.client() as client, gateway.http() as http:
        db.sadd("shop:42#barbers", "b1")
        for number in range(changes):
            http.post("/v1/commands/create_booking", json={
                "shopId": "42", "bookingId": f"b{number}", "userId": "u1", "tier": "standard"}).raise_for_status()
        client.subscribe("shop:42")
        for number in range(changes):
            way = "command" if number % 2 == 0 else "redis"
            stored = db.hget("shop:42#bookings", f"b{number}")
            start = time.monotonic()
            if way == "command":
                http.post("/v1/commands/move_booking", json={
                    "shopId": "42", "bookingId": f"b{number}", "status": "confirmed"}).raise_for_status()
            else:
                db.hset("shop:42#bookings", f"b{number}", json.dumps(json.loads(stored) | {"status": "confirmed"}))
            while True:
                message = client.receive(10)
                if message["event"] == "queue:update" and message["data"]["queueLength"] == number + 1:
                    break
            times[way].append((time.monotonic() - start) * 1000)
            time.sleep(random.uniform(0.05, 0.15))  # lint:allow the pace of the changes
    return times


def main():
    changes = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        server = RedisServer(directory / "redis").start()
        gateway = Gateway(directory / "gateway", server.url, write_certificate(directory), SECRET).start().wait_ready()
        worker = Worker(directory / "worker", server.url).start()
        try:
            with server.client() as db:
                for way, times in measure(gateway, db, changes).items():
                    times.sort()
                    print(f"{way:8} {len(times)} changes  p50 {times[len(times) // 2]:.1f} ms  "
                          f"p99 {times[int(len(times) * 0.99)]:.1f} ms  max {times[-1]:.1f} ms")
        finally:
            worker.stop()
            gateway.stop()
            server.stop()


if __name__ == "__main__":
    main()
