"""Everything that a user can leave in Redis: one sample call of every command, by the user or about the user.

`SAMPLES` names every command that is not the worker's alone, in the order of the calls. A sample acts with a `Fill`.
"""

import itertools
import json

from Fixtures.scripts.command_scripts import Header
from Fixtures.scripts.lua_scripts import Scripts
from Fixtures.scripts.outbox_order import Road

#: The user who is erased. The id, texts, titles and tokens have a word each.
ID_WORD, TEXT_WORD, TITLE_WORD, TOKEN_WORD = "idword7q", "textword7q", "titleword7q", "7ace7ace"
ME = f"me-{ID_WORD}"
TEXT = f"said {TEXT_WORD}"
OTHERS = ("bob", "cat", "dan")
SHOP, CHALLENGE, SESSION_CODE = "42", "race", "party"
TRACK = {"id": "t", "name": "N", "artists": [{"name": "A"}], "album": {"name": "B", "images": []}, "duration_ms": 1}


def pair(other):
    return "_".join(sorted((ME, other), key=str.encode))


class Fill:
    """A road of all packs, the user, and what earlier samples have made."""

    def __init__(self, db):
        self.road = Road(db)
        self.db = db
        self.made = {}
        self.numbers = itertools.count(1)

    def other(self, user, name, **arguments):
        return self.call(self.road.do, user, name, **arguments)

    def me(self, name, **arguments):
        return self.other(ME, name, **arguments)

    def service(self, name, **arguments):
        return self.call(self.road.service, name, **arguments)

    def call(self, act, *words, **arguments):
        """One call with an id of its own, whose answer is remembered unless a retry finds the same."""
        tags = {tag for tag, _ in Header.read(self.road.commands.path(words[-1])).tags}
        if not tags & {"idempotent", "readonly", "mint"}:
            arguments["id"] = f"op-{next(self.numbers)}"
        answer = act(*words, **arguments)
        self.road.relay()
        return answer


# Barbershops


def check_in(fill):
    for user in OTHERS:
        fill.service("check_in", shopId=SHOP, userId=user)
    fill.me("check_in", shopId=SHOP, location=json.dumps({"latitude": 1.5, "longitude": 2.5}))


def add_track(fill):
    for number in range(3):
        fill.me("add_track", shopId=SHOP, trackId=f"mine-{number}", trackName="T", artistName="A")
    fill.other("bob", "add_track", shopId=SHOP, trackId="his", trackName="T", artistName="A")


def vote(fill):
    for track in ("mine-1", "his"):
        fill.me("vote", shopId=SHOP, trackId=track, vote="up")
    fill.other("bob", "vote", shopId=SHOP, trackId="mine-1", vote="down")


def create_booking(fill):
    fill.made["own"] = fill.me("create_booking", shopId=SHOP)["bookingId"]
    for number in ("b-1", "b-2", "b-3"):
        fill.service("create_booking", shopId=SHOP, bookingId=number, userId=ME)


def move_booking(fill):
    for number, words in (("b-1", ("confirmed", "in-progress", "completed")), ("b-2", ("confirmed",)),
                          ("b-3", ("confirmed", "no-show"))):
        for word in words:
            fill.service("move_booking", shopId=SHOP, bookingId=number, status=word)


def add_points(fill):
    for user in (ME, "bob"):
        fill.service("add_points", challengeId=CHALLENGE, userId=user, points=5)


def follow(fill):
    fill.me("follow", barberId="kim")
    fill.me("follow", barberId="lee")
    fill.other("bob", "follow", barberId=ME)


def notify(fill):
    for number in range(2):
        fill.service("notify", userId=ME, type="news", title=TEXT, body=TEXT, data=json.dumps({"x": TEXT}))


def mark_read(fill):
    first = fill.me("notifications")["notifications"][0]
    fill.me("mark_read", ids=[first["id"]])


def publish_post(fill):
    fill.service("publish_post", barberId=ME, post=json.dumps({"id": "p", "text": TEXT}))


# Messaging and people


def create_conversation(fill):
    for name, members in (("group", ["bob", "cat"]), ("left", ["bob"]), ("alone", [])):
        fill.made[name] = fill.me("create_conversation", members=members, title=TITLE_WORD)["id"]
    for name in ("guest", "barred"):
        fill.made[name] = fill.other("bob", "create_conversation", members=[ME, "cat"], title="T")["id"]


def send_message(fill):
    places = [fill.made[name] for name in ("group", "left", "alone", "guest", "barred")]
    for number, place in enumerate([*places, pair("bob"), pair("cat")]):
        for part in range(3):
            fill.me("send_message", conversationId=place, messageId=f"m{number}-{part}", text=TEXT)
    for place in (fill.made["group"], fill.made["guest"], pair("bob")):
        fill.other("bob", "send_message", conversationId=place, messageId="bobs", text="of bob")
    # One who has written to the user, and of whom nothing is erased.
    fill.other("dan", "send_message", conversationId=pair("dan"), messageId="dans", text="of dan")


def modify_message(fill):
    fill.me("modify_message", conversationId=pair("bob"), messageId="m5-0", text=TEXT + " again")


