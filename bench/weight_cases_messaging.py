"""The scripts of people and messaging at their limits."""

import json

from Fixtures.scripts.chats import Joins
from Fixtures.scripts.lua_scripts import NOW_MS
from weight_cases import CASES, case
from weight_site import kept

MEMBERS, KEPT = 50, 10_000
GROUP = "group-1"
PAIR = "ann_bob"
PEOPLE = 240
LISTED = 1_000


def member(number):
    return f"user-{number:03}-{'m' * 19}"  # as long as the ids that common issuers give


@kept
def blocks(site, count=PEOPLE):
    for key in ("user:ann#blocks", "user:ann#mutes"):
        site.db.sadd(key, *(f"user-{n:04}-{'b' * 100}" for n in range(count)))


# People


def changing(name, count, other):
    """Somebody whose lists have so many names changes one of them."""
    def fill(site):
        blocks(site, count)
        return lambda n: site.commands.call(name, userId="ann", other=other.format(n))[0]
    CASES[name] = fill


for one in ("block", "mute"):
    changing(one, PEOPLE - 100, "new-{}")
for one in ("unblock", "unmute"):
    changing(one, PEOPLE, "user-{:04}-" + "b" * 100)


@case
def blocks_(site):
    blocks(site)
    return lambda n: site.commands.blocks(userId="ann")


@case
def mutes(site):
    blocks(site)
    return lambda n: site.commands.mutes(userId="ann")


@case
def blocked_by(site):
    site.fill(lambda pipe, n: pipe.sadd("user:ann#blockers", f"u{n}"), 9_000)
    return lambda n: site.commands.blocked_by(role="worker", userId="ann", byId=f"new-{n}", blocked=True)


@case
def muted_by(site):
    site.fill(lambda pipe, n: pipe.sadd("user:ann#muters", f"u{n}"), 9_000)
    return lambda n: site.commands.muted_by(role="worker", userId="ann", byId=f"new-{n}", muted=True)


@case
def pair_blocked(site):
    return lambda n: site.commands.pair_blocked(role="worker", pairId=PAIR, byId="ann", blocked=n % 2 == 0)


@case
def erase_people(site):
    def call(n):
        blocks(site)
        site.db.delete("#outbox")
        site.db.config_resetstat()
        return site.commands.erase_people(role="worker", userId="ann")
    return call


@case
def forget_muted(site):
    blocks(site)
    return lambda n: site.commands.forget_muted(role="worker", userId="ann", other=f"user-{n:04}-{'b' * 100}")


@case
def export_people(site):
    blocks(site)
    return lambda n: site.commands.export_people(userId="ann")


# Conversations


@kept
def conversation(site, text="x" * 400, everybody_read=True):
    """A group with all its members and messages; half a message back everybody has read everything."""
    key, last = f"conversation:{GROUP}", NOW_MS - 1
    mark = last if everybody_read else 1
    site.db.hset(f"{key}#roll", mapping={member(n): f"1 {mark} {mark} 0 1" for n in range(MEMBERS)})
    site.db.hset(f"{key}#online", mapping={member(n): f"1 {last}" for n in range(MEMBERS)})
    site.db.hset(f"{key}#facts", mapping={"title": "t" * 100, "creator": member(0), "last": last})

    def put(pipe, n):
        sender, ms = member(n % MEMBERS), last - KEPT + n + 1
        pipe.hset(f"{key}#messages", f"message-{n:05}", json.dumps({"s": sender, "t": text, "m": ms}))
        pipe.zadd(f"{key}#order", {f"{sender} message-{n:05}": ms})
    site.fill(put, KEPT)


def fresh(site, call):
    """The call with an empty outbox, which a worker would have emptied."""
    def run(n):
        site.db.delete("#outbox")
        site.db.config_resetstat()
        return call(n)
    return run


@case
def send_message(site):
    conversation(site)
    return fresh(site, lambda n: site.commands.send_message(
        conversationId=GROUP, userId=member(0), messageId=f"new-{n}", text="ä" * 2_000))


@case
def messages(site):
    conversation(site)
    return lambda n: site.commands.messages(conversationId=GROUP, userId=member(0), limit=100)


@case
def messages_walls(site):
    """All members have blocked each other, and nothing is left to tell."""
    conversation(site)
    everybody = " ".join(member(n) for n in range(1, MEMBERS))
    site.db.hset(f"conversation:{GROUP}#walls", mapping={f">{member(0)}": everybody, f"<{member(0)}": everybody})
    return lambda n: site.commands.messages(conversationId=GROUP, userId=member(0), limit=100)


