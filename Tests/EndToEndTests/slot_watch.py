"""What scripts touch, by MONITOR: every key that one run of a script reads or writes, and where it publishes."""

import re
import threading

from redis.crc import key_slot

RUNS = {"EVAL", "EVALSHA", "FCALL"}
MANY = {"DEL", "UNLINK", "EXISTS", "MGET", "SINTER", "SUNION", "SDIFF"}
NO_KEYS = {"TIME"}
WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')


class SlotWatch:
    """Collects the runs of scripts while the context lasts: a list of (keys declared, names touched, channels)."""

    def __init__(self, server):
        self.server = server
        self.runs = []
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
        while True:
            line = self._connection.read_response(disable_decoding=True)
            place, words = line.split(b"]", 1)[0], [word.decode("latin-1") for word in WORD.findall(line)]
            name = words[0].upper()
            self.lines += 1
            if name == "ECHO" and words[1:] == ["end-of-watch"]:
                return
            if not place.endswith(b"lua"):
                self.runs.append((self._declared(words), [], []) if name in RUNS else None)
            elif self.runs and self.runs[-1] and name not in NO_KEYS:
                _, touched, channels = self.runs[-1]
                if name in ("PUBLISH", "SPUBLISH"):
                    channels.append(words[1])
                elif name == "XINFO":
                    touched.append(words[2])
                else:
                    touched.extend(words[1:] if name in MANY else words[1:2])

    @staticmethod
    def _declared(words):
        return words[3:3 + int(words[2])]

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
