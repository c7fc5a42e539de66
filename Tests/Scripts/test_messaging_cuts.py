"""Messaging: what is counted anew after a block or an erasure, what leaves the logs, and whom a maker takes out."""

import json

import pytest

from Fixtures.scripts.chats import chats, commands, refused
from Fixtures.scripts.lua_scripts import NOW_MS, Scripts

PAIR = "ann_bob"
TOPIC = f"conversation:{PAIR}"


def shown(chats, user, id=PAIR):
    """Unread and preview of a list, and the badge's part."""
    item = next(item for item in chats.list(user) if item["id"] == id)
    badge = int(chats.commands.db.hget(f"user:{user}#chat_unread", id) or 0)
    assert badge == item["unread"]
    return item["unread"], item["lastMessage"]


# Counts


def test_a_block_takes_its_messages_out_of_the_list_and_the_badge(chats):
    """The list said `unread: 3` over an empty page, and showed the blocked user's last text."""
    chats.send("ann", PAIR, "own")
    for number in range(3):
        chats.send("bob", PAIR, f"secret {number}")
    assert shown(chats, "ann") == (3, "secret 2")
    chats.block("ann", "bob")
    assert shown(chats, "ann") == (0, "own") and shown(chats, "bob") == (0, "secret 2")
    told = [data for event, data in chats.commands.log("user:ann") if event == "conversation:updated"]
    assert (told[-1]["unread"], told[-1]["lastMessage"]) == (0, "own"), "devices are told"
    chats.block("ann", "bob", word="unblock")
    assert shown(chats, "ann") == (3, "secret 2") and shown(chats, "bob") == (1, "secret 2")


def test_a_block_that_ends_before_it_was_counted_leaves_no_count_behind(chats):
    """Marks that move meanwhile count without the other's messages."""
    for number in range(3):
        chats.send("bob", PAIR, f"b{number}", id=f"b{number}")
    chats.do("block", "ann", other="bob")
    chats.do("read", "ann", PAIR, upTo="b0")
    chats.do("unblock", "ann", other="bob")
    chats.refresh("pair_refresh", conversationId=PAIR)
    assert shown(chats, "ann") == (2, "b2")


def test_a_block_after_all_was_removed_during_another_takes_the_preview_away(chats):
    """The end of the first block changed nothing without a message, so the second one seemed to be known already."""
    chats.send("bob", PAIR, "gone", id="b1")
    chats.block("ann", "bob")
    chats.do("remove_message", "bob", PAIR, messageId="b1")
    chats.block("ann", "bob", word="unblock")
    chats.send("bob", PAIR, "secret", id="b2")
    chats.do("read", "ann", PAIR, upTo="b2")
    chats.block("ann", "bob")
    assert shown(chats, "ann") == (0, None)


@pytest.mark.parametrize("meanwhile", [
    [("read", "bob", {"upTo": "a1"})],
    [("remove_message", "bob", {"messageId": "b1"})],
    [("read", "bob", {"upTo": "a1"}), ("unblock", "ann", {"other": "bob"}),
     ("send_message", "bob", {"messageId": "b2", "text": "secret"}), ("read", "ann", {"upTo": "b2"}),
     ("block", "ann", {"other": "bob"})],
], ids=["a read", "a removal", "a message between two blocks"])
def test_no_command_between_a_block_and_its_refresh_keeps_the_preview(chats, meanwhile):
    """Lists kept the blocked user's text when a command counted first, or a message came between two blocks."""
    chats.send("ann", PAIR, "own", id="a1")
    chats.send("bob", PAIR, "secret", id="b1")
    chats.do("read", "ann", PAIR, upTo="b1")
    chats.do("block", "ann", other="bob")
    for name, user, arguments in meanwhile:
        chats.do(name, user, None if "other" in arguments else PAIR, **arguments)
    chats.refresh("pair_refresh", conversationId=PAIR)
    assert shown(chats, "ann") == (0, "own")


