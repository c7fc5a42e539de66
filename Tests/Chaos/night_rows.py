"""Rows of readiness that no fault of an operator's night breaks: each by its real cause (night_shift.py)."""

import signal
import subprocess
import time

from Fixtures.processes.held_thread import Held
from Fixtures.processes.node import ENVIRONMENT
from Fixtures.processes.ports import free_port
from Fixtures.waiting import eventually
from night_faults import fault

#: Enough for the process to start, and not for all of eight shards.
DESCRIPTORS = 40


@fault("draining", "draining")
def drained(site):
    gateway = site.gateway(limits={"drainMs": 20_000, "drainGraceMs": 10_000})
    with gateway.client() as client:
        client.subscribe("shop:1")
        yield
        gateway.signal(signal.SIGTERM)
        yield
        gateway.signal(signal.SIGTERM)
        gateway.wait()
        gateway.start().wait_ready()


@fault("threads", "cannot run")
def thread_cannot_start(site):
    """Descriptors end while the shards start: one of them gets no event queue."""
    gateway = site.gateway("--shards", "8")
    gateway.stop()
    yield
    before, port = gateway.arguments, free_port()
    # Its ready file would need one more, so its address is given.
    words = [word for word in before if word not in ("--ready-file", str(gateway.ready_path.absolute()))]
    words[words.index("--ops") + 1] = f"127.0.0.1:{port}"
    with open(gateway.log_path, "ab") as log:
        gateway.process = subprocess.Popen(
            ["prlimit", f"--nofile={DESCRIPTORS}", *words], stdout=log, stderr=log, env=ENVIRONMENT)
    gateway.addresses = {"ops": [{"host": "127.0.0.1", "port": port}]}
    yield
    gateway.kill()
    gateway.arguments = before
    gateway.start().wait_ready()


@fault("loop", "a loop is stuck")
def shard_hangs(site):
    """One thread stands, as in an endless loop, and the others go on; what it would answer is not answered."""
    gateway = site.gateway("--shards", "6")
    held = Held(gateway.process.pid, "shard-1")
    yield
    with held:
        yield


@fault("memory", "memory is short")
def memory_short(site):
    gateway = site.gateway(limits={"memoryBytesMax": 64 << 20})
    yield
    gateway.stop()
    before = gateway.arguments
    gateway.arguments = [*before, "--limit", "memoryBytesMax=16777216"]
    gateway.start()
    yield
    gateway.stop()
    gateway.arguments = before
    gateway.start().wait_ready()


@fault("rights", "changes of rights cannot be read")
def revocations_of_another_type(site):
    site.gateway()
    with site.redis.client() as db:
        yield
        db.set("#revoked", "x")
        yield
        db.delete("#revoked")


@fault("redis_default_user", "could not load its own file")
def default_user_is_off(site):
    with site.redis.client() as db:
        db.config_set("appendonly", "yes")
        db.execute_command("ACL", "SETUSER", "app", "on", ">ours", "~*", "&*", "+@all")
        gateway = site.gateway(url=f"redis://app:ours@127.0.0.1:{site.redis.port}", limits={"redisLoadCheckMs": 1_000})
        eventually(lambda: gateway.metric("switchboard_redis_default_user_can_load") == 1, 10, "the first look")
        yield
        db.execute_command("ACL", "SETUSER", "default", "-@all")
        yield
        # This connection is the default user's own, and may do nothing any more.
    with site.redis.client(username="app", password="ours") as db:
        db.execute_command("ACL", "SETUSER", "default", "+@all")


@fault("redis_eviction", "redis may evict keys")
def redis_may_evict(site):
    site.gateway()
    with site.redis.client() as db:
        yield
        db.config_set("maxmemory-policy", "allkeys-lru")
        yield
        db.config_set("maxmemory-policy", "noeviction")


@fault("redis_memory", "redis is near its maxmemory")
def redis_nearly_full(site):
    site.gateway()
    with site.redis.client() as db:
        yield
        db.config_set("maxmemory", int(db.info("memory")["used_memory"] / 0.95))
        yield
        db.config_set("maxmemory", 0)


@fault("redis_persistence", "append-only file")
def redis_stops_to_write(site):
    with site.redis.client() as db:
        db.config_set("appendonly", "yes")
        gateway = site.gateway()
        eventually(lambda: "switchboard_redis_used_bytes{" in gateway.metrics().text, 10, "a look at Redis")
        yield
        db.config_set("appendonly", "no")
        yield
        db.config_set("appendonly", "yes")


@fault("bridge", "events of emitters do not arrive")
def bridge_without_its_right(site):
    with site.redis.client() as db:
        db.execute_command("ACL", "SETUSER", "app", "on", ">ours", "~*", "&*", "+@all")
        site.gateway("--bridge", "socketio", url=f"redis://app:ours@127.0.0.1:{site.redis.port}")
        yield
        db.execute_command("ACL", "SETUSER", "app", "-psubscribe")
        for one in db.client_list():
            if one["name"].endswith("-bridge"):
                db.client_kill_filter(_id=one["id"])
        yield
        db.execute_command("ACL", "SETUSER", "app", "+psubscribe")


@fault("outbox", "entries of the outbox wait")
def nobody_works_off_the_outbox(site):
    gateway = site.gateway()
    site.worker()
    eventually(lambda: gateway.ops("/readyz").status_code == 200, 10, "ready")
    yield
    site.nodes["worker"].kill()
    with gateway.http() as http:
        booking = {"shopId": "7", "bookingId": f"b{time.time_ns()}", "userId": "u1", "tier": "standard"}
        http.post("/v1/commands/create_booking", json=booking).raise_for_status()
    yield
    site.worker()