@case
def join_conversation(site):
    conversation(site)
    joins = Joins(site.commands)
    return lambda n: joins.state(GROUP, member(0))


@case
def modify_message(site):
    conversation(site)
    return fresh(site, lambda n: site.commands.modify_message(
        conversationId=GROUP, userId=member(49), messageId="message-09999", text=f"{n:04}" * 500))


@case
def remove_message(site):
    conversation(site)
    return fresh(site, lambda n: site.commands.remove_message(
        conversationId=GROUP, userId=member((9_999 - n) % 50), messageId=f"message-{9_999 - n:05}"))


@case
def delivered(site):
    conversation(site, everybody_read=False)
    return lambda n: site.commands.delivered(conversationId=GROUP, userId=member(0), upTo=f"message-{n + 100:05}")


@case
def read(site):
    conversation(site, everybody_read=False)
    return fresh(site, lambda n: site.commands.read(
        conversationId=GROUP, userId=member(0), upTo=f"message-{n + 100:05}"))


@case
def typing(site):
    conversation(site)
    return lambda n: site.commands.typing(conversationId=GROUP, userId=member(0))


@case
def create_conversation(site):
    return fresh(site, lambda n: site.commands.create_conversation(
        userId=member(0), members=[member(n) for n in range(1, MEMBERS)], title="t" * 100))


@case
def open_conversation(site):
    return fresh(site, lambda n: site.commands.open_conversation(
        role="worker", conversationId=f"group-{n}", userId=member(0), members=sorted(member(n) for n in range(MEMBERS)),
        title="t" * 100, created=site.commands.now_ms))


@case
def add_member(site):
    conversation(site)

    def call(n):
        for key in (f"conversation:{GROUP}#roll", f"conversation:{GROUP}#online"):
            site.db.hdel(key, member(49), f"new-{n - 1}")
        return fresh(site, lambda n: site.commands.add_member(
            conversationId=GROUP, userId=member(0), memberId=f"new-{n}"))(n)
    return call


@case
def remove_member(site):
    conversation(site)

    def call(n):
        site.db.hset(f"conversation:{GROUP}#roll", member(49), "1 0 0 0 1")
        return fresh(site, lambda n: site.commands.remove_member(
            conversationId=GROUP, userId=member(0), memberId=member(49)))(n)
    return call


@case
def rename_conversation(site):
    conversation(site)
    return fresh(site, lambda n: site.commands.rename_conversation(conversationId=GROUP, userId=member(0), title=n))


@case
def delete_conversation(site):
    def call(n):
        site.db.hset(f"conversation:{PAIR}#facts", "last", NOW_MS + n)
        return site.commands.delete_conversation(conversationId=PAIR, userId="ann")
    return fresh(site, call)


@case
def end_group(site):
    def call(n):
        site.db.flushdb()
        conversation(site)
        return fresh(site, lambda n: site.commands.end_group(role="worker", conversationId=GROUP))(n)
    return call


@case
def list_again(site):
    conversation(site)
    return fresh(site, lambda n: site.commands.list_again(role="worker", conversationId=GROUP, userId=member(0)))


@case
def change_walls(site):
    conversation(site)
    people = [member(n) for n in range(1, MEMBERS)]
    return lambda n: site.commands.change_walls(
        role="worker", conversationId=GROUP, userId=member(0), blocks=people if n % 2 else [],
        version=NOW_MS * 1_000 + n)


@case
def pair_refresh(site):
    key = f"conversation:{PAIR}"

    def put(pipe, n):
        pipe.hset(f"{key}#messages", f"m{n}", json.dumps({"s": "bob", "t": "x" * 400, "m": n + 1}))
        pipe.zadd(f"{key}#order", {f"bob m{n}": n + 1})
    site.fill(put, KEPT)
    site.db.hset(f"{key}#roll", mapping={"ann": "0 0 0 500 1", "bob": "0 0 0 0 1"})
    site.db.hset(f"{key}#facts", "last", KEPT)

    def call(n):
        (site.db.sadd if n % 2 else site.db.srem)(f"pair:{PAIR}#blocks", "ann")
        return fresh(site, lambda n: site.commands.pair_refresh(conversationId=PAIR, token=n + 1))(n)
    return call


