"""What a read may cost Redis, judged by what does not depend on how busy the host is."""

import json

ANSWER_BYTES_MAX = 65_536
VALUES_MAX = 10_000
CALLS_MAX = 120


def values(node):
    """How many values a JSON text has."""
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return 1 + sum(map(values, inside))


def check_read(db, call):
    """Makes the calls of a weight case; few commands, and an answer that is small."""
    call(0)
    db.config_resetstat()
    answer = call(1)
    stats = db.info("commandstats")
    made = sum(entry["calls"] for command, entry in stats.items()
               if command not in ("cmdstat_evalsha", "cmdstat_config|resetstat", "cmdstat_info"))
    assert made <= CALLS_MAX, stats
    text = answer if isinstance(answer, bytes) else json.dumps(answer, separators=(",", ":")).encode()
    assert len(text) <= ANSWER_BYTES_MAX
    assert values(json.loads(text)) <= VALUES_MAX
