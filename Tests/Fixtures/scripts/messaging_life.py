"""Random days of a town: each step is made by the scripts and by the model, and both must agree."""

import json

from Fixtures.scripts.chats import Chats
from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.messaging_town import Town

WORDS = {"send": 400, "read": 160, "modify": 45, "remove": 45, "block": 30, "unblock": 28, "mute": 8, "unmute": 6,
         "create": 6, "add": 20, "leave": 8, "take_out": 10, "erase": 4, "sync": 60, "delivered": 20}
GROUPS = 14
FRIENDS = 6
DEVICES = 3
CROWD_SHARE = 0.15
LATE_SHARE = 0.4
PLAIN = ("unread", "lastMessageId", "lastMessage", "lastSenderId", "title", "members", "muted")


class ListDevice:
    """One device's picture of a user's list: read once, then moved by events; read again where events are missing."""

    def __init__(self):
        self.offset, self.picture = None, {}

    def sync(self, chats, user):
        events, last, has_gap = chats.log_after(f"user:{user}", self.offset or 0)
        if self.offset is None or has_gap:
            self.picture = {item["id"]: item for item in chats.list(user)}
        else:
            for event, data in events:
                self.hear(event, data)
        self.offset = last

    def hear(self, event, data):
        if event == "conversation:updated":
            self.picture[data["id"]] = {**self.picture.get(data["id"], {}), **data}
        elif event == "conversation:removed":
            self.picture.pop(data["id"], None)
        elif event == "data:erased":
            self.picture = {}


