"""Measures the model's figures of Redis's masters: a Cluster of three beside one server, with gateways before each."""

import statistics
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import masters
from arrangement import Arrangement, Ears, net
from Fixtures.waiting import eventually

# As many as have events, so that to join one makes nothing but a channel.
JOINED = masters.TOPICS
SHARDS = 16


def measure(directory: Path, certificate, quick: bool) -> dict:
    """All of them; some two minutes."""
    options = SimpleNamespace(rounds=1 if quick else 3, seconds=2 if quick else 6, bare=2 if quick else 4,
                              connections=masters.CONNECTIONS, pause_ms=masters.PAUSE_MS)
    found = {}
    with masters.Sites(directory, certificate, 0) as sites:
        rounds = sites.measure(options)
    found["cluster_times"] = statistics.median(masters.ratios(rounds, masters.CLUSTER, masters.APART))
    with Arrangement(directory / "joined", certificate, masters.MASTERS) as three:
        three.publish(2 if quick else 6, JOINED, masters.CONNECTIONS)
        found["master_links"] = max(_links(three))
        _configured(three, found)
        _joining(three, found, 4 if quick else 15)
    return found


def _joining(three: Arrangement, found: dict, seconds: float) -> None:
    """Joins at one gateway, then the same topics at another with many shards; between them what its probes cost."""
    topics = [f"shop:bench-{number}" for number in range(JOINED)]
    bare, before = three.rest(seconds), _used(three)
    with Ears(three.gateways, topics) as ears:
        spent = three.spent(lambda: (0, 0) if ears.join() else None)
        _heard(three, JOINED)
        found["join_us"] = max(spent.gateways_us - bare.gateways_us * spent.seconds / bare.seconds, 0) / JOINED
        found["redis_join_us"] = sum(net(spent, bare)) / JOINED
        found["redis_channel_bytes"] = (_used(three) - before) / JOINED
        alone = three.rest(seconds)
        other = three.add_gateway(SHARDS)
        found["master_shard_links"] = (max(_links(three)) - 2 * found["master_links"]) / (SHARDS - 1)
        both = three.rest(seconds)
        found["master_idle_us"] = max(both.redis_us / both.seconds - alone.redis_us / alone.seconds, 0) / (
            SHARDS * len(three.masters))
        before = _used(three)
        with Ears([other], topics) as more:
            more.join()
            found["redis_listener_bytes"] = (_used(three) - before) / JOINED


def _used(arrangement: Arrangement) -> int:
    """Memory that all masters have given out."""
    total = 0
    for master in arrangement.masters:
        with master.client() as db:
            total += db.info("memory")["used_memory"]
    return total


def _links(arrangement: Arrangement) -> list:
    """Connections of gateways at each master."""
    found = []
    for master in arrangement.masters:
        with master.client() as db:
            found.append(sum(1 for link in db.client_list() if link["name"].startswith("switchboard-")))
    return found


def _heard(arrangement: Arrangement, count: int) -> None:
    """Waits until the masters have so many channels of topics; probes have some of their own."""
    def channels() -> int:
        total = 0
        for master in arrangement.masters:
            with master.client() as db:
                total += len(db.execute_command("PUBSUB", "SHARDCHANNELS", "shop:*"))
        return total
    eventually(lambda: channels() == count, 30, f"{count} channels")


def _configured(arrangement: Arrangement, found: dict) -> None:
    """What Redis allows, as it is installed."""
    with arrangement.masters[0].client() as db:
        found["master_links_max"] = int(db.config_get("maxclients")["maxclients"])
        words = db.config_get("client-output-buffer-limit")["client-output-buffer-limit"].split()
    found["master_buffer_bytes"] = int(words[words.index("pubsub") + 1])
