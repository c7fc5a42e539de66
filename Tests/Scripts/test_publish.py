"""publish.lua: offsets, log, idempotency, epochs, and the message every gateway reads."""

import pytest
import redis

from Fixtures.scripts.lua_scripts import NOW_MS, Keys, Scripts

KEYS = Keys()


def test_offsets_count_from_one(scripts):
    first = scripts.publish(epoch="k3x9")
    assert first == ("k3x9", 1, 0)
    assert [scripts.publish()[:2] for _ in range(3)] == [("k3x9", 2), ("k3x9", 3), ("k3x9", 4)]


def test_channel_message_has_the_documented_form(scripts, listener):
    scripts.publish(epoch="k3x9", event="queue:update", data='{"n": 1}')
    scripts.publish(event="a/b.c-d_e:F", data='{"text":"line\\nline"}', id="op~1.2:3_-")
    assert listener() == [
        b'Pk3x9 1 queue:update -\n{"n": 1}',
        b'Pk3x9 2 a/b.c-d_e:F op~1.2:3_-\n{"text":"line\\nline"}',
    ]


def test_the_session_that_publishes_is_told_on_the_channel_only(scripts, db, listener):
    """A session that does not want its event back is named behind the id; the id means what it means without."""
    assert scripts.publish(epoch="k", id="op-1 s_-9", print="ab") == ("k", 1, 0)
    assert scripts.publish(id="op-1", print="ab") == ("k", 1, 1)
    assert scripts.publish(id="op-1 other", print="ab") == ("k", 1, 1)
    scripts.publish(id="- s1")
    scripts.publish_several([("e", "{}", "- s1"), ("e", "{}", "-"), ("e", "{}", "op-2 s2")])
    heads = [message.split(b"\n")[0] for message in listener()]
    assert heads == [b"Pk 1 queue:update op-1 s_-9", b"Pk 2 queue:update - s1", b"Pk 3 e - s1", b"Pk 4 e -",
                     b"Pk 5 e op-2 s2"]
    assert [fields[b"i"] for _, fields in db.xrange(KEYS.log)] == [b"op-1", b"-", b"-", b"-", b"op-2"]


@pytest.mark.parametrize("id", ["op ", "op a b", "op a.b", "op  a", "op a\nb", " a", "op " + "x" * 33, "- "])
def test_what_is_no_session_is_refused(scripts, db, id):
    with pytest.raises(redis.ResponseError, match="BADARG id"):
        scripts.publish(id=id, print="ab")
    assert not db.exists(KEYS.log)


def test_log_entry_has_the_documented_fields(scripts, db):
    scripts.publish(data='{"n":7}', id="op-1")
    assert db.xrange(KEYS.log) == [
        (b"1-0", {b"e": b"queue:update", b"d": b'{"n":7}', b"i": b"op-1", b"t": str(NOW_MS).encode()})]


def test_meta_holds_epoch_offset_and_run(scripts, db):
    scripts.publish(epoch="k3x9")
    scripts.publish()
    assert db.hgetall(KEYS.meta) == {b"epoch": b"k3x9", b"offset": b"2", b"run": scripts.run.encode(),
                                     b"until": str(NOW_MS + 338_000).encode()}


def test_topics_do_not_share_offsets(scripts):
    assert scripts.publish("shop:1")[1] == 1
    assert scripts.publish("shop:2")[1] == 1
    assert scripts.publish("shop:1")[1] == 2


@pytest.mark.parametrize("log_max", [1, 2, 7, 99])
def test_log_keeps_exactly_log_max_events(scripts, db, log_max):
    for _ in range(log_max + 5):
        scripts.publish(log_max=log_max)
    ids = [entry[0] for entry in db.xrange(KEYS.log)]
    assert ids == [f"{offset}-0".encode() for offset in range(6, log_max + 6)]


