"""Scenes of the outbox: what was before, and what several payers then do at once."""

PAIR = "ann_bob"


def said(road, user, place, id, **options):
    return road.do(user, "send_message", conversationId=place, messageId=id, text=f"words of {user}: {id}", **options)


def group_of(road, maker, *members):
    road.group = road.do(maker, "create_conversation", members=list(members), title="Trip")["id"]
    return road.group


# Messaging


def before_messages(road):
    group = group_of(road, "ann", "bob", "cat")
    for user in ("ann", "bob", "cat"):
        said(road, user, group, f"{user}-1")
    said(road, "ann", PAIR, "p1")


def messages(road):
    """Two write to a third, who reads; one removes and one changes the newest message."""
    group = road.group
    said(road, "ann", group, "a2")
    said(road, "bob", group, "b2")
    road.do("cat", "read", conversationId=group, upTo="a2")
    road.do("cat", "delivered", conversationId=group, upTo="b2")
    said(road, "cat", group, "c2")
    road.do("bob", "remove_message", conversationId=group, messageId="b2")
    road.service("modify_message", user="cat", conversationId=group, messageId="c2", text="changed", userId="cat")
    road.service("remove_message", conversationId=group, messageId="a2", userId="ann")
    for number, user in enumerate(("bob", "ann", "bob")):
        said(road, user, PAIR, f"q{number}")
    road.do("ann", "read", conversationId=PAIR, upTo="q2")
    road.do("bob", "remove_message", conversationId=PAIR, messageId="q2")
    road.service("remove_message", conversationId=PAIR, messageId="q0", userId="bob")
    said(road, "dan", "bob_dan", "d0")
    road.do("bob", "read", conversationId="bob_dan", upTo="d0")


def before_joins(road):
    group_of(road, "ann", "bob")
    said(road, "ann", road.group, "a1")
    road.do("eve", "block", other="ann")
    road.do("bob", "block", other="cat")


def joins(road):
    """Members come, write, go and come again; one was taken in by somebody whom he blocks."""
    group = road.group
    road.do("ann", "add_member", conversationId=group, memberId="cat")
    said(road, "bob", group, "b1")
    road.do("ann", "add_member", conversationId=group, memberId="eve")
    road.service("remove_member", conversationId=group, memberId="cat")
    said(road, "ann", group, "a2")
    road.do("ann", "add_member", conversationId=group, memberId="cat")
    road.do("bob", "add_member", conversationId=group, memberId="dan")
    said(road, "cat", group, "c1")
    road.do("dan", "remove_member", conversationId=group, memberId="dan", userId="dan")
    said(road, "cat", group, "c2")
    other = road.do("cat", "create_conversation", members=["bob", "dan"], title="Other")["id"]
    road.do("bob", "rename_conversation", conversationId=other, title="Another")
    road.service("delete_conversation", conversationId=other, userId="cat")


def before_walls(road):
    group_of(road, "ann", "bob", "cat")
    road.do("cat", "block", other="ann")
    road.do("cat", "mute", other="bob")


def walls(road):
    """Blocks come and go by the user and by a service, while members do."""
    road.do("bob", "block", other="ann")
    road.service("unblock", userId="bob", other="ann")
    road.do("bob", "block", other="cat")
    road.refresh("walls_refresh", "user:bob", userId="bob")
    road.service("unblock", userId="cat", other="ann")
    road.service("unmute", userId="cat", other="bob")
    road.do("cat", "mute", other="ann")
    road.refresh("walls_refresh", "user:cat", userId="cat")
    road.do("ann", "add_member", conversationId=road.group, memberId="dan")
    road.do("dan", "block", other="ann")
    road.refresh("walls_refresh", "user:dan", userId="dan")
    road.do("ann", "remove_member", conversationId=road.group, memberId="cat")
    road.do("bob", "add_member", conversationId=road.group, memberId="cat")
    road.do("cat", "block", other="bob")
    road.service("block", userId="ann", other="bob")
    road.do("ann", "unblock", other="bob")
    road.service("mute", userId="ann", other="bob")
    road.do("ann", "unmute", other="bob")


def before_presence(road):
    said(road, "ann", PAIR, "p1")
    road.service("beat_chats", payer="beat", userId="ann")


def presence(road):
    """A user goes and comes, and writes where nobody has seen the user before."""
    road.service("seen_refresh", payer="user:ann", userId="ann", token=1)
    said(road, "ann", "ann_cat", "p2")
    road.now_ms += 70_000
    road.service("seen_refresh", payer="user:ann", userId="ann", token=1)
    road.service("beat_chats", payer="beat", userId="ann")
    said(road, "ann", "ann_dan", "p3")


