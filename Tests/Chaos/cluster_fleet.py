"""A Redis Cluster in the place of a World's server, whatever its masters are called there."""

import contextlib
import signal

import paths  # noqa: F401
from Fixtures.redis.cluster import RedisCluster, tagged
from redis.crc import key_slot


# Links to a node that is no master any more are kept for so long: it may soon be one again.
IDLE_SECONDS = 60


def slot_of(topic: str) -> int:
    """The slot of a topic, which its id decides."""
    return key_slot(topic.split(":")[1].encode())


class Everywhere:
    """All masters as one server, as far as a World asks one; names are those of one server."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.calls = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def pipeline(self, transaction):
        """Gathers calls for `execute`."""
        assert not transaction
        return Everywhere(self.fleet)

    def hgetall(self, name):
        """Notes a call."""
        self.calls.append(("hgetall", tagged(name)))

    def xrange(self, name):
        """Notes a call."""
        self.calls.append(("xrange", tagged(name)))

    def execute(self):
        """Makes the calls, each at the master of its slot."""
        owners = self.fleet.owners()
        with contextlib.ExitStack() as stack:
            pipelines = {}
            for place, (call, name) in enumerate(self.calls):
                node = owners[key_slot(name.encode())]
                if node.port not in pipelines:
                    client = stack.enter_context(node.client())
                    pipelines[node.port] = (stack.enter_context(client.pipeline(transaction=False)), [])
                pipeline, places = pipelines[node.port]
                getattr(pipeline, call)(name)
                places.append(place)
            answers = [None] * len(self.calls)
            for pipeline, places in pipelines.values():
                for place, answer in zip(places, pipeline.execute(), strict=True):
                    answers[place] = answer
            return answers

    def pubsub_channels(self):
        """The topics' channels that somebody hears at their masters."""
        found = set()
        for node in self.fleet.masters():
            with node.client() as client:
                found |= set(client.execute_command("PUBSUB", "SHARDCHANNELS"))
        return [name.replace(b"{", b"").replace(b"}", b"") for name in found]


def of_gateway(first: bytes) -> bool:
    """Chooses the connections of gateways by their first bytes."""
    return b"switchboard-" in first


def of_others(first: bytes) -> bool:
    """Chooses the connections of replicas and operators."""
    return not of_gateway(first)


class Fleet(RedisCluster):
    """A cluster in the place of a World's server."""

    process = None

    def kill(self):
        """Ends every node."""
        self.stop()

    def stop(self):
        self.go_on()
        super().stop()

    def go_on(self):
        """Lets every node run that stands still."""
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                node.process.send_signal(signal.SIGCONT)

    def client(self, **_):
        """All masters as one server."""
        return Everywhere(self)

    def topics_of(self, node, topics) -> set:
        """Those topics whose slots a master has."""
        owners = self.owners()
        return {topic for topic in topics if owners[slot_of(topic)] is node}

    def isolate(self, node) -> None:
        """Cuts a node off from all other nodes, and not from gateways."""
        node.bus_door.refuse()
        node.bus_door.reset_all()
        node.door.refuse(of_others)
        node.door.reset_all(of_others)
        for other in self.nodes:
            if other is not node:
                other.bus_door.refuse(node.says)
                other.bus_door.reset_all(node.says)

    def heal(self) -> None:
        """Ends every fault of the network."""
        for node in self.nodes:
            for door in node.doors:
                door.heal()