@pytest.mark.parametrize("log_max", [100, 101, 250])
def test_long_log_keeps_log_max_events_and_at_most_nine_more(scripts, db, log_max):
    for offset in range(1, log_max + 41):
        scripts.publish(log_max=log_max)
        if offset >= log_max:
            assert log_max <= db.xlen(KEYS.log) <= log_max + 9
            assert db.xinfo_stream(KEYS.log)["last-entry"][0] == f"{offset}-0".encode()
        if offset > log_max and offset % 10 == 0:
            assert db.xlen(KEYS.log) == log_max


def test_lowered_log_max_trims_at_the_next_event(scripts, db):
    for _ in range(150):
        scripts.publish(log_max=200)
    scripts.publish(log_max=10)
    assert db.xlen(KEYS.log) == 10


def test_without_a_log_positions_still_advance(scripts, db, listener):
    scripts.publish(epoch="k", log_max=0)
    assert scripts.publish(log_max=0) == ("k", 2, 0)
    assert not db.exists(KEYS.log)
    assert len(listener()) == 2


def test_times_to_live(scripts, db):
    """An eighth of the log's life is spare, for log and position."""
    scripts.publish(id="op-1", log_ttl_s=300, meta_ttl_s=86400, seen_ttl_s=200)
    assert 337 <= db.ttl(KEYS.log) <= 338
    assert 86437 <= db.ttl(KEYS.meta) <= 86438
    assert 199 <= db.ttl(KEYS.seen("op-1")) <= 200


@pytest.mark.parametrize("quick", [True, False])
def test_lives_are_renewed_when_half_of_what_is_spare_is_used_up(db, quick):
    scripts = Scripts(db, quick=quick)
    scripts.publish()

    def renews(**arguments):
        db.expire(KEYS.log, 200)
        db.expire(KEYS.meta, 200)
        scripts.publish(**arguments)
        lives = db.ttl(KEYS.log), db.ttl(KEYS.meta)
        assert (lives[0] > 200) == (lives[1] > 200)
        return lives[0] > 200

    assert not renews(now_ms=NOW_MS) and not renews(now_ms=NOW_MS + 19_000)
    assert renews(now_ms=NOW_MS + 19_300)
    assert not renews(now_ms=NOW_MS + 38_000) and renews(now_ms=NOW_MS + 38_700)
    assert renews(now_ms=NOW_MS), "a clock that stands behind the one of before"
    assert renews(log_ttl_s=400) and not renews(log_ttl_s=400) and renews(log_ttl_s=300)
    for text in ("", "nan", "inf", "soon", "-1"):
        db.hset(KEYS.meta, "until", text)
        assert renews(), text
    for _ in range(2):
        db.expire(KEYS.meta, 200)
        scripts.publish(log_max=0)
        assert db.ttl(KEYS.meta) > 86_000, "without a log nothing tells that it is gone"


@pytest.mark.parametrize("log_ttl_s", [1, 2, 7, 16, 300, 86_400])
def test_a_log_outlives_every_event_by_its_life(scripts, db, rng, log_ttl_s):
    """Whatever the times between events: what is left is at least the life promised, and an eighth more at most."""
    now_ms = NOW_MS
    for _ in range(300):
        now_ms += rng.randrange(max(2, log_ttl_s * rng.choice([1, 20, 200])))
        scripts.publish(now_ms=now_ms, log_ttl_s=log_ttl_s, meta_ttl_s=86_400)
        left_ms = int(db.hget(KEYS.meta, "until")) - now_ms
        assert log_ttl_s * 1_000 <= left_ms <= (log_ttl_s * 1.125 + 1) * 1_000


@pytest.mark.parametrize("quick", [True, False])
def test_no_log_is_made_that_stays_for_ever(db, quick):
    """A log that somebody deletes while its life is not yet renewed comes back with one."""
    scripts = Scripts(db, quick=quick)
    for log_max in (5, 200):
        scripts.publish(log_max=log_max)
        db.delete(KEYS.log)
        scripts.publish(log_max=log_max)
        assert db.xlen(KEYS.log) == 1 and 0 < db.ttl(KEYS.log) <= 338


def test_offsets_go_on_after_the_log_expired(scripts, db):
    scripts.publish(epoch="k")
    db.delete(KEYS.log)
    assert scripts.publish() == ("k", 2, 0)