def mark(word):
    def sample(fill):
        for place in (pair("bob"), fill.made["group"]):
            fill.me(word, conversationId=place, upTo="bobs")
    return sample


def add_member(fill):
    fill.me("add_member", conversationId=fill.made["group"], memberId="dan")


def remove_member(fill):
    fill.me("remove_member", conversationId=fill.made["left"], memberId=ME)
    fill.other("bob", "remove_member", conversationId=fill.made["barred"], memberId=ME)
    fill.me("remove_member", conversationId=fill.made["group"], memberId="dan")


def rename_conversation(fill):
    fill.me("rename_conversation", conversationId=fill.made["group"], title=TITLE_WORD + " again")


def delete_conversation(fill):
    """A direct conversation that the user has left, with the user's messages in it, and a group that ends."""
    fill.me("delete_conversation", conversationId=pair("dan"))
    ended = fill.me("create_conversation", members=["cat"], title=TITLE_WORD)["id"]
    fill.me("send_message", conversationId=ended, messageId="e0", text=TEXT)
    fill.me("delete_conversation", conversationId=ended)


def notify_many(fill):
    fill.service("notify_many", campaignId="spring", users=[ME], type="news", title=TEXT, body=TEXT)


def both_ways(word, count=3):
    def sample(fill):
        for other in OTHERS[:count]:
            fill.me(word, other=other)
        fill.other("cat", word, other=ME)
    return sample


# Nearby


def set_location(fill):
    for number, user in enumerate((ME, "bob", "cat")):
        fill.other(user, "set_location", latitude=52.5 + number / 10_000, longitude=12.5,
                   city=TEXT if user == ME else "C")


def set_listener(fill):
    for user in (ME, "bob"):
        fill.other(user, "set_listener", displayName=TEXT if user == ME else "Bob", spotifyId="s")


def set_track(fill):
    for user in (ME, "bob"):
        fill.other(user, "set_track", trackId="t", trackName=TEXT if user == ME else "T", artist="A", duration=1,
                   isPlaying=True)


def set_privacy(fill):
    fill.me("set_privacy", visible="everyone", rounding=0)
    fill.other("bob", "set_privacy", visible="everyone", rounding=0)


def allow_follower(fill):
    fill.me("allow_follower", followerId="bob")
    fill.me("allow_follower", followerId="dan")
    fill.other("bob", "allow_follower", followerId=ME)


# Listening sessions


def create_listening(fill):
    fill.made["mine"] = fill.me("create_listening", joinCode="mine")["session"]["id"]
    fill.made["session"] = fill.other("bob", "create_listening", joinCode=SESSION_CODE)["session"]["id"]


def join_listening(fill):
    fill.other("cat", "join_listening", joinCode="mine")
    fill.me("say", text=TEXT)
    fill.me("join_listening", joinCode=SESSION_CODE)


def add_song(fill):
    for user in (ME, "bob", ME, ME):
        song = fill.other(user, "add_song", trackId="t", title="T", artists='"A"', album="B", durationMs=1)
        fill.made.setdefault("songs", []).append(song["id"])


def vote_song(fill):
    for song in fill.made["songs"][1:]:
        fill.me("vote_song", songId=song, value=1)


def listening_ticket(fill):
    fill.made["ticket"] = fill.other("bob", "make_ticket")["ticket"]
    fill.me("make_ticket")


def visited(fill):
    """Another guest by a ticket; the user's own visit is by the scan."""
    fill.road.do("bob", "visit_ticket", role="anonymous", user="", sessionId=fill.made["session"],
                 ticket=fill.made["ticket"])
    fill.road.relay()


def register_device(fill):
    for number in range(2):
        fill.me("register_device", deviceId=f"phone-{number}", deviceToken=TOKEN_WORD + f"{number}" * 40)
    fill.other("bob", "register_device", deviceId="his", deviceToken="b" * 40)


def me(name, **arguments):
    return lambda fill: fill.me(name, **arguments)


def service(name, **arguments):
    return lambda fill: fill.service(name, **arguments)


