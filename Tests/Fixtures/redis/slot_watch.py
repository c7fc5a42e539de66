"""What commands touch, by MONITOR: each link's names, and all that one run of a script reads, writes or publishes."""

import re
import threading

from redis.crc import key_slot

RUNS = {"EVAL", "EVALSHA", "FCALL"}
MANY = {"DEL", "UNLINK", "EXISTS", "MGET", "SINTER", "SUNION", "SDIFF", "SSUBSCRIBE", "SUNSUBSCRIBE"}
# Plain channels are in no slot.
NO_KEYS = {"TIME", "PING", "ECHO", "INFO", "ROLE", "WAIT", "CLIENT", "CLUSTER", "CONFIG", "SCRIPT", "SCAN", "DBSIZE",
           "PUBSUB", "PUBLISH", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE"}
WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')


def names_of(words: list) -> list:
    """The keys and sharded channels that a command names; of a script those that it declares."""
    name = words[0].upper()
    if name in NO_KEYS:
        return []
    if name in RUNS:
        return words[3:3 + int(words[2])]
    if name == "XINFO":
        return words[2:3]
    return words[1:] if name in MANY else words[1:2]


class SlotWatch:
    """Collects the runs of scripts while the context lasts: a list of (keys declared, names touched, channels).

    `links` has all names by the address of the connection that named them, itself or by a script.
    """

    def __init__(self, server):
        self.server = server
        self.runs = []
        self.links = {}
        self.lines = 0

    def __enter__(self):
        self._client = self.server.client()
        self._connection = self._client.connection_pool.get_connection("MONITOR")
        self._connection.send_command("MONITOR")
        self._connection.read_response()
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()
        return self

    def _collect(self):
        link = ""
        while True:
            line = self._connection.read_response(disable_decoding=True)
            place, words = line.split(b"]", 1)[0], [word.decode("latin-1") for word in WORD.findall(line)]
            name = words[0].upper()
            self.lines += 1
            if name == "ECHO" and words[1:] == ["end-of-watch"]:
                return
            names = names_of(words)
            if not place.endswith(b"lua"):
                link = place.rpartition(b" ")[2].decode()
                self.runs.append((names, [], []) if name in RUNS else None)
            elif self.runs and self.runs[-1]:
                _, touched, channels = self.runs[-1]
                if name in ("PUBLISH", "SPUBLISH"):
                    channels.append(words[1])
                else:
                    touched.extend(names)
            self.links.setdefault(link, set()).update(names)

    def __exit__(self, kind, *_):
        with self.server.client() as client:
            client.echo("end-of-watch")
        self._thread.join(timeout=5)
        self._client.close()
        assert kind is not None or not self._thread.is_alive(), "MONITOR ended early"
        self.runs = [run for run in self.runs if run]

    def spanning(self):
        """The runs that touch more than one slot; a channel counts, but for the one by which workers are woken."""
        found = []
        for declared, touched, channels in self.runs:
            names = [*declared, *touched, *(each for each in channels if not each.endswith("{sb}#outbox"))]
            if len({key_slot(name.encode("latin-1")) for name in names}) > 1:
                found.append(names)
        return found
