"""Everything that a Redis server holds, as values that can be compared."""

import time

import redis

READS = {
    b"string": lambda db, key: db.get(key),
    b"hash": lambda db, key: db.hgetall(key),
    b"list": lambda db, key: db.lrange(key, 0, -1),
    b"set": lambda db, key: db.smembers(key),
    b"zset": lambda db, key: db.zrange(key, 0, -1, withscores=True),
    b"stream": lambda db, key: (db.xrange(key), db.xinfo_stream(key)["last-generated-id"], db.xinfo_groups(key)),
}


def contents(db: redis.Redis) -> dict:
    """Value and time of expiry (milliseconds since 1970, -1 for never) of each key.

    The numbers of delivery probes are left out: a gateway writes them all the time, and they live for seconds.
    """
    found = {}
    for key in db.scan_iter(count=1_000):
        kind = db.type(key)
        if kind != b"none" and b"#probe" not in key:
            found[key] = (READS[kind](db, key), db.execute_command("PEXPIRETIME", key))
    return found


def lasting(found: dict) -> dict:
    """What of it has not expired by now, without the entries of processes, which each renews at every probe."""
    now_ms = time.time() * 1_000
    return {key: one for key, one in found.items() if not key.endswith(b"#nodes") and (one[1] < 0 or one[1] > now_ms)}