def test_the_only_message_removed_between_a_block_and_its_refresh_leaves_no_preview(chats):
    """The refresh looked at conversations with messages alone."""
    chats.send("bob", PAIR, "secret", id="b1")
    chats.do("block", "ann", other="bob")
    chats.do("remove_message", "bob", PAIR, messageId="b1")
    chats.refresh("pair_refresh", conversationId=PAIR)
    assert shown(chats, "ann") == (0, None)


def test_a_block_that_changes_no_list_sends_no_event(chats):
    """The blocked user must not find out that the other one blocks, too."""
    chats.send("ann", PAIR, "own", id="a1")
    chats.send("bob", PAIR, "secret")
    chats.block("ann", "bob")
    told = {user: len(chats.commands.log(f"user:{user}")) for user in ("ann", "bob")}
    chats.block("bob", "ann")
    chats.block("ann", "bob", word="unblock")
    assert len(chats.commands.log("user:bob")) == told["bob"] + 1, "bob's own block:changed"
    assert len(chats.commands.log("user:ann")) == told["ann"] + 1, "ann's own block:changed"


def test_a_block_in_a_group_counts_anew_for_both(chats):
    group = chats.group("ann", "bob", "cat")
    chats.send("cat", group, "open", now_ms=NOW_MS + 5)
    for number in range(3):
        chats.send("bob", group, f"secret {number}", now_ms=NOW_MS + 10 + number)
    heard = len(chats.commands.log("user:cat"))
    chats.block("ann", "bob")
    assert shown(chats, "ann", group) == (1, "open") and shown(chats, "cat", group) == (3, "secret 2")
    assert len(chats.commands.log("user:cat")) == heard, "nothing is new for others"
    chats.do("remove_message", "cat", group, messageId="auto-1")
    assert shown(chats, "ann", group) == (0, None) and shown(chats, "bob", group) == (0, "secret 2")
    chats.block("ann", "bob", word="unblock")
    assert shown(chats, "ann", group) == (3, "secret 2")


def test_who_was_blocked_and_leaves_a_group_is_counted_again(chats):
    """The messages of who has left stay, and the walls of the group are about its members."""
    group = chats.group("ann", "bob", "cat")
    chats.block("ann", "bob")
    chats.send("bob", group, "words")
    assert shown(chats, "ann", group) == (0, None)
    chats.do("remove_member", "bob", group, memberId="bob")
    assert shown(chats, "ann", group) == (1, "words") and len(chats.all("ann", group)) == 1


def test_an_erasure_takes_the_users_messages_out_of_all_counts(chats, commands):
    group = chats.group("ann", "bob", "cat")
    chats.send("ann", PAIR, "own")
    for number in range(2):
        for place in (PAIR, group):
            chats.send("bob", place, f"secret {number}", now_ms=NOW_MS + 5 + number)
    chats.do("remove_member", "bob", group, memberId="bob")
    assert shown(chats, "ann") == shown(chats, "ann", group) == (2, "secret 1")
    commands.call("erase_chats", role="worker", userId="bob")
    commands.relay()
    assert shown(chats, "ann") == (0, "own")
    assert shown(chats, "ann", group) == shown(chats, "cat", group) == (0, None), "also where the user had left"


def test_an_erasure_reaches_every_conversation_of_every_list(chats, db, commands):
    """With six conversations in the list, six groups that the list did not show were dropped and never erased."""
    for number in range(6):
        chats.send("bob", f"bob_u{number}", "words")
        db.sadd("user:bob#groups", f"old-{number}")
        db.hset(f"conversation:old-{number}#roll", mapping={"bob": "1 0 0 0 1", "eve": "1 0 0 0 0"})
    commands.call("erase_chats", role="worker", userId="bob")
    commands.relay()
    for number in range(6):
        assert db.hkeys(f"conversation:old-{number}#roll") == [b"eve"]