def before_erased(road):
    road.groups = [group_of(road, "ann", "bob", "cat"), group_of(road, "bob", "ann", "dan")]
    for group in road.groups:
        for user in ("ann", "bob"):
            said(road, user, group, f"{user}-1")
    said(road, "bob", PAIR, "p1")
    road.do("bob", "block", other="dan")
    road.do("bob", "mute", other="cat")
    road.do("cat", "mute", other="bob")


def erased(road):
    """A user is erased while others write to the user and take the user into a group."""
    said(road, "ann", road.groups[0], "a2")
    said(road, "ann", PAIR, "p2")
    said(road, "cat", "bob_cat", "first")
    new = group_of(road, "cat", "bob", "dan")
    said(road, "dan", new, "d1")
    road.do("dan", "block", other="bob")
    road.erase("bob", "messaging", "people")
    road.service("read", userId="ann", conversationId=road.groups[0], upTo="bob-1")


# Barbershops


def before_visits(road):
    road.service("check_in", shopId="1", userId="ann")
    road.service("check_in", shopId="2", userId="bob")
    road.do("ann", "block", other="bob")


def visits(road):
    """Devices, a service and heartbeats say where users are, and some block others."""
    road.refresh("shop_blocks_refresh", "user:ann", userId="ann")
    road.do("bob", "block", other="cat")
    road.refresh("shop_blocks_refresh", "user:bob", userId="bob")
    road.service("block", userId="ann", other="cat")
    road.refresh("shop_blocks_refresh", "user:ann", userId="ann")
    road.do("ann", "check_out", shopId="1", userId="ann")
    road.service("beat_shop", payer="beat", shopId="1", userId="ann")
    road.service("check_in", shopId="1", userId="ann")
    road.service("beat_user", payer="beat", userId="ann")
    road.service("check_in", shopId="2", userId="ann")
    road.do("ann", "check_out", shopId="2", userId="ann")
    road.do("bob", "check_out", shopId="2", userId="bob")
    road.service("check_in", shopId="3", userId="bob")
    road.now_ms += 200_000
    road.service("presence_refresh", payer="shop:3", shopId="3", token=1)
    road.service("check_in", shopId="3", userId="cat")
    road.do("bob", "check_out", shopId="3", userId="bob")


def before_bookings(road):
    for shop in ("1", "2"):
        road.service("set_shop", shopId=shop, latitude=1, longitude=1)


def bookings(road):
    """Customer, barber and the end of time move bookings."""
    made = [road.do("ann", "create_booking", shopId=shop)["bookingId"] for shop in ("1", "1", "2", "2")]
    road.service("move_booking", payer="barber", shopId="1", bookingId=made[0], status="confirmed")
    road.service("move_booking", payer="other", shopId="1", bookingId=made[0], status="in-progress", barberId="b")
    road.do("ann", "move_booking", shopId="1", bookingId=made[1], status="cancelled", userId="ann")
    road.service("move_booking", payer="barber", shopId="2", bookingId=made[2], status="confirmed")
    road.do("ann", "move_booking", shopId="2", bookingId=made[2], status="cancelled", userId="ann")
    road.service("create_booking", shopId="2", userId="bob", bookingId="7")
    road.service("move_booking", payer="barber", shopId="2", bookingId="7", status="confirmed")
    road.service("move_booking", payer="other", shopId="2", bookingId="7", status="no-show")
    road.service("notify_many", payer="news", campaignId="spring", users=["ann", "bob"], type="t", title="T", body="B")
    road.add("shop:2", "call", "end_booking", {"shopId": "2", "bookingId": made[3], "because": "too_many"})


def before_customer_erased(road):
    before_bookings(road)
    road.service("check_in", shopId="1", userId="ann")
    road.service("create_booking", shopId="1", userId="ann", bookingId="1")
    road.service("add_points", challengeId="old", userId="ann", points=3)


def customer_erased(road):
    """A customer is erased while shops and challenges still say what they know of the customer."""
    road.service("check_in", payer="till", shopId="2", userId="ann")
    road.service("create_booking", payer="till", shopId="2", userId="ann", bookingId="2")
    road.service("move_booking", payer="barber", shopId="2", bookingId="2", status="confirmed")
    road.do("ann", "create_booking", shopId="2", userId="ann")
    road.service("move_booking", payer="barber", shopId="1", bookingId="1", status="confirmed")
    road.service("add_points", payer="game", challengeId="new", userId="ann", points=3)
    road.erase("ann", "barbershop")


# Listeners nearby


def placed(road, user, latitude, **options):
    # The gateway finds the cell of a listener's last place before it calls.
    road.do(user, "set_location", latitude=latitude, longitude=12.5, **options)


