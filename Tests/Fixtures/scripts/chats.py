"""Conversations for the tests of messaging: what clients ask for, and what a client makes of the events it hears."""

import itertools
import json

import pytest
import redis

from Fixtures.scripts import answers_seen
from Fixtures.scripts.command_scripts import HIDDEN_FROM_JOINS, Commands, Failed, Header
from Fixtures.scripts.lua_scripts import LUA, NOW_MS, needed, script_text


class MessagingCommands(Commands):
    """The scripts of these packs, beside those that all packs share."""

    def __init__(self, db, **options):
        super().__init__(db, LUA / "messaging", LUA / "people", **options)


class Chats:
    """Calls the scripts as clients would; after each call the worker's part is done."""

    def __init__(self, commands):
        self.commands = commands
        self.ids = itertools.count(1)
        self.told = []

    def do(self, name, user, conversation=None, **arguments):
        """One command of a user, and what follows from it."""
        if conversation is not None:
            arguments["conversationId"] = conversation
        role = arguments.pop("role", "user")
        answer = self.commands.call(name, user=user or "", role=role, **arguments)[0]
        self.told += self.commands.relay()
        return answer

    def send(self, user, conversation, text="hello", id=None, **options):
        id = id or f"auto-{next(self.ids)}"
        return self.do("send_message", user, conversation, messageId=id, text=text, **options)

    def group(self, user, *members, title=""):
        return self.do("create_conversation", user, members=list(members), title=title)["id"]

    def page(self, user, conversation, before=None, limit=50):
        return self.do("messages", user, conversation, before=before, limit=limit)

    def all(self, user, conversation, limit=7):
        """All messages by pages, newest first."""
        found, before = [], None
        while True:
            page = self.page(user, conversation, before, limit)
            found += page["messages"]
            before = page["next"]
            if before is None:
                return found

    def list(self, user, limit=50):
        """The user's list by pages."""
        found, before = [], None
        while True:
            page = self.do("conversations", user, before=before, limit=limit)
            found += page["conversations"]
            before = page["next"]
            if before is None:
                return found

    def block(self, user, other, word="block"):
        """Blocks a user, and lets the refresh carry it into groups."""
        self.do(word, user, other=other)
        self.refresh("walls_refresh", user)
        self.refresh("pair_refresh", conversationId="_".join(sorted((user, other), key=str.encode)))

    def refresh(self, name, user=None, **arguments):
        answer = self.commands.call(name, **({"userId": user} if user else {}), **arguments)[0]
        self.told += self.commands.relay()
        return answer

    def log_after(self, topic, offset):
        """The events behind an offset, where the topic stands, and whether some are missing."""
        last = int(self.commands.db.hget(topic + "#meta", "offset") or 0)
        entries = self.commands.db.xrange(topic + "#log", f"{offset + 1}-0")
        offsets = [int(id.split(b"-")[0]) for id, _ in entries]
        events = [(fields[b"e"].decode(), json.loads(fields[b"d"])) for _, fields in entries]
        return events, last, offsets != list(range(offset + 1, last + 1))

    def log(self, conversation):
        return self.commands.log(f"conversation:{conversation}")


class Device:
    """What the app keeps of one conversation: a page, then every event applied as docs/messaging.md says."""

    def __init__(self, page, marks=()):
        self.messages = {message["id"]: dict(message) for message in page["messages"]}
        self.stale = False

    def hear(self, event, data):
        if event in ("message:added", "message:modified"):
            self.messages[data["id"]] = dict(data)
        elif event == "message:removed":
            self.messages.pop(data["id"], None)
        elif event == "messages:changed":
            self.stale = True
        elif event == "messages:erased":
            self.messages = {id: one for id, one in self.messages.items() if one["senderId"] != data["userId"]}
        elif event in ("messages:delivered", "messages:read"):
            for message in self.messages.values():
                self.mark(message, data)

    @staticmethod
    def mark(message, data):
        if message["senderId"] == data["userId"] or not data["afterMs"] < message["timestampMs"] <= data["upToMs"]:
            return
        if data["status"] == "read":
            message["readBy"] = sorted({*message["readBy"], data["userId"]})
            message["status"] = "read"
        elif message["status"] == "sent":
            message["status"] = "delivered"

    def picture(self):
        """The messages, newest first, readers sorted."""
        ordered = sorted(self.messages.values(), key=lambda one: -one["timestampMs"])
        return [plain(message) for message in ordered]


def plain(message):
    """A message whose readers are in one order."""
    return message | {"readBy": sorted(message["readBy"])}


def refused(code, call, *arguments, **options):
    """The sentence with which a call is refused."""
    with pytest.raises(Failed) as failure:
        call(*arguments, **options)
    assert failure.value.code == code, failure.value
    return failure.value.message


def stored(db, conversation, id):
    return json.loads(db.hget(f"conversation:{conversation}#messages", id))


class Joins:
    """A script that decides who joins, in front of subscribe.lua, as the gateway calls them."""

    def __init__(self, commands, name="join_conversation"):
        self.commands = commands
        self.name = name
        self.header = Header.read(commands.path(name))
        self.namespace = self.header.tag("subscribe")
        self.sha = None

    def text(self):
        count = len(self.header.keys)
        generated = ["own_arguments = 4", "now_ms = integer(ARGV[#ARGV - 3], 0, INTEGER_MAX)",
                     "caller = known_as(ARGV[#ARGV - 2], ARGV[#ARGV - 1])", "args = {id = ARGV[#ARGV]}",
                     "readonly = true", f"first_key, last_key = 3, {count + 2}",
                     "key = {" + ", ".join(f"{name} = KEYS[{3 + index}]"
                                           for index, (name, _) in enumerate(self.header.keys)) + "}"]
        parts = [f"part_{name}" for tag, name in self.header.tags if tag == "include"]
        before = ("prelude", "writes", "checks", "values", "command", "run")
        files = {name: script_text(self.commands.path(name)) for name in (*before, "subscribe", self.name, *parts)}
        body = [*(files[part] for part in parts), files[self.name]]
        rest = ["end", "local refused = decide(command)", "if refused then return refused end", files["subscribe"]]
        shared = needed([files[name] for name in before], "\n".join([*generated, *body, *rest]))
        return "\n".join([*shared, *generated, "local function command()",
                          "local " + HIDDEN_FROM_JOINS, *body, *rest])

    def state(self, conversation, user="", role="user"):
        """What a joining client is told; Failed when it may not."""
        topic = f"{self.namespace}:{conversation}"
        own = [template.replace("{id}", conversation) for _, template in self.header.keys]
        keys = [f"{topic}#log", f"{topic}#meta", *own]
        arguments = ["e1", "r" * 40, "", NOW_MS, 300, "", "", "newest", 10, 1_000, 60, 0, NOW_MS, user, role,
                     conversation]
        try:
            self.sha = self.sha or self.commands.db.script_load(self.text())
            *_, state = self.commands.db.evalsha(self.sha, len(keys), *keys, *arguments)
        except redis.ResponseError as error:
            word, _, rest = str(error).partition(" ")
            if word != "FAIL":
                raise
            raise Failed(*rest.split(" ", 1)) from error
        answers_seen.check_state(self.commands.path(self.name), state)
        return state and json.loads(state)


@pytest.fixture
def commands(db):
    return MessagingCommands(db)


@pytest.fixture
def chats(commands):
    return Chats(commands)
