"""Random lives of conversations: after each step pages, lists and every device's picture are the model's."""

import os

import pytest

from Fixtures.scripts.chats import Chats, Device, MessagingCommands, plain
from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS
from Fixtures.scripts.messaging_life import Life as TownLife
from Fixtures.scripts.messaging_life import WORDS as TOWN_WORDS
from Fixtures.seeds import lives

USERS = ["ann", "bob", "cat"]
PAIRS = ["ann_bob", "ann_cat", "bob_cat"]
STEPS = 120
POLICY = {"log_max": 5_000, "log_ttl_s": 3_600, "meta_ttl_s": 90_000}
WORDS = {"send": 40, "again": 6, "modify": 6, "remove": 5, "delivered": 8, "read": 12, "block": 3, "unblock": 4}


@pytest.fixture
def commands(db):
    return MessagingCommands(db)


class Model:
    """Messages by conversation, marks, and who blocks whom; everything else is counted anew whenever asked."""

    def __init__(self, group):
        self.group = group
        self.messages = {place: [] for place in [*PAIRS, group]}
        self.marks = {}
        self.blocks = set()
        self.last = {place: 0 for place in self.messages}

    def members(self, place):
        return USERS if place == self.group else place.split("_")

    def walled(self, place, user):
        return {other for other in self.members(place)
                if (user, other) in self.blocks or (other, user) in self.blocks}

    def mark(self, place, user, status):
        return self.marks.get((place, user, status), 0)

    def find(self, place, id):
        return next((one for one in self.messages[place] if one["id"] == id), None)

    def send(self, place, user, id, text, now_ms):
        ms = max(now_ms, self.last[place] + 1)
        self.last[place] = ms
        self.messages[place].append({"id": id, "sender": user, "text": text, "ms": ms})

    def move(self, place, user, status, ms):
        ms = min(ms, self.last[place])
        if ms > self.mark(place, user, status):
            self.marks[place, user, status] = ms
            if status == "read":
                self.marks[place, user, "delivered"] = max(ms, self.mark(place, user, "delivered"))

    def told(self, place, viewer, message):
        others = [one for one in self.members(place)
                  if one != message["sender"] and one not in self.walled(place, viewer)]
        readers = sorted(one for one in others if self.mark(place, one, "read") >= message["ms"])
        has = any(self.mark(place, one, "delivered") >= message["ms"] for one in others)
        return (message["id"], message["sender"], message["text"], message["ms"],
                "read" if readers else "delivered" if has else "sent", readers)

    def page(self, place, viewer):
        """What the viewer sees, newest first."""
        walled = self.walled(place, viewer)
        return [self.told(place, viewer, one) for one in reversed(self.messages[place]) if one["sender"] not in walled]


def seen(messages):
    return [(one["id"], one["senderId"], one["text"], one["timestampMs"], one["status"], one["readBy"])
            for one in map(plain, messages)]