def told(site, topic, text, count=1_000):
    """A log of full length."""
    def put(pipe, n):
        pipe.xadd(f"{topic}#log", {"e": "message:added", "d": text(n), "i": "-", "t": str(NOW_MS + n * 1_000)},
                  id=f"{n + 1}-0")
    site.fill(put, count)


@case
def cut_log(site):
    told(site, f"conversation:{GROUP}", lambda n: f'{{"id":"m{n}","conversationId":"{GROUP}","text":"{"x" * 600}"}}')
    return fresh(site, lambda n: site.commands.cut_log(
        role="worker", conversationId=GROUP, messageId=f"other-{n}", at=NOW_MS + n * 1_000))


@case
def forgotten_refresh(site):
    told(site, "user:ann", lambda n: f'{{"id":"{GROUP}","lastSenderId":"u{n}","lastMessage":"{"x" * 400}"}}')

    def call(n):
        site.db.zadd("user:ann#forgotten", {f"gone-{number}": 0 for number in range(20)})
        return site.commands.forgotten_refresh(userId="ann", token=n + 1)
    return call


@case
def forget_preview(site):
    told(site, "user:ann", lambda n: "{}", 1)
    return lambda n: site.commands.forget_preview(role="worker", userId="ann", messageId=f"m{n}")


@case
def show_presence(site):
    conversation(site)
    return lambda n: site.commands.show_presence(
        role="worker", conversationId=GROUP, userId=member(0), online=n % 2 == 0, at=NOW_MS + n)


@case
def erase_member(site):
    conversation(site)
    return fresh(site, lambda n: site.commands.erase_member(role="worker", conversationId=GROUP, userId=member(n)))


# Lists


@kept
def lists(site):
    """A full list, mostly of full groups."""
    members = [member(n) for n in range(MEMBERS)]

    def put(pipe, n):
        id = f"group-{n:04}-{'g' * 26}"
        chat = {"m": members, "t": "t" * 100, "x": "x" * 400, "i": f"m{n}", "s": member(1), "l": NOW_MS - n, "u": 3,
                "w": n % 5 != 0}
        pipe.hset("user:ann#chats", id, json.dumps(chat))
        pipe.zadd("user:ann#chat_order", {f"{NOW_MS - n:015} {id}": 0})
        pipe.zadd("user:ann#spoken" if n % 5 else "user:ann#strangers", {id if n % 5 else f"{NOW_MS - n:015} {id}": 0})
        pipe.sadd("user:ann#groups", id) if n < 200 else None
    site.fill(put, LISTED)
    blocks(site)


@case
def conversations(site):
    lists(site)
    return lambda n: site.commands.conversations(userId="ann")


@case
def list_conversation(site):
    """A group that is new to a user who has no room for it, and leaves another."""
    lists(site)
    return fresh(site, lambda n: site.commands.list_conversation(
        role="worker", userId="ann", conversationId=f"new-{n}", unread=3, lastText="x" * 400, lastId=f"m{n}",
        lastSenderId=member(1), lastMs=NOW_MS + n, members=[member(n) for n in range(MEMBERS)], title="t" * 100,
        by=member(1)))


@case
def walls_refresh(site):
    lists(site)
    numbers = iter(range(1, 10_000))

    def call(n):
        site.db.delete("user:ann#walled")
        return fresh(site, lambda n: site.commands.walls_refresh(userId="ann", token=next(numbers)))(n)
    return call


@case
def beat_chats(site):
    lists(site)

    def call(n):
        site.db.delete("user:ann#shown")
        return fresh(site, lambda n: site.commands.beat_chats(
            role="worker", userId="ann", now_ms=NOW_MS + 20_000 * n))(n)
    return call


@case
def seen_refresh(site):
    lists(site)

    def call(n):
        site.db.set("user:ann#shown", 1)
        site.db.set("user:ann#awake", NOW_MS)
        return fresh(site, lambda n: site.commands.seen_refresh(userId="ann", token=n + 1, now_ms=NOW_MS + 70_000))(n)
    return call


@case
def erase_chats(site):
    def call(n):
        lists(site)
        return fresh(site, lambda n: site.commands.erase_chats(role="worker", userId="ann"))(n)
    return call


@case
def export_chats(site):
    lists(site)
    return lambda n: site.commands.export_chats(userId="ann")
