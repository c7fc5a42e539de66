"""QueueUp's scripts at their limits, in the session of queueup_site.py."""

import json

from Fixtures.scripts.chats import Joins
from queueup_site import ID, DAY_MS, MONTH_MS, song, listening, fresh
from weight_cases import CASES, case


def call(site, name, user, **more):
    """A call by a user; random and time are others each time."""
    return lambda n: site.commands.call(name, user=user, role="user", random=fresh(n + 1), **more)[0]


def simple(name, user="u1", **more):
    def fill(site):
        listening(site)
        return call(site, name, user, **more)
    CASES[name] = fill


simple("current_listening")
simple("listening_history", sessionId=ID)
simple("listening_chat")
simple("react", reaction="x" * 16)
simple("say", text="x" * 500)
simple("leave_listening")


@case
def past_listening(site):
    listening(site)
    site.fill(lambda pipe, n: pipe.zadd("user:u1#past", {f"{ID[:-3]}{n:03} code-{n:015}": n + 1}), 50)
    return call(site, "past_listening", "u1")


@case
def note_host(site):
    listening(site)
    return lambda n: site.commands.call("note_host", role="worker", userId="u1", sessionId=ID, leads=True)[0]


@case
def beat_host(site):
    def run(n):
        if n == 0:
            listening(site)
        site.db.delete(f"session:{ID}#host")
        site.db.config_resetstat()
        return site.commands.call("beat_host", role="worker", sessionId=ID, userId="u0")[0]
    return run


@case
def host_refresh(site):
    def run(n):
        if n == 0:
            listening(site)
        site.db.hset(f"session:{ID}#session", mapping={"host": "u0", "host_note": "abc - Ann"})
        site.db.set(f"session:{ID}#host", site.commands.now_ms - 400_000)
        site.db.config_resetstat()
        return site.commands.call("host_refresh", sessionId=ID, token=n + 1)[0]
    return run


simple("spotify_search", q="x" * 200)


@case
def create_listening(site):
    listening(site)

    def run(n):
        site.db.delete("joincode:fresh")
        site.db.hset("user:u1#listening", mapping={"session": ID, "tag": "abc", "code": "party"})
        site.db.config_resetstat()
        return call(site, "create_listening", "u1", joinCode="fresh")(n)
    return run


@case
def open_listening(site):
    site.commands.now_ms += 12 * MONTH_MS

    def run(n):
        return site.commands.open_listening(
            role="worker", sessionId=fresh(n + 1), userId="u1", code="fresh", hostNote="abc - Ann",
            created=site.commands.now_ms, blocks=[f"{n:08}-{'d' * 27}" for n in range(240)])
    return run


@case
def take_listening(site):
    listening(site)
    blocking(site, "u1")
    return lambda n: site.commands.take_listening(
        role="worker", userId="u1", sessionId=fresh(n + 1), tag=f"{site.commands.now_ms + n:x}{'a' * 12}", code="party",
        isGuest=False, leads=False, ends=site.commands.now_ms + DAY_MS)


@case
def drop_listening(site):
    listening(site)

    def run(n):
        site.db.hset("user:u1#listening", mapping={"session": ID, "tag": "abc", "code": "party"})
        site.db.config_resetstat()
        return site.commands.drop_listening(role="worker", userId="u1", sessionId=ID, tag="abc")
    return run


@case
def keep_code(site):
    listening(site)
    return lambda n: site.commands.keep_code(
        role="worker", code="party", sessionId=ID, ends=site.commands.now_ms + DAY_MS, version=n + 1)


def blocking(site, user):
    """A user who blocks as many as possible."""
    site.fill(lambda pipe, n: pipe.sadd(f"user:{user}#blocks", f"{n:08}-{'d' * 27}"), 240)


@case
def note_blocks(site):
    listening(site)
    lists = [[f"{n:08}-{letter * 27}" for n in range(240)] for letter in "de"]
    return lambda n: site.commands.note_blocks(
        role="worker", sessionId=ID, userId="u5", blocks=lists[n % 2], version=n + 1)