def before_followers(road):
    for number, user in enumerate(("ann", "bob", "cat")):
        placed(road, user, 52.5 + number / 10_000)
    road.do("ann", "set_privacy", visible="followers")


def followers(road):
    """A listener lets others follow, by the app and by a service, while both move."""
    road.do("ann", "allow_follower", followerId="bob")
    road.service("drop_follower", userId="ann", followerId="bob")
    road.service("allow_follower", userId="ann", followerId="cat")
    road.do("ann", "drop_follower", followerId="cat")
    road.do("ann", "allow_follower", followerId="cat")
    placed(road, "bob", 52.5005)
    road.do("bob", "set_privacy", visible="followers")
    road.service("allow_follower", userId="bob", followerId="ann")
    placed(road, "cat", 52.5007)


def before_listener_erased(road):
    before_followers(road)
    road.do("ann", "allow_follower", followerId="bob")
    road.do("bob", "allow_follower", followerId="ann")


def listener_erased(road):
    """A listener is erased while others let it follow."""
    road.do("cat", "allow_follower", followerId="ann")
    road.do("bob", "drop_follower", followerId="ann")
    road.service("allow_follower", userId="bob", followerId="ann")
    road.erase("ann", "nearby")


# Listening sessions


def before_listening(road):
    road.codes = {}
    for user, code in (("ann", "CODE1"), ("bob", "CODE2")):
        road.codes[code] = road.do(user, "create_listening", joinCode=code)["session"]["id"]
    road.do("cat", "join_listening", joinCode="CODE1")
    road.do("ann", "block", other="cat")


def listening(road):
    """Users go from session to session and leave, and block others; one leads a session and is erased."""
    road.do("ann", "control_listening", host="cat")
    road.refresh("listening_blocks_refresh", "user:ann", userId="ann")
    road.service("block", userId="ann", other="bob")
    road.do("cat", "block", other="bob")
    road.refresh("listening_blocks_refresh", "user:ann", userId="ann")
    road.refresh("listening_blocks_refresh", "user:cat", userId="cat")
    road.do("cat", "join_listening", joinCode="CODE2")
    road.service("join_listening", joinCode="CODE1", userId="cat")
    road.do("ann", "leave_listening")
    road.service("join_listening", joinCode="CODE2", userId="ann")
    road.do("bob", "leave_listening")
    road.service("create_listening", joinCode="CODE3", userId="bob")
    road.erase("cat", "queueup")


def before_guests(road):
    road.session = road.do("ann", "create_listening", joinCode="CODE1")["session"]["id"]
    songs = [road.do("ann", "add_song", trackId="t", title="n", artists='"a"', album="", durationMs=1)["id"]
             for _ in range(3)]
    for guest in ("gus", "guy"):
        road.do(guest, "join_listening", role="guest", joinCode="CODE1")
        for song in songs:
            road.do(guest, "vote_song", role="guest", songId=song, value=1)
        road.do(guest, "request_skip", role="guest")


def guests(road):
    """Of two guests nobody has heard for long; one of them has a connection again, and both leave."""
    road.now_ms += 700_000
    road.service("guests_refresh", payer="session", sessionId=road.session, token=1)
    road.service("beat_listener", payer="beat", userId="gus")
    road.do("guy", "leave_listening", role="guest")
    road.service("join_listening", userId="guy", joinCode="CODE1")
    road.do("gus", "leave_listening", role="guest")


# Push

TOKENS = [letter * 32 for letter in "abc"]


def registered(road, user, device, token, payer=None):
    road.do(payer or user, "register_device", user=user, deviceId=device, deviceToken=TOKENS[token])


def before_devices(road):
    registered(road, "ann", "phone", 0)
    registered(road, "bob", "tablet", 1)
    road.service("notify", userId="ann", type="news", title="T", body="B")


def devices(road):
    """Two users and a service register tokens on two devices and take them away."""
    registered(road, "bob", "phone", 0)
    road.do("ann", "remove_device", deviceId="phone")
    registered(road, "ann", "phone", 2, payer="service")
    registered(road, "ann", "tablet", 1)
    road.do("bob", "remove_device", deviceId="tablet")
    registered(road, "cat", "watch", 2)
    road.service("remove_device", userId="cat", deviceId="watch")
    registered(road, "bob", "new", 2)
    road.add("user:ann", "call", "call_pushes", {"userId": "ann", "round": 1})
    road.erase("bob", "push")
    registered(road, "dan", "desk", 0, payer="service")


SCENES = {name: (globals()["before_" + name], globals()[name]) for name in (
    "messages", "joins", "walls", "presence", "erased", "visits", "bookings", "customer_erased", "followers",
    "listener_erased", "listening", "guests", "devices")}
