"""Whether each key, sharded channel and call of a Cluster is on the master that has its slot."""

import contextlib
from dataclasses import dataclass, field

from redis.crc import key_slot

from Fixtures.redis.slot_watch import SlotWatch

# So many misplaced names are told.
TOLD_MAX = 5


@dataclass
class Found:
    """What was looked at, and what of it is not where it belongs: its name and the master's port."""

    keys: int = 0
    channels: int = 0
    # Commands, and links that sent them.
    lines: int = 0
    links: int = 0
    # Of all that the masters refused since they began.
    redirected: int = 0
    misplaced: list = field(default_factory=list)
    # Runs of scripts that touched two slots, which a master cannot see while it has both.
    spanning: list = field(default_factory=list)

    def wrong(self) -> list:
        """A line for each kind of what is not as it must be; nothing seen is nothing shown."""
        lines = [f"there were no {what} to look at" for what in ("keys", "channels", "lines", "links")
                 if not getattr(self, what)]
        if self.misplaced:
            lines.append(f"{len(self.misplaced)} names on another master: {self.misplaced[:TOLD_MAX]}")
        if self.spanning:
            lines.append(f"{len(self.spanning)} scripts touched two slots: {self.spanning[:TOLD_MAX]}")
        return lines + ([f"{self.redirected} calls were redirected"] if self.redirected else [])


class Placement:
    """Looks at the masters of a Cluster; slots must not move meanwhile."""

    def __init__(self, cluster):
        self.owners = cluster.owners()
        self.masters = cluster.masters()
        self.found = Found()

    def misplaced(self, master, names) -> list:
        """Names whose slots another master has."""
        return [(name, master.port) for name in sorted(names)
                if self.owners[key_slot(name.encode("latin-1"))] is not master]

    def scan(self) -> None:
        """All keys and all channels that somebody hears."""
        for master in self.masters:
            with master.client() as db:
                keys = {key.decode("latin-1") for key in db.scan_iter(count=1_000)}
                channels = {name.decode("latin-1") for name in db.execute_command("PUBSUB", "SHARDCHANNELS")}
            self.found.keys += len(keys)
            self.found.channels += len(channels)
            self.found.misplaced += self.misplaced(master, keys | channels)

    @contextlib.contextmanager
    def watch(self):
        """What each link asks of its master, by MONITOR, and how many calls are redirected, while the context lasts.

        MONITOR shows what a master runs. A call of another's slot is refused before, so those are counted.
        """
        before = self.redirections()
        with contextlib.ExitStack() as stack:
            watches = [stack.enter_context(SlotWatch(master)) for master in self.masters]
            yield
        for master, watch in zip(self.masters, watches, strict=True):
            self.found.lines += watch.lines
            self.found.links += sum(1 for names in watch.links.values() if names)
            self.found.spanning += watch.spanning()
            for names in watch.links.values():
                self.found.misplaced += self.misplaced(master, names)
        self.found.redirected += self.redirections() - before

    def redirections(self) -> int:
        """How often the masters answered that another has the slot."""
        count = 0
        for master in self.masters:
            with master.client() as db:
                errors = db.info("errorstats")
            count += sum(errors.get(f"errorstat_{name}", {"count": 0})["count"] for name in ("MOVED", "ASK"))
        return count
