"""Everything Redis is asked to do, by MONITOR."""

import re
import threading

# What a gateway does of its own accord, whatever its clients do.
# Channels are given up some time after their last member left, so an UNSUBSCRIBE belongs to an earlier test.
BACKGROUND = {"PING", "INFO", "ROLE", "CONFIG", "AUTH", "HELLO", "CLIENT", "SELECT", "UNSUBSCRIBE", "ACL"}
PROBE = b"probe"


class RedisWatch:
    """Collects commands while the context lasts: lists of words, upper-case name first.

    With `links`, a pattern, only those of connections with such names.
    """

    def __init__(self, server, links: re.Pattern | None = None):
        self.server = server
        self.links = links
        self.commands = []

    def __enter__(self):
        self._client = self.server.client()
        self._ports = self.links and {
            one["addr"].rpartition(":")[2] for one in self._client.client_list() if self.links.fullmatch(one["name"])}
        self._monitor = self._client.monitor().__enter__()
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()
        return self

    def _collect(self):
        for entry in self._monitor.listen():
            words = entry["command"].split(" ")
            if words[0].upper() == "ECHO" and words[1:] == ["end-of-watch"]:
                return
            # Commands that scripts run are theirs to test (Scripts); here it is what gateways ask for.
            if entry["client_type"] != "lua" and (self._ports is None or entry["client_port"] in self._ports):
                self.commands.append([words[0].upper(), *words[1:]])

    def __exit__(self, kind, *_):
        with self.server.client() as client:
            client.echo("end-of-watch")
        self._thread.join(timeout=5)
        self._monitor.__exit__(None, None, None)
        self._client.close()
        assert kind is not None or not self._thread.is_alive(), "MONITOR ended early"

    def on_behalf_of_clients(self) -> list[list[str]]:
        """The commands that are not a gateway's own housekeeping."""
        return [
            words for words in self.commands
            if words[0] not in BACKGROUND and not self._is_probe(words)
            and not self._is_heartbeat(words) and not self._is_rights_poll(words) and not self._is_look(words)]

    @staticmethod
    def _is_probe(words):
        """Whether it proves a link: a message, or a short script that writes a key and sends."""
        return words[0] == "PUBLISH" and PROBE.decode() in words[1] or (
            words[0] == "EVAL" and any("#" + PROBE.decode() in word for word in words))

    @staticmethod
    def _is_look(words):
        """Whether it looks at the outbox, calls for couriers, live processes, or the seal of what is written."""
        return words[0] == "GET" and words[1].endswith("#outbox-figures") or words[0] in ("EVAL", "EVALSHA") and any(
            word.endswith(("#outbox:next", "#sealed", "#workers", "#nodes")) or "#courier:" in word
            for word in words[3:])

    @staticmethod
    def _is_rights_poll(words):
        """Whether it is the question what became of rights, which each gateway asks twice a second."""
        return words[0] == "EVALSHA" and any(word.endswith("#revoked-before") for word in words[3:6]) and (
            any(word.endswith("#removed") for word in words[3:6]))

    @staticmethod
    def _is_heartbeat(words):
        """Whether it is the gateway's regular word that a user is connected, and nothing else."""
        return words[0] == "EVALSHA" and all(any(re.fullmatch(rf"user:[^#]+#{part}", word) for word in words[3:8])
                                             for part in ("online", "places"))
