"""Fifty users who write, read, block, leave and are erased, and a model of what each of them must see.

The model keeps messages, marks, members and blocks, and counts everything else anew whenever it is asked.
"""

from dataclasses import dataclass, field

UNREAD_MAX = 500


@dataclass
class Message:
    id: str
    sender: str
    text: str
    ms: int


@dataclass
class Place:
    """A direct conversation or a group."""

    members: dict = field(default_factory=dict)  # user -> {"since": ms, "read": ms}
    title: str = ""
    creator: str = ""
    is_group: bool = False
    barred: set = field(default_factory=set)
    messages: list = field(default_factory=list)
    last: int = 0


@dataclass
class Town:
    """What is so in the end, whatever the order in which the worker does its part."""

    places: dict = field(default_factory=dict)
    blocks: set = field(default_factory=set)
    mutes: set = field(default_factory=set)

    # What users do

    def pair(self, one, other):
        id = "_".join(sorted((one, other), key=str.encode))
        if id not in self.places:
            self.places[id] = Place(members={user: {"since": 0, "read": 0} for user in (one, other)})
        return id

    def is_shut(self, id):
        """Whether one of the two of a direct conversation blocks the other."""
        one, other = id.split("_")
        return (one, other) in self.blocks or (other, one) in self.blocks

    def walled(self, id, user):
        return {other for other in self.places[id].members
                if (user, other) in self.blocks or (other, user) in self.blocks}

    def group(self, id, creator, members, title, now_ms):
        place = Place(creator=creator, is_group=True, title=title, last=now_ms)
        for user in sorted({creator, *members}):
            if (user, creator) not in self.blocks:
                place.members[user] = {"since": now_ms, "read": 0}
        self.places[id] = place

    def send(self, id, user, message_id, text, now_ms):
        place = self.places[id]
        if not place.is_group:
            for other in id.split("_"):
                place.members.setdefault(other, {"since": place.last, "read": 0})
        since = max(member["since"] for member in place.members.values())
        place.last = max(now_ms, place.last + 1, since + 1)
        place.messages.append(Message(message_id, user, text, place.last))

    def read(self, id, user, ms):
        member = self.places[id].members[user]
        member["read"] = max(member["read"], ms)

    def add(self, id, by, user, now_ms):
        place = self.places[id]
        place.barred.discard(user)
        if user not in place.members and (user, by) not in self.blocks:
            place.members[user] = {"since": max(now_ms, place.last), "read": 0}

    def take_out(self, id, by, user):
        place = self.places[id]
        del place.members[user]
        if by == place.creator and by != user:
            place.barred.add(user)

    def erase(self, user):
        self.blocks = {pair for pair in self.blocks if pair[0] != user}
        self.mutes = {pair for pair in self.mutes if user not in pair}
        for id, place in list(self.places.items()):
            place.messages = [message for message in place.messages if message.sender != user]
            was_member = place.members.pop(user, None)
            if not place.messages and (not place.members or was_member and not place.is_group):
                del self.places[id]
            elif place.creator == user:
                eldest = sorted(place.members, key=lambda one: (place.members[one]["since"], one))
                place.creator = eldest[0] if eldest else ""

    # What they see

    def window(self, id):
        """The messages that count, newest first."""
        return self.places[id].messages[:-UNREAD_MAX - 1:-1]

    def item(self, id, user):
        """What the user's list says of a conversation; the time is None where no message is shown."""
        place, walled = self.places[id], self.walled(id, user)
        visible = [one for one in self.window(id) if one.sender not in walled]
        member = place.members[user]
        mark = max(member["read"], member["since"])
        newest = visible[0] if visible else None
        return {
            "unread": sum(one.ms > mark and one.sender != user for one in visible),
            "lastMessageId": newest and newest.id, "lastMessage": newest and newest.text,
            "lastSenderId": newest and newest.sender, "lastMessageTimeMs": newest and newest.ms, "title": place.title,
            "members": sorted(place.members) if place.is_group else id.split("_"),
            "muted": bool(newest) and (user, newest.sender) in self.mutes,
        }

    def list(self, user):
        """The user's list, by the conversations' ids."""
        return {id: self.item(id, user) for id, place in self.places.items() if user in place.members}

    def page(self, id, user):
        walled = self.walled(id, user)
        return [(one.id, one.sender, one.text, one.ms) for one in reversed(self.places[id].messages)
                if one.sender not in walled]