class Life:
    """One random history; each step is made by script and by model."""

    def __init__(self, commands, rng):
        self.commands, self.rng, self.chats = commands, rng, Chats(commands)
        group = self.chats.group("ann", "bob", "cat")
        self.model = Model(group)
        self.now_ms = NOW_MS
        self.model.last[group] = NOW_MS
        self.devices = {}
        self.heard = {}
        self.serial = 0

    def step(self):
        self.now_ms += self.rng.choice([0, 0, 1, 1_000, -500])
        self.commands.now_ms = self.now_ms
        word = self.rng.choices(list(WORDS), WORDS.values())[0]
        place = self.rng.choice([*PAIRS, self.model.group, self.model.group])
        user = self.rng.choice(self.model.members(place))
        getattr(self, word)(place, user)
        return word

    def do(self, name, user, place=None, **arguments):
        return self.chats.do(name, user, place, policy=POLICY, **arguments)

    def blocked(self, place, user):
        return place != self.model.group and bool(self.model.walled(place, user))

    def send(self, place, user):
        self.serial += 1
        id, text = f"m{self.serial}", self.rng.choice(["hi", "ü", "x" * 300, '"\\'])
        if self.blocked(place, user):
            with pytest.raises(Failed, match="blocked"):
                self.do("send_message", user, place, messageId=id, text=text)
            return
        for _ in range(self.rng.choice([1, 1, 2])):
            answer = self.do("send_message", user, place, messageId=id, text=text)
            self.now_ms += 1
            if not self.model.find(place, id):
                self.model.send(place, user, id, text, self.commands.now_ms)
            assert answer["timestampMs"] == self.model.last[place]

    def choose(self, place):
        return self.rng.choice(self.model.messages[place]) if self.model.messages[place] else None

    def again(self, place, user):
        """A retry that comes late."""
        message = self.choose(place)
        if message:
            answer = self.do("send_message", message["sender"], place, messageId=message["id"], text="late")
            assert (answer["text"], answer["timestampMs"]) == (message["text"], message["ms"])

    def modify(self, place, user):
        message, text = self.choose(place), f"changed {self.serial}"
        if not message:
            return
        if message["sender"] == user and not self.blocked(place, user):
            self.do("modify_message", user, place, messageId=message["id"], text=text)
            message["text"] = text
        else:
            with pytest.raises(Failed, match="forbidden|not_found|blocked"):
                self.do("modify_message", user, place, messageId=message["id"], text=text)

    def remove(self, place, user):
        message = self.choose(place)
        if message and message["sender"] == user:
            self.do("remove_message", user, place, messageId=message["id"])
            if self.blocked(place, user):
                # The sender's devices are told on the topic of the user; all others hear nothing.
                assert self.chats.told.pop() == (f"user:{user}", "messages:changed", {"conversationId": place})
                self.devices.pop((place, user), None)
            self.model.messages[place].remove(message)

    def delivered(self, place, user, status="delivered"):
        message = self.choose(place)
        if message:
            old = self.model.mark(place, user, status)
            answer = self.do(status, user, place, upTo=self.rng.choice([message["id"], str(message["ms"])]))
            self.model.move(place, user, status, message["ms"])
            assert answer["upToMs"] == self.model.mark(place, user, status) >= old, "a mark never goes back"

    def read(self, place, user):
        self.delivered(place, user, "read")

    def block(self, place, user, word="block"):
        other = self.rng.choice([one for one in USERS if one != user])
        self.chats.block(user, other, word)
        (self.model.blocks.add if word == "block" else self.model.blocks.discard)((user, other))
        self.devices = {}

    def unblock(self, place, user):
        self.block(place, user, "unblock")

    def check(self):
        for place in self.model.messages:
            new, self.heard[place], has_gap = self.chats.log_after(f"conversation:{place}", self.heard.get(place, 0))
            for user in self.model.members(place):
                expected = self.model.page(place, user)
                assert seen(self.chats.all(user, place, self.rng.choice([3, 50, 100]))) == expected, (place, user)
                device = self.devices.get((place, user)) if not has_gap else None
                if device:
                    for event, data in new:
                        device.hear(event, data)
                if not device or device.stale:
                    # A device that comes, or is told to ask, reads the pages.
                    device = self.devices[place, user] = Device({"messages": self.chats.all(user, place)})
                assert seen(device.picture()) == expected, (place, user, new)


@pytest.mark.parametrize("life", lives(3))
def test_random_lives(commands, rng, life):
    history = Life(commands, rng)
    words = set()
    for number in range(STEPS):
        words.add(history.step())
        if number % 3 == 0:
            history.check()
    history.check()
    assert words == set(WORDS) and sum(map(len, history.model.messages.values())) > 25


def test_random_lives_without_blocks(commands, rng, monkeypatch):
    """Where nobody blocks anybody, the lists are what the conversations are, to the last count."""
    monkeypatch.setitem(WORDS, "block", 0)
    monkeypatch.setitem(WORDS, "unblock", 0)
    history = Life(commands, rng)
    for _ in range(STEPS):
        history.step()
        for user in USERS:
            listed = {item["id"]: item for item in history.chats.list(user, 2)}
            for place in history.model.messages:
                if user not in history.model.members(place) or place not in listed:
                    continue
                visible, mark = history.model.page(place, user), history.model.mark(place, user, "read")
                newest = visible[0][:3] if visible else (None, None, None)
                item = listed[place]
                assert (item["lastMessageId"], item["lastSenderId"], item["lastMessage"]) == newest, (place, user)
                assert item["unread"] == sum(one[3] > mark and one[1] != user for one in visible), (place, user)
    history.check()


# A town of fifty users: the count of a list, of the badge and of a conversation is one.

RARE = {"leave", "mute", "unmute", "create"}
TOWN_STEPS = int(os.environ.get("MESSAGING_STEPS", "600"))


def test_lists_badges_and_previews_of_a_town(commands, rng):
    """`MESSAGING_STEPS=100000` is a long history. After blocks and erasures lists counted what nobody could see."""
    life = TownLife(commands, rng)
    for number in range(TOWN_STEPS):
        life.step()
        if number % 300 == 299:
            life.check_all()
        assert life.differences == [], f"step {number}, {life.done}"
    life.check_all()
    assert life.differences == []
    assert set(life.done) >= set(TOWN_WORDS) - RARE
    print(f"{TOWN_STEPS} steps, {len(life.differences)} differences, {sum(life.done.values())} done: {life.done}")