@case
def listening_blocks_refresh(site):
    listening(site)
    blocking(site, "u1")
    return lambda n: site.commands.listening_blocks_refresh(userId="u1", token=n + 1)


@case
def join_listening(site):
    listening(site, people=499)
    blocking(site, "new")

    def run(n):
        site.db.hdel(f"session:{ID}#people", "new")
        site.db.hdel(f"session:{ID}#apart", ">new", *(f"<{n:08}-{'d' * 27}" for n in range(240)))
        site.db.hset("user:new#listening", mapping={"session": "another", "tag": "abc", "code": "party"})
        site.db.config_resetstat()
        return call(site, "join_listening", "new", joinCode="party")(n)
    return run


@case
def scan_ticket(site):
    listening(site, people=499)

    def run(n):
        site.db.hdel(f"session:{ID}#people", "new")
        site.db.config_resetstat()
        return call(site, "scan_ticket", "new", sessionId=ID, ticket=f"{0:032}")(n)
    return run


@case
def visit_ticket(site):
    listening(site, people=450)
    return lambda n: site.commands.call(
        "visit_ticket", role="anonymous", random=fresh(n + 1), sessionId=ID, ticket=f"{0:032}")[0]


@case
def end_visit(site):
    listening(site)
    return lambda n: call(site, "end_visit", f"u{n + 1}", sessionId=ID)(n)


@case
def hear_listening(site):
    listening(site)
    joins = Joins(site.commands, "hear_listening")
    return lambda n: joins.state(ID, "u1")


@case
def vote_song(site):
    listening(site)
    site.fill(lambda pipe, n: pipe.hset(f"session:{ID}#ballots#u2", f"over-{n}", 1), 160)

    def run(n):
        site.db.hdel(f"session:{ID}#ballots#u2", json.loads(song(7))["id"])
        site.fill(lambda pipe, m: pipe.hset(f"session:{ID}#ballots#u2", f"over-{m}", 1), 160)
        site.db.config_resetstat()
        return call(site, "vote_song", "u2", songId=json.loads(song(7))["id"], value=1)(n)
    return run


@case
def unvote_song(site):
    listening(site)

    def run(n):
        site.db.hset(f"session:{ID}#ballots#u1", json.loads(song(7))["id"], 1)
        site.db.config_resetstat()
        return call(site, "unvote_song", "u1", songId=json.loads(song(7))["id"])(n)
    return run


@case
def add_song(site):
    listening(site, songs=79)

    def run(n):
        top = site.db.zrange(f"session:{ID}#order", 0, -1)[79:]
        if top:
            site.db.zrem(f"session:{ID}#order", *top)
        site.db.hset(f"session:{ID}#session", "bytes", 510 * 79)
        site.db.hdel(f"session:{ID}#adders", "u1")
        site.db.config_resetstat()
        return call(site, "add_song", "u1", trackId="t" * 20, title="n" * 200, artists='["A","B"]', album="a",
                    durationMs=1, imageUrl="https://i/1")(n)
    return run


def advancing(name, user, prepare=lambda site: None, **more):
    """A call that ends the song that plays; the queue is filled again each time."""
    def fill(site):
        def run(n):
            site.db.flushdb()
            site.commands.now_ms -= 12 * MONTH_MS if n else 0
            listening(site)
            prepare(site)
            site.db.config_resetstat()
            return call(site, name, user, **more)(n)
        return run
    CASES[name] = fill


advancing("song_finished", "u0")
advancing("control_listening", "u0", skip=True, isLocked=True)
advancing("request_skip", "u1", lambda site: site.fill(
    lambda pipe, n: pipe.sadd(f"session:{ID}#skips", f"u{n + 2}"), 250))


@case
def depart(site):
    def run(n):
        site.db.flushdb()
        site.commands.now_ms -= 12 * MONTH_MS if n else 0
        listening(site, skips=0)
        site.fill(lambda pipe, m: pipe.sadd(f"session:{ID}#skips", f"u{m + 2}"), 250)
        site.db.config_resetstat()
        return site.commands.call("depart", role="worker", sessionId=ID, userId="u1", tag="abc", code="party")[0]
    return run