class Life:
    """The history of a town, step by step. `differences` counts what scripts and model do not agree on."""

    def __init__(self, commands, rng, users=50):
        self.commands, self.rng, self.chats, self.town = commands, rng, Chats(commands), Town()
        self.users = [f"u{number:02}" for number in range(users)]
        self.friends = {user: rng.sample([one for one in self.users if one != user], FRIENDS) for user in self.users}
        self.devices = {user: [ListDevice() for _ in range(DEVICES)] for user in self.users}
        self.serial, self.done, self.differences = 0, {}, []
        self.late = set()  # direct conversations that are still to be counted anew after a block or its end
        for _ in range(GROUPS):
            self.create(None, rng.choice(self.users))

    # Steps

    def step(self):
        self.commands.now_ms += self.rng.choice([0, 0, 1, 20, 1_000, -500])
        word = self.rng.choices(list(WORDS), WORDS.values())[0]
        user = self.rng.choice(self.users)
        places = [id for id, place in self.town.places.items() if user in place.members]
        groups = [id for id in places if self.town.places[id].is_group]
        if self.late and self.rng.random() < 0.2:
            self.count_late(self.rng.choice(sorted(self.late)))
        if self.late and self.rng.random() < LATE_SHARE:
            place = self.rng.choice(sorted(self.late))
            user = self.rng.choice(self.town.pair(*place.split("_")).split("_"))
        elif self.rng.random() < CROWD_SHARE and (crowd := self.crowd()):
            place, user = crowd, self.rng.choice(sorted(self.town.places[crowd].members))
        elif self.rng.random() < 0.5 and groups:
            place = self.rng.choice(groups)
        else:
            place = self.town.pair(user, self.rng.choice(self.friends[user]))
        if getattr(self, word)(place, user) is not False:
            self.done[word] = self.done.get(word, 0) + 1
            self.check_one(place)

    def crowd(self):
        """The group of the most messages: there some are behind the newest that are counted."""
        sizes = {id: len(place.messages) for id, place in self.town.places.items() if place.is_group and place.members}
        return max(sizes, key=lambda id: (sizes[id], id), default=None)

    def do(self, name, user, place=None, **arguments):
        return self.chats.do(name, user, place, **arguments)

    def send(self, place, user):
        self.serial += 1
        id, text = f"m{self.serial}", self.rng.choice(["hi", "ü", "x" * 30, '"\\'])
        try:
            self.do("send_message", user, place, messageId=id, text=text)
        except Failed as failure:
            assert failure.code == "blocked" and self.town.is_shut(place), failure
            return False
        assert self.town.places[place].is_group or not self.town.is_shut(place)
        self.town.send(place, user, id, text, self.commands.now_ms)

    def chosen(self, place, user=None):
        """A message, mostly one of the newest."""
        found = [one for one in self.town.places[place].messages if user in (None, one.sender)]
        return found and (self.rng.choice(found[-4:]) if self.rng.random() < 0.7 else self.rng.choice(found))

    def read(self, place, user, status="read"):
        message = self.chosen(place)
        if not message or user not in self.town.places[place].members:
            return False
        self.do(status, user, place, upTo=self.rng.choice([message.id, str(message.ms)]))
        if status == "read":
            self.town.read(place, user, message.ms)

    def delivered(self, place, user):
        return self.read(place, user, "delivered")

    def modify(self, place, user):
        message = self.chosen(place, user)
        if not message or not self.town.places[place].is_group and self.town.is_shut(place):
            return False
        self.serial += 1
        message.text = f"changed {self.serial}"
        self.do("modify_message", user, place, messageId=message.id, text=message.text)

    def remove(self, place, user):
        message = self.chosen(place, user)
        if not message:
            return False
        self.do("remove_message", user, place, messageId=message.id)
        self.town.places[place].messages.remove(message)

    def block(self, place, user, word="block"):
        pairs = self.town.blocks if word in ("block", "unblock") else self.town.mutes
        mine = sorted(other for one, other in pairs if one == user)
        near = [*self.friends[user], *(one for one in self.town.places[place].members if one != user)]
        if word.startswith("un") and not mine:
            return False
        other = self.rng.choice(mine if word.startswith("un") else near)
        self.do(word, user, other=other)
        (pairs.discard if word.startswith("un") else pairs.add)((user, other))
        self.carry(user, other)

    def unblock(self, place, user):
        return self.block(place, user, "unblock")

    def mute(self, place, user):
        return self.block(place, user, "mute")

    def unmute(self, place, user):
        return self.block(place, user, "unmute")

    def carry(self, user, *others):
        """The refreshes that a change of the user's blocks leads to."""
        while not self.chats.refresh("walls_refresh", user)["idle"]:
            pass
        for other in others:
            pair = "_".join(sorted((user, other), key=str.encode))
            self.late.add(pair)
            if self.rng.random() < 0.5:
                self.count_late(pair)

    def count_late(self, pair):
        """The refresh that the worker runs up to a second after the block."""
        self.chats.refresh("pair_refresh", conversationId=pair)
        self.late.discard(pair)

    def create(self, place, user):
        members = self.rng.sample(self.users, self.rng.randint(2, 9))
        title = f"title {self.serial}"
        id = self.chats.commands.call("create_conversation", user=user, role="user",
                                      members=members, title=title, random=f"{self.rng.getrandbits(128):032x}")[0]["id"]
        self.chats.commands.relay()
        self.town.group(id, user, members, title, self.commands.now_ms)

    def add(self, place, user):
        group, other = self.town.places[place], self.rng.choice(self.users)
        if not group.is_group:
            return False
        try:
            self.do("add_member", user, place, memberId=other)
        except Failed as failure:
            assert failure.code == "forbidden" and other in group.barred and user != group.creator, failure
            return None
        assert other not in group.barred or user == group.creator, "whom the maker took out stays out"
        self.town.add(place, user, other, self.commands.now_ms)

    def take_out(self, place, user):
        group = self.town.places[place]
        others = sorted(one for one in group.members if one != user)
        if not group.is_group or not others:
            return False
        other = self.rng.choice(others)
        try:
            self.do("remove_member", user, place, memberId=other)
        except Failed as failure:
            assert failure.code == "forbidden" and user != group.creator, failure
            return None
        self.town.take_out(place, user, other)

    def leave(self, place, user):
        if not self.town.places[place].is_group:
            return False
        self.do("remove_member", user, place, memberId=user)
        self.town.take_out(place, user, user)

    def erase(self, place, user):
        blocked = [other for one, other in self.town.blocks if one == user]
        for name in ("erase_chats", "erase_people"):
            self.chats.commands.call(name, role="worker", userId=user)
            self.chats.commands.relay()
        self.carry(user, *blocked)
        for key in self.commands.db.keys("user:*#forgotten"):
            other = key.decode().split("#")[0].removeprefix("user:")
            while not self.chats.refresh("forgotten_refresh", other)["idle"]:
                pass
        self.town.erase(user)
        self.commands.now_ms += 60_000  # words from before an erasure are known by the clock

    # What must be so

    def sync(self, place, user):
        """A device comes back, takes the events that it missed, and shows what the list is."""
        device = self.rng.choice(self.devices[user])
        device.sync(self.chats, user)
        self.compare("device", user, device.picture, self.listed(user))

    def listed(self, user):
        """The model's list, without conversations that nothing is stored of."""
        return {id: item for id, item in self.town.list(user).items() if self.is_kept(id)}

    def is_kept(self, id):
        return self.town.places[id].is_group or self.town.places[id].last > 0

    def compare(self, what, user, found, expected):
        names = [name for name in PLAIN if not (what == "device" and name == "muted")]
        for id in sorted({*found, *expected}):
            if id in self.late:
                continue
            one, other = found.get(id), expected.get(id)
            same = one is not None and other is not None and all(one.get(name) == other[name] for name in names) and (
                other["lastMessageTimeMs"] is None or one["lastMessageTimeMs"] == other["lastMessageTimeMs"])
            if not same:
                self.differences.append((what, user, id, one, other))

    def check_one(self, place):
        """What one member's list has stored of the place in which something happened, and the badge's part of it."""
        is_exact = place in self.town.places and place not in self.late
        users = sorted(self.town.places[place].members) if is_exact else []
        for user in self.rng.sample(users, min(2, len(users))):
            expected = self.town.item(place, user) if self.is_kept(place) else None
            text = self.commands.db.hget(f"user:{user}#chats", place)
            if (text is None) != (expected is None):
                self.differences.append(("stored", user, place, text, expected))
            elif text is not None:
                chat = json.loads(text)
                badge = int(self.commands.db.hget(f"user:{user}#chat_unread", place) or 0)
                counts = (chat["u"], badge, chat.get("i"), chat["x"] or None)
                wanted = (expected["unread"], expected["unread"], expected["lastMessageId"], expected["lastMessage"])
                if counts != wanted:
                    self.differences.append(("stored", user, place, counts, wanted))

    def check_all(self):
        """Every list by its pages, every badge, and the pages and the state's count of some conversations."""
        for pair in sorted(self.late):
            self.count_late(pair)
        for user in self.users:
            expected = self.listed(user)
            found = {item["id"]: item for item in self.chats.list(user)}
            self.compare("list", user, found, expected)
            badge = sum(map(int, self.commands.db.hvals(f"user:{user}#chat_unread")))
            if badge != sum(item["unread"] for item in expected.values()):
                self.differences.append(("badge", user, None, badge, expected))
            for id in self.rng.sample(sorted(expected), min(2, len(expected))):
                page = [(one["id"], one["senderId"], one["text"], one["timestampMs"])
                        for one in self.chats.all(user, id, 100)]
                if page != self.town.page(id, user):
                    self.differences.append(("page", user, id, page[:3], self.town.page(id, user)[:3]))