@pytest.mark.parametrize("kept", [499, 500, 501])
def test_only_the_newest_500_messages_count(chats, db, kept):
    """What passes behind them, and what comes among them again by a removal, is counted at once."""
    with db.pipeline(transaction=False) as pipe:
        for number in range(kept):
            sender = "ann" if number == 0 else "bob"
            pipe.hset(f"{TOPIC}#messages", f"o{number}", json.dumps({"s": sender, "t": "x", "m": number + 1}))
            pipe.zadd(f"{TOPIC}#order", {f"{sender} o{number}": number + 1})
        pipe.hset(f"{TOPIC}#roll", mapping={"ann": f"0 0 0 {min(kept - 1, 500)} 1", "bob": "0 0 0 0 1"})
        pipe.hset(f"{TOPIC}#facts", "last", kept)
        pipe.execute()
    chats.send("bob", PAIR, "one", id="m1")
    assert shown(chats, "ann")[0] == 500 - (kept == 499)
    chats.do("remove_message", "bob", PAIR, messageId="m1")
    assert shown(chats, "ann")[0] == min(kept - 1, 500)
    chats.do("remove_message", "bob", PAIR, messageId="o250")
    assert shown(chats, "ann")[0] == min(kept - 2, 500)


# Logs


def texts(chats, scripts, topic=TOPIC):
    """All that readers of a topic's log can get: the history, a replay by the clock, and the entries themselves."""
    return json.dumps([str(scripts.history(topic)), str(scripts.replay(0, topic)), str(chats.commands.log(topic))])


def test_a_removed_or_changed_message_leaves_the_log(chats, scripts):
    """For a day it stood in `/events`, also for members who came later."""
    chats.send("ann", PAIR, "secret one", id="m1")
    chats.send("ann", PAIR, "secret two", id="m2")
    chats.send("bob", PAIR, "open", id="m3")
    epoch, *_ = scripts.position(TOPIC)
    chats.do("modify_message", "ann", PAIR, messageId="m1", text="secret three", now_ms=NOW_MS + 60_000)
    chats.do("modify_message", "ann", PAIR, messageId="m1", text="last", now_ms=NOW_MS + 90_000)
    chats.do("remove_message", "ann", PAIR, messageId="m2", now_ms=NOW_MS + 99_000)
    assert "secret" not in texts(chats, scripts)
    assert [event for event, _ in chats.log(PAIR)] == ["message:added", "message:modified", "message:removed"]
    offsets = [int(event[0]) for event in scripts.history(TOPIC)[3]]
    assert offsets == [3, 5, 6], "positions stay as they are"
    behind = scripts.subscribe(TOPIC, since=(epoch, 1))
    assert not behind.recovered, "who comes back from before a hole is told of a gap"
    assert not scripts.subscribe(TOPIC, since=(epoch, 3)).recovered
    assert scripts.subscribe(TOPIC, since=(epoch, 4)).offsets == [5, 6], "and behind the holes goes on"


@pytest.mark.parametrize("between, at_once", [(30, True), (700, False)])
def test_a_message_far_back_in_a_long_log_is_found(chats, scripts, between, at_once):
    """It is looked for at its time, and where clocks had gone back in the whole log, some events in a run."""
    policy = {"log_max": 2_000, "log_ttl_s": 86_400, "meta_ttl_s": 90_000}
    chats.do("send_message", "ann", PAIR, messageId="m1", text="secret", policy=policy)
    for number in range(between):
        # As of gateways whose clocks are behind: their events come later and have earlier times.
        now = NOW_MS + number * 5_000 if at_once else NOW_MS - 600_000 + number
        scripts.publish(TOPIC, "noise", '{"n":1}', now_ms=now, log_max=2_000)
    chats.do("remove_message", "ann", PAIR, messageId="m1", now_ms=NOW_MS + 9_000_000, policy=policy)
    assert "secret" not in texts(chats, scripts) and len(chats.log(PAIR)) == between + 1


def test_a_message_older_than_the_log_costs_one_look(chats, db, commands):
    chats.send("ann", PAIR, "old", id="m1")
    db.delete(f"{TOPIC}#log")
    chats.send("ann", PAIR, "new", id="m2", now_ms=NOW_MS + 7_200_000)
    assert commands.cut_log(role="worker", conversationId=PAIR, messageId="m1", at=NOW_MS) == {"cut": 0, "done": True}
    assert len(chats.log(PAIR)) == 1


