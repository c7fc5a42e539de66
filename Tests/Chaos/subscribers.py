"""Follows what subscribers wrote down of one run; see `checker.py`."""


class Place:
    """Where one subscriber is on one topic; `fresh`: it has joined, and its next event tells where."""

    __slots__ = ("table", "epoch", "offset", "live", "promised", "line", "fresh")

    def __init__(self):
        self.table, self.epoch, self.offset, self.live, self.promised, self.line = None, None, 0, False, 0, ""
        self.fresh = False


class Subscribers:
    """Follows every subscriber through one log.

        <t> C <client> <resumed>                                                      connected
        <t> S <client> <topic> <epoch> <offset> <recovered> <since-epoch> <since-offset>   the answer `subscribed`
        <t> J <client> <topic> <since-epoch> <since-offset>      joined; the answer told no position
        <t> E <client> <topic> <offset> <event> <m> <crc>                             an event
        <t> P <client> <topic> <epoch> <offset> <event> <m> <crc>                     an event that tells its epoch
        <t> G <client> <topic> <epoch> <offset> <reason>                              a gap
        <t> X <client> <topic> <code>, W <client> <ms>, D <client> <code>, N <client> <text>

    The rule is the client's own: every event's offset is the last one's + 1, or a `gap` or `subscribed` came in
    between and it is that one's + 1. A client that joined without a position may have missed what came before its first
    event, and gets nothing that it had before.
    """

    def __init__(self, names, report, name: str):
        self.names, self.report, self.name = names, report, name
        self.places = {}
        self.by_client = {}
        self.number = 0
        self.delivered = 0

    def read(self, lines) -> None:
        """Takes every line; a torn last line (its writer was killed) is left out."""
        places, number, delivered = self.places, self.number, 0
        for line in lines:
            number += 1
            if line[-1:] != "\n":
                self.report.notes["torn last line"] += 1
                break
            fields = line[:-1].split(" ", 5)
            if fields[1] == "E" and len(fields) == 6:
                place = places.get((fields[2], fields[3]))
                text = fields[4]
                # The path of nearly every line: the next offset, holding what others saw there.
                if place is not None and place.live and text != "-":
                    offset = int(text)
                    if offset == place.offset + 1:
                        place.offset = offset
                        delivered += 1
                        if place.table.get(offset) != fields[5]:
                            self.names.name(fields[3], place.epoch, offset, fields[5], int(fields[0]),
                                            self._where(number, line))
                        continue
                self._event(fields, place, self._where(number, line))
            else:
                self._other(line[:-1].split(" "), self._where(number, line))
        self.number = number
        self.report.counts["delivered"] += delivered

    def _where(self, number: int, line: str) -> tuple:
        # Made into text only when it is shown.
        return (self.name, number, line)

    def _event(self, fields, place, where) -> None:
        client, topic, text, message = fields[2:6]
        if place is None or not place.live:
            self.report.violation("I3", f"client {client} got an event of {topic} without being subscribed", where)
            return
        if text == "-":
            self.report.violation("I3", f"client {client} got an event of {topic} without a position", where)
            return
        offset = int(text)
        self.report.counts["delivered"] += 1
        if offset <= place.offset:
            self.report.counts["duplicates"] += 1
            self.report.violation(
                "I3", f"client {client} got {topic} {offset} again or too late: it was at {place.offset}", where)
        else:
            self.report.counts["missing"] += offset - place.offset - 1
            self.report.violation(
                "I3", f"silent hole: client {client} at {topic} {place.epoch} {place.offset} got {offset}", where)
            place.offset = offset
        self.names.name(topic, place.epoch, offset, message, int(fields[0]), where)

    def _other(self, fields, where) -> None:
        kind, client = fields[1], fields[2]
        if kind == "P":
            self._placed(fields, where)
        elif kind == "S":
            self._subscribed(fields, where)
        elif kind == "J":
            self._joined(fields, where)
        elif kind == "G":
            self._gap(fields, where)
        elif kind in ("C", "D"):
            self.report.counts["connects" if kind == "C" else "disconnects"] += 1
            if kind == "C" and fields[3] == "1":
                self.report.counts["tls resumed"] += 1
            if kind == "D":
                self.report.notes[f"closed {fields[3]}"] += 1
            for place in self.by_client.get(client, ()):
                place.live = False
        elif kind == "X":
            self.report.notes[f"error {fields[4]}"] += 1
            if fields[4] == "unreadable":
                self.report.violation("I4", f"client {client} got a message it cannot read", where)
        elif kind == "W":
            self.report.counts["draining"] += 1
        elif kind == "N":
            self.report.counts["failed connects"] += 1
        else:
            self.report.violation("rig", "a line that says nothing", where)

    def _subscribed(self, fields, where) -> None:
        client, topic, epoch, offset, recovered, since_epoch, since_offset = fields[2:9]
        offset = int(offset)
        place = self._place(client, topic)
        if place.epoch is None:
            if since_epoch != "-":
                self.report.violation("rig", f"client {client} resumed {topic} without having been there", where)
        elif since_epoch == "-" or (since_epoch, int(since_offset)) != (place.epoch, place.offset):
            self.report.violation(
                "rig", f"client {client} was at {topic} {place.epoch} {place.offset} and asked for another", where)
        if recovered == "1":
            self.report.counts["recovered"] += 1
            if since_epoch != epoch or since_epoch == "-":
                self.report.violation(
                    "I3", f"client {client}: recovered, but from epoch {since_epoch} to {epoch}", where)
                place.offset = offset
            elif offset < int(since_offset):
                self.report.violation("I3", f"client {client}: recovered to {offset}, before its own position", where)
            place.promised = offset
        else:
            if place.epoch is not None:
                if epoch == place.epoch and offset < place.offset:
                    self.report.violation("I2", f"{topic} {epoch} went back from {place.offset} to {offset}", where)
                self._signalled(place, epoch, offset, "not recovered")
            place.offset = offset
            place.promised = offset
        place.epoch, place.table, place.live, place.line = epoch, self.names.table(topic, epoch), True, where

    def _gap(self, fields, where) -> None:
        client, topic, epoch, offset, reason = fields[2:7]
        offset = int(offset)
        place = self.places.get((client, topic))
        if place is None or not place.live:
            self.report.violation("I3", f"client {client} got a gap of {topic} without being subscribed", where)
            return
        if epoch == place.epoch and offset < place.offset:
            self.report.violation(
                "I3", f"client {client}: a gap back to {topic} {offset} from {place.offset}", where)
            return
        self._signalled(place, epoch, offset, reason)
        if epoch != place.epoch:
            place.promised = offset
        place.epoch, place.offset, place.table = epoch, offset, self.names.table(topic, epoch)
        place.fresh = False

    def _place(self, client: str, topic: str) -> Place:
        place = self.places.get((client, topic))
        if place is None:
            place = self.places[client, topic] = Place()
            self.by_client.setdefault(client, []).append(place)
        return place

    def _joined(self, fields, where) -> None:
        client, topic, since_epoch, since_offset = fields[2:6]
        place = self._place(client, topic)
        place.fresh = since_epoch == "-"
        if not place.fresh and (since_epoch, int(since_offset)) != (place.epoch, place.offset):
            self.report.violation(
                "rig", f"client {client} was at {topic} {place.epoch} {place.offset} and asked for another", where)
        self.report.counts["rejoined without position" if place.fresh and place.epoch else "joined"] += 1
        place.live, place.promised, place.line = True, 0, where

    def _placed(self, fields, where) -> None:
        client, topic, epoch, text = fields[2:6]
        offset, place = int(text), self.places.get((client, topic))
        if place is None or not place.live:
            self.report.violation("I3", f"client {client} got an event of {topic} without being subscribed", where)
            return
        self.report.counts["delivered"] += 1
        missing = offset - place.offset - 1
        if epoch != place.epoch:
            if not place.fresh:
                self.report.violation("I3", f"silent reset: client {client} at {topic} {place.epoch} {place.offset} "
                                      f"got {epoch} {offset}", where)
        elif missing < 0:
            self.report.counts["duplicates"] += 1
            self.report.violation(
                "I3", f"client {client} got {topic} {offset} again or too late: it was at {place.offset}", where)
            return
        elif place.fresh:
            self.report.counts["missed while away"] += missing
        elif missing > 0:
            self.report.counts["missing"] += missing
            self.report.violation(
                "I3", f"silent hole: client {client} at {topic} {epoch} {place.offset} got {offset}", where)
        place.epoch, place.offset, place.fresh = epoch, offset, False
        place.table = self.names.table(topic, epoch)
        self.names.name(topic, epoch, offset, " ".join(fields[6:9]), int(fields[0]), where)

    def _signalled(self, place: Place, epoch: str, offset: int, reason: str) -> None:
        self.report.holes[reason] += 1
        if epoch != place.epoch:
            self.report.counts["resets"] += 1
        else:
            self.report.counts["signalled missing"] += max(0, offset - place.offset)