# Idempotency


def test_retry_returns_the_first_position_and_changes_nothing(scripts, db, listener, unchanged):
    first = scripts.publish(id="op-1", epoch="k")
    scripts.publish()
    listener()
    with unchanged():
        assert scripts.publish(id="op-1") == ("k", first[1], 1)
    assert listener() == []


def test_ids_belong_to_their_topic(scripts):
    scripts.publish("shop:1", id="op-1")
    assert scripts.publish("shop:2", id="op-1")[2] == 0


def test_id_is_forgotten_after_its_time(scripts, db):
    scripts.publish(id="op-1")
    db.delete(KEYS.seen("op-1"))
    assert scripts.publish(id="op-1")[1:] == (2, 0)


def test_an_id_belongs_to_its_publisher(scripts, listener):
    """The second member of a conversation who chose `op-1` was acked with the first one's offset, and his message
    existed nowhere."""
    assert scripts.publish(id="op-1", data='{"from":1}', epoch="k") == ("k", 1, 0)
    assert scripts.publish(id="op-1", data='{"from":2}', owner="user:u2") == ("k", 2, 0)
    assert scripts.publish(id="op-1", data='{"from":1}', owner="key:u1") == ("k", 3, 0)
    assert scripts.publish(id="op-1", data='{"from":2}', owner="user:u2") == ("k", 2, 1)
    assert len(listener()) == 3


@pytest.mark.parametrize("other", [{"data": '{"n":2}'}, {"event": "other"}], ids=["data", "event"])
def test_a_known_id_for_something_else_is_a_conflict(scripts, unchanged, listener, other):
    """It was acked as a duplicate, and what it carried was lost in silence."""
    scripts.publish(id="op-1")
    listener()
    with unchanged():
        assert scripts.publish(id="op-1", **other) == ("", 0, 2)
    assert listener() == []


@pytest.mark.parametrize("change", ["another run", "lost meta", "the caller knows of more"])
def test_a_retry_in_another_epoch_is_published_anew(scripts, db, listener, change):
    """It was acked as a duplicate in the dead epoch, and no log held the event."""
    scripts.publish(id="op-1", epoch="old")
    again = {"another run": {"run": "second"}, "lost meta": {}, "the caller knows of more": {"top": ("old", 9)}}[change]
    if change == "lost meta":
        db.delete(KEYS.meta)
    listener()
    assert scripts.publish(id="op-1", epoch="new", **again) == ("new", 1, 0)
    assert [message.split(b" ")[0] for message in listener()] == [b"Pnew"]
    assert [entry[1][b"i"] for entry in db.xrange(KEYS.log)] == [b"op-1"]
    assert scripts.publish(id="op-1", **{name: value for name, value in again.items() if name == "run"}) == (
        "new", 1, 1)


@pytest.mark.parametrize("print", ["", "xyz", "a" * 65, "a b", "-"], ids=repr)
def test_an_id_needs_a_fingerprint(scripts, unchanged, print):
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG print"):
        scripts.publish(id="op-1", print=print)


def test_retry_after_a_lost_reply_stores_once(scripts, db):
    """The retry that follows an unknown outcome."""
    for number in range(500):
        first = scripts.publish(id=f"op-{number}")
        assert scripts.publish(id=f"op-{number}") == (first[0], first[1], 1)
    assert db.hget(KEYS.meta, "offset") == b"500"


# Epochs


def test_flush_begins_a_new_epoch(scripts, db):
    before = scripts.publish()
    db.flushall()
    after = scripts.publish()
    assert after[0] != before[0] and after[1] == 1


def test_lost_meta_begins_a_new_epoch_and_drops_the_log(scripts, db):
    for _ in range(5):
        scripts.publish(epoch="old")
    db.delete(KEYS.meta)
    assert scripts.publish(epoch="new") == ("new", 1, 0)
    assert [entry[0] for entry in db.xrange(KEYS.log)] == [b"1-0"]