@case
def depart_guest(site):
    """A guest who has voted on all that waits, and whose leaving has the song skipped."""
    def run(n):
        site.db.flushdb()
        site.commands.now_ms -= 12 * MONTH_MS if n else 0
        listening(site, skips=0)
        site.db.hset(f"session:{ID}#people", "u1", "abc guest Somebody")
        site.fill(lambda pipe, m: pipe.sadd(f"session:{ID}#skips", f"u{m + 2}"), 250)
        site.db.config_resetstat()
        return site.commands.call("depart", role="worker", sessionId=ID, userId="u1", tag="abc", code="party")[0]
    return run


@case
def withdraw_listener(site):
    def run(n):
        site.db.flushdb()
        site.commands.now_ms -= 12 * MONTH_MS if n else 0
        listening(site)
        site.db.sadd(f"session:{ID}#skips", "u1")
        site.db.config_resetstat()
        return site.commands.call("withdraw_listener", role="worker", sessionId=ID, userId="u1")[0]
    return run


@case
def guests_refresh(site):
    def run(n):
        site.db.zadd(f"session:{ID}#guests", {f"u{m}": m for m in range(100)})
        site.db.config_resetstat()
        return site.commands.call("guests_refresh", sessionId=ID, token=n + 1)[0]
    return run


@case
def beat_listener(site):
    listening(site)
    site.db.hset("user:u1#listening", "guest", 1)
    return lambda n: site.commands.call("beat_listener", role="worker", userId="u1")[0]


@case
def beat_guest(site):
    listening(site)
    site.db.hset(f"session:{ID}#people", "u1", "abc guest Somebody")
    return lambda n: site.commands.call("beat_guest", role="worker", sessionId=ID, userId="u1")[0]


@case
def cut_events(site):
    def call(n):
        site.db.xadd(f"session:{ID}#log", {"d": "x" * 40_960})
        return site.commands.call("cut_events", role="worker", sessionId=ID)[0]
    return call


@case
def make_ticket(site):
    listening(site)
    site.db.delete(f"session:{ID}#tickets")
    site.fill(lambda pipe, n: pipe.hset(f"session:{ID}#tickets", f"{n:032}", site.commands.now_ms + 9_000), 49)

    def run(n):
        site.db.hdel(f"session:{ID}#tickets", fresh(n + 1))
        answer = call(site, "make_ticket", "u1")(n)
        site.db.hdel(f"session:{ID}#tickets", fresh(n + 1))
        return answer
    return run


@case
def erase_listener(site):
    def run(n):
        listening(site) if n == 0 else None
        site.db.hset("user:u1#listening", mapping={"session": ID, "tag": "abc", "code": "party"})
        site.fill(lambda pipe, m: pipe.zadd("user:u1#sessions", {f"session-{m}": m}), 50)
        site.db.config_resetstat()
        return site.commands.call("erase_listener", role="service", userId="u1")[0]
    return run


@case
def export_listener(site):
    listening(site)
    site.fill(lambda pipe, m: pipe.zadd("user:u1#sessions", {f"session-{m}": m}), 50)
    return lambda n: site.commands.call("export_listener", role="service", userId="u1")[0]


def forgetting(step, **more):
    """One step: for the user whose every fourth song it is, with the ballots on all, and half of the messages."""
    def fill(site):
        def run(n):
            site.db.flushdb()
            site.commands.now_ms -= 12 * MONTH_MS if n else 0
            listening(site)
            for place in range(0, 100, 2):
                text = json.dumps({"id": "x", "text": "x" * 500, "user": {"id": "b"}})
                site.db.lset(f"session:{ID}#chat", place, text)
            site.db.config_resetstat()
            return site.commands.call(
                "forget_listener", role="worker", sessionId=ID, userId="u1", step=step, **more)[0]
        return run
    CASES["forget_listener" if step == "ballots" else f"forget_listener_{step}"] = fill


for one in ("ballots", "songs", "chat", "history"):
    forgetting(one)