def test_a_partners_own_log_forgets_an_erased_user(chats, commands, scripts):
    """What the lists of others were told stood in their logs for a day."""
    group = chats.group("ann", "bob", "cat")
    for place in (PAIR, group):
        chats.send("bob", place, "secret of bob")
    chats.send("cat", "ann_cat", "from cat")
    assert "secret" in json.dumps(commands.log("user:ann"))
    epoch, offset, *_ = scripts.position("user:ann")
    commands.call("erase_chats", role="worker", userId="bob")
    commands.relay()
    while not chats.refresh("forgotten_refresh", "ann")["idle"]:
        pass
    told = commands.log("user:ann")
    assert "secret" not in json.dumps(told) and '"bob"' not in json.dumps(told)
    assert [data["lastMessage"] for _, data in told if data["id"] == "ann_cat"] == ["from cat"], "others' words stay"
    assert not scripts.subscribe("user:ann", since=(epoch, 1)).recovered
    assert scripts.subscribe("user:ann", since=(epoch, offset)).recovered


def drained(chats, user):
    """The events in the log of the user's own topic, without those that were deleted."""
    while not chats.refresh("forgotten_refresh", user)["idle"]:
        pass
    return json.dumps(chats.commands.log(f"user:{user}"))


def test_a_conversation_that_an_erasure_ends_leaves_the_partners_own_log(chats, commands):
    """A message that nobody had answered stood there for a day after its sender's erasure."""
    chats.send("ann", PAIR, "unanswered")
    commands.call("erase_chats", role="worker", userId="ann")
    commands.relay()
    log = drained(chats, "bob")
    assert "unanswered" not in log and "conversation:removed" in log


@pytest.mark.parametrize("gone", ["erased", "removed"])
def test_who_has_left_a_group_keeps_nothing_of_it_in_the_own_log(chats, commands, gone):
    """An erasure, or a message's removal, did not reach those who had left."""
    group = chats.group("cat", "ann", "bob")
    chats.send("ann", group, "in the group", id="m1")
    chats.send("cat", "bob_cat", "beside it")
    chats.do("remove_member", "bob", group, memberId="bob")
    if gone == "erased":
        commands.call("erase_chats", role="worker", userId="ann")
        commands.relay()
    else:
        chats.do("remove_message", "ann", group, messageId="m1")
    log = drained(chats, "bob")
    assert "in the group" not in log and "beside it" in log and "conversation:removed" in log


def test_a_long_log_is_searched_in_steps(chats, db, commands):
    """Erasures that come meanwhile have the whole log searched for them."""
    for number in range(450):
        text = json.dumps({"lastSenderId": ("bob", "eve", "dan")[number % 3], "n": number})
        db.xadd("user:ann#log", {"e": "conversation:updated", "d": text, "i": "-", "t": "1"}, id=f"{number + 1}-0")
    db.zadd("user:ann#forgotten", {"bob": 0})
    assert chats.refresh("forgotten_refresh", "ann") == {"idle": False, "again_ms": NOW_MS}
    db.zadd("user:ann#forgotten", {"eve": 0})
    runs = 2
    while not chats.refresh("forgotten_refresh", "ann")["idle"]:
        runs += 1
    assert runs <= 6 and not db.exists("user:ann#forgotten")
    assert {data["lastSenderId"] for _, data in commands.log("user:ann")} == {"dan"} and db.xlen("user:ann#log") == 150


@pytest.mark.parametrize("change", [("remove_message", {}), ("modify_message", {"text": "better"})])
def test_a_removed_or_changed_text_leaves_the_members_own_logs(chats, commands, change):
    """The text left the conversation's log, and its beginning stood in those of the members' own topics for a day."""
    chats.send("ann", PAIR, "lapsus linguae", id="m1")
    chats.send("ann", PAIR, "next", id="user:bob", now_ms=NOW_MS + 5)
    chats.do(change[0], "ann", PAIR, messageId="m1", **change[1])
    chats.do("remove_message", "ann", PAIR, messageId="user:bob")
    for user in ("ann", "bob"):
        while not chats.refresh("forgotten_refresh", user)["idle"]:
            pass
        assert "lapsus" not in json.dumps(commands.log(f"user:{user}")), user
    assert [data["lastMessage"] for _, data in commands.log("user:bob")][-1:] in ([None], [])
    chats.send("ann", PAIR, "open", now_ms=NOW_MS + 9)
    assert commands.log("user:bob")[-1][1]["lastMessage"] == "open"