#: Every command that anybody but the worker may call, in the order of the calls.
SAMPLES = {
    "register_device": register_device, "push_settings": me("push_settings"),
    "set_preferences": me("set_preferences", types=json.dumps({"news": "on"}), timezone="Europe/Berlin"),
    "remove_device": me("remove_device", deviceId="phone-1"),
    "set_shop": service("set_shop", shopId=SHOP, latitude=1.5, longitude=2.5, radiusMetres=100, utcOffsetMinutes=60),
    "set_barber": service("set_barber", shopId=SHOP, barberId=ME, active=True),
    "check_in_code": service("check_in_code", shopId=SHOP), "check_in": check_in,
    "presence_count": me("presence_count", shopId=SHOP), "roster": me("roster", shopId=SHOP), "online": me("online"),
    "start_session": service("start_session", shopId=SHOP, voters=True), "add_track": add_track, "vote": vote,
    "describe_track": service("describe_track", shopId=SHOP, trackId="his", track=json.dumps(TRACK)),
    "my_votes": me("my_votes", shopId=SHOP), "dj": me("dj", shopId=SHOP),
    "next_track": service("next_track", shopId=SHOP), "remove_track": me("remove_track", shopId=SHOP, trackId="mine-2"),
    "create_booking": create_booking, "move_booking": move_booking,
    "reschedule_booking": lambda fill: fill.me("reschedule_booking", shopId=SHOP, bookingId=fill.made["own"],
                                                scheduledAt=fill.road.now_ms + 3_600_000),
    "user_bookings": me("user_bookings"), "shop_bookings": service("shop_bookings", shopId=SHOP),
    "set_text": service("set_text", shopId=SHOP, word="confirmed", title="See you"),
    "booking": lambda fill: fill.me("booking", shopId=SHOP, bookingId=fill.made["own"]),
    "queue": me("queue", shopId=SHOP), "add_points": add_points, "rank": me("rank", challengeId=CHALLENGE, userId=ME),
    "around": me("around", challengeId=CHALLENGE, userId=ME), "top": me("top", challengeId=CHALLENGE),
    "follow": follow, "unfollow": me("unfollow", barberId="lee"), "following": me("following"),
    "publish_post": publish_post, "feed": me("feed"), "notify": notify, "notify_many": notify_many,
    "notifications": me("notifications"),
    "mark_read": mark_read, "mark_all_read": me("mark_all_read"),
    "create_conversation": create_conversation, "add_member": add_member, "send_message": send_message,
    "modify_message": modify_message, "delivered": mark("delivered"), "read": mark("read"),
    "remove_message": lambda fill: fill.me("remove_message", conversationId=pair("bob"), messageId="m5-1"),
    "typing": lambda fill: fill.me("typing", conversationId=pair("bob")),
    "messages": lambda fill: fill.me("messages", conversationId=pair("bob")), "conversations": me("conversations"),
    "remove_member": remove_member, "rename_conversation": rename_conversation,
    "delete_conversation": delete_conversation,
    "mute": both_ways("mute"), "unmute": me("unmute", other="dan"), "mutes": me("mutes"),
    "set_listener": set_listener, "set_privacy": set_privacy, "set_location": set_location, "set_track": set_track,
    "allow_follower": allow_follower, "drop_follower": me("drop_follower", followerId="dan"),
    "nearby": me("nearby"),
    "create_listening": create_listening, "join_listening": join_listening, "add_song": add_song,
    "vote_song": vote_song, "unvote_song": lambda fill: fill.me("unvote_song", songId=fill.made["songs"][3]),
    "control_listening": lambda fill: fill.other("bob", "control_listening", isPaused=True),
    "request_skip": me("request_skip"), "react": me("react", reaction="+1"), "say": me("say", text=TEXT),
    "listening_chat": me("listening_chat"), "current_listening": me("current_listening"),
    "song_finished": lambda fill: fill.other("bob", "song_finished"),
    "listening_history": lambda fill: fill.me("listening_history", sessionId=fill.made["session"]),
    "past_listening": me("past_listening"), "make_ticket": listening_ticket,
    "scan_ticket": lambda fill: fill.me("scan_ticket", sessionId=fill.made["session"], ticket=fill.made["ticket"]),
    "visit_ticket": visited, "end_visit": lambda fill: fill.other("dan", "end_visit", sessionId=fill.made["session"]),
    "leave_listening": lambda fill: fill.other("cat", "leave_listening"),
    "spotify_search": me("spotify_search", q="words"), "export_listener": service("export_listener", userId=ME),
    "order_pass": service("order_pass", orderId="7"),
    "block": both_ways("block", 2), "unblock": me("unblock", other="bob"), "blocks": me("blocks"),
    "delete_location": lambda fill: fill.other("cat", "delete_location"),
    "check_out": lambda fill: fill.other("cat", "check_out", shopId=SHOP),
    "stop_session": lambda fill: [fill.service(f"{word}_session", shopId="43") for word in ("start", "stop")],
    "erase_listener": lambda fill: fill.service("erase_listener", userId="nobody"),
}


def gateways_part(fill):
    """What the gateway itself keeps of a user: ids of events, members of topics, presence, revocations, heartbeats."""
    scripts = Scripts(fill.db)
    scripts.publish("shop:42", data=json.dumps({"x": TEXT}), id="op-1", owner=f"user:{ME}")
    scripts.call("set_member", ["order:7#members", "#removed"], ["order:7", ME, "add", 100])
    scripts.call("set_member", ["order:8#members", "#removed"], ["order:8", ME, "add", 100])
    scripts.call("set_member", ["order:8#members", "#removed"], ["order:8", ME, "remove", 100])
    scripts.call("revoke", ["#revoked", "#revoked-before"], [f"u:{ME}", 1, 3_600, 100])
    scripts.call("here_change", ["shop:42#here"], [
        "shop:42", "e1", 100, 300, 0, "session-1", json.dumps({"user": ME, "meta": TEXT})])
    for name in ("beat_user", "beat_chats"):
        fill.road.add(f"user:{ME}", "call", name, {"userId": ME})
    fill.road.relay()