def test_another_run_of_redis_begins_a_new_epoch_and_drops_the_log(scripts, db):
    for _ in range(5):
        scripts.publish(epoch="old")
    assert scripts.publish(epoch="new", run="second") == ("new", 1, 0)
    assert scripts.publish(run="second") == ("new", 2, 0)
    assert db.xlen(KEYS.log) == 2 and db.hget(KEYS.meta, "run") == b"second"


def test_rolled_back_meta_begins_a_new_epoch(scripts, db):
    """The log knows offsets that meta does not: they must not be given out twice."""
    for _ in range(5):
        scripts.publish(epoch="old")
    db.hset(KEYS.meta, "offset", 3)
    assert scripts.publish(epoch="new") == ("new", 1, 0)
    assert db.xlen(KEYS.log) == 1


def test_exhausted_stream_begins_a_new_epoch(scripts, db):
    scripts.publish(epoch="old")
    db.xadd(KEYS.log, {"a": "b"}, id="18446744073709551615-18446744073709551615")
    assert scripts.publish(epoch="new") == ("new", 1, 0)


@pytest.mark.parametrize("fields", [
    {"epoch": ""}, {"epoch": "a b"}, {"epoch": "x" * 33}, {"epoch": "\n"}, {"epoch": b"\xff\x00"},
    {"offset": ""}, {"offset": "-1"}, {"offset": "nan"}, {"offset": "inf"}, {"offset": "1e3"}, {"offset": "0x10"},
    {"offset": " 5"}, {"offset": "05"}, {"offset": "5.0"}, {"offset": "9007199254740992"}, {"offset": "9" * 40},
    {"offset": b"5\x00"}, {"run": ""}, {"run": "other"},
])
def test_unreadable_meta_begins_a_new_epoch(scripts, db, fields):
    scripts.publish(epoch="old")
    db.hset(KEYS.meta, mapping=fields)
    assert scripts.publish(epoch="new") == ("new", 1, 0)
    meta = db.hgetall(KEYS.meta)
    # What is readable of the old position tells couriers of which epoch the past log is.
    assert meta.pop(b"past", None) == (f"old {NOW_MS}".encode() if "run" in fields else None)
    assert meta == {b"epoch": b"new", b"offset": b"1", b"run": scripts.run.encode(),
                    b"until": str(NOW_MS + 338_000).encode()}


def test_offsets_are_whole_up_to_the_last_one(scripts, db, listener):
    """2^53 - 1 is the last offset that every JSON reader gets right; after it a new epoch begins."""
    scripts.publish(epoch="old")
    db.delete(KEYS.log)
    db.hset(KEYS.meta, "offset", 2**53 - 3)
    assert scripts.publish() == ("old", 2**53 - 2, 0)
    assert scripts.publish() == ("old", 2**53 - 1, 0)
    assert scripts.publish(epoch="new") == ("new", 1, 0)
    assert [message.split(b" ")[1] for message in listener()][1:] == [b"9007199254740990", b"9007199254740991", b"1"]


def test_candidate_is_ignored_while_the_epoch_lasts(scripts):
    scripts.publish(epoch="old")
    assert scripts.publish(epoch="new")[0] == "old"


# Data is bytes


@pytest.mark.parametrize("data", [
    "{}", '{"a":"\\u0000"}', '{"a":"é😀"}', '{"a":"P1 2 e -"}', '{"a":"\x7f"}', '{"a":"\r\n"}',
    b'{"a":"\xff\xfe\x00\x80"}', b"{\x00}", "{" + "[" * 10_000 + "}", '{"a":"' + "x" * 1_000_000 + '"}',
], ids=range(10))
def test_data_travels_unchanged(scripts, db, listener, data):
    expected = data if isinstance(data, bytes) else data.encode()
    scripts.publish(epoch="k", data=data)
    assert listener() == [b"Pk 1 queue:update -\n" + expected]
    assert db.xrange(KEYS.log)[0][1][b"d"] == expected
    assert scripts.history()[3] == [(b"1", b"queue:update", expected, b"-")]