# Blocks and the log


def test_who_comes_into_a_group_again_reads_no_blocked_words_in_its_log(chats, db):
    """While one of the two was out, the events told everything of the other, and the log kept them for a day."""
    group = chats.group("ann", "bob", "cat")
    chats.block("ann", "bob")
    chats.send("ann", group, "kept", now_ms=NOW_MS + 5)
    chats.do("remove_member", "bob", group, memberId="bob", now_ms=NOW_MS + 6)
    chats.send("ann", group, "secret", now_ms=NOW_MS + 10)
    chats.do("add_member", "cat", group, memberId="bob", now_ms=NOW_MS + 20)
    assert "secret" not in json.dumps(chats.log(group)) and len(chats.all("cat", group)) == 2
    chats.send("cat", group, "open", now_ms=NOW_MS + 30)
    chats.refresh("walls_refresh", "ann")
    assert [event for event, _ in chats.log(group)][-1] == "message:added", "one time is enough"


def test_a_block_between_old_members_leaves_the_log(chats):
    group = chats.group("ann", "bob", "cat")
    chats.send("ann", group, "before", now_ms=NOW_MS + 5)
    chats.block("ann", "bob")
    assert [event for event, _ in chats.log(group)] == ["message:added"]


# Who comes in again


def test_whom_the_maker_takes_out_stays_out(chats, db):
    """Any member could take such a user in again at once."""
    group = chats.group("ann", "bob", "cat", "eve")
    chats.do("remove_member", "ann", group, memberId="eve")
    assert "only who made the group" in refused("forbidden", chats.do, "add_member", "bob", group, memberId="eve")
    assert not db.hexists(f"conversation:{group}#roll", "eve")
    chats.do("add_member", "ann", group, memberId="eve")
    chats.do("remove_member", "eve", group, memberId="eve")
    chats.do("add_member", "bob", group, memberId="eve")
    assert db.hexists(f"conversation:{group}#roll", "eve"), "who leaves may be taken in by everybody"


def test_whom_a_service_takes_out_stays_out_too(chats, commands):
    group = chats.group("ann", "bob", "eve")
    chats.do("remove_member", None, group, memberId="eve", role="service")
    refused("forbidden", chats.do, "add_member", "bob", group, memberId="eve")
    chats.do("add_member", None, group, memberId="eve", userId="ann", role="service")
    # A user who leaves because of the bound of groups, which the worker does, is not taken out.
    commands.call("remove_member", role="worker", conversationId=group, memberId="eve")
    commands.relay()
    chats.do("add_member", "bob", group, memberId="eve")


def test_an_erasure_lets_nobody_back_whom_the_maker_took_out(chats):
    """The erasure forgot it as well, and users erase themselves: then any member took the user in again."""
    group = chats.group("ann", "bob", "eve")
    chats.send("eve", group, "words")
    chats.do("remove_member", "ann", group, memberId="eve")
    chats.do("erase_chats", None, role="worker", userId="eve")
    assert chats.all("ann", group) == []
    refused("forbidden", chats.do, "add_member", "bob", group, memberId="eve")
    chats.do("add_member", "ann", group, memberId="eve")


def test_the_eldest_member_follows_a_maker_who_is_erased(chats, commands, db):
    group = chats.group("ann", "bob")
    chats.do("add_member", "ann", group, memberId="cat", now_ms=NOW_MS + 5)
    chats.do("remove_member", "ann", group, memberId="ann")
    commands.call("erase_chats", role="worker", userId="ann")
    commands.relay()
    assert db.hget(f"conversation:{group}#facts", "creator") == b"bob"
    chats.do("remove_member", "bob", group, memberId="cat")
    assert db.hkeys(f"conversation:{group}#roll") == [b"bob"]
