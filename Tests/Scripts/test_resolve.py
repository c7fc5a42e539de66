"""Values that a key names: found before the script, and found again by it."""

import pytest
import redis

from Fixtures.scripts.command_scripts import Commands, Failed
from Fixtures.scripts.derived_values import geohash

SCRIPT = """-- @command  try
-- @summary  For tests.
-- @allow    user
-- @arg      userId user
-- @arg      songId id as id
-- @resolve  room = user:{userId}#room else not_in_room 404 -- You are in no room.
-- @resolve  bed = user:{userId}#places bed else not_found -- None.
-- @key      songs shop:{room}#songs
-- @topic    shop:{room}
-- @returns  {}
-- @cost     O(1)
write('SADD', key.songs, args.songId)
emit('shop:' .. args.room, 'song', {bed = args.bed})
return {room = args.room}
"""


@pytest.fixture
def trial(db, tmp_path):
    (tmp_path / "try.lua").write_text(SCRIPT)
    db.set("user:u1#room", "42")
    db.hset("user:u1#places", "bed", "b1")
    return Commands(db, tmp_path)


def test_the_script_works_where_the_keys_lead(trial, db):
    assert trial.call("try", userId="u1", songId="s1") == ({"room": "42"}, 0)
    assert db.smembers("shop:42#songs") == {b"s1"} and trial.log("shop:42") == [("song", {"bed": "b1"})]
    db.delete("user:u1#room")
    with pytest.raises(Failed, match="not_in_room: You are in no room."):
        trial.call("try", userId="u1", songId="s1")


@pytest.mark.parametrize("key, change", [
    ("user:u1#room", lambda db: db.set("user:u1#room", "43")), ("user:u1#room", lambda db: db.delete("user:u1#room")),
    ("user:u1#places", lambda db: db.hset("user:u1#places", "bed", "b2")),
    ("user:u1#places", lambda db: db.delete("user:u1#places")),
])
def test_a_value_that_is_another_by_then_stops_the_script(trial, db, monkeypatch, key, change):
    """A song landed in the room that its user had just left."""
    make = trial._make

    def made_before_the_change(header, values):
        make(header, values)
        change(db)
    monkeypatch.setattr(trial, "_make", made_before_the_change)
    with pytest.raises(redis.ResponseError, match="^STALE "):
        trial.call("try", userId="u1", songId="s1")
    assert not db.exists("shop:42#songs", "shop:42#log", "shop:43#songs", "shop:43#log")


def test_where_nothing_is_stored_an_id_takes_its_place(db, tmp_path, monkeypatch):
    """Also the check inside the script: what is stored meanwhile is another value, and nothing stored is the same."""
    (tmp_path / "try.lua").write_text(SCRIPT.replace("else not_in_room 404 -- You are in no room.", "else = none"))
    db.hset("user:u1#places", "bed", "b1")
    trial = Commands(db, tmp_path)
    assert trial.call("try", userId="u1", songId="s1") == ({"room": "none"}, 0)
    make = trial._make

    def made_before_the_change(header, values):
        make(header, values)
        db.set("user:u1#room", "42")
    monkeypatch.setattr(trial, "_make", made_before_the_change)
    with pytest.raises(redis.ResponseError, match="^STALE "):
        trial.call("try", userId="u1", songId="s1")


def test_a_key_of_another_type_is_told(trial, db, monkeypatch):
    def made(header, values):
        values.update(room="42", bed="b1")
    monkeypatch.setattr(trial, "_make", made)
    db.delete("user:u1#room")
    db.sadd("user:u1#room", "42")
    with pytest.raises(redis.ResponseError, match="^BADKEY a resolved key"):
        trial.call("try", userId="u1", songId="s1")


def test_a_body_cannot_touch_the_key_that_named_its_own(db, tmp_path):
    (tmp_path / "try.lua").write_text(SCRIPT.replace("write('SADD', key.songs, args.songId)",
                                                     "write('SET', 'user:u1#room', 'x')"))
    db.set("user:u1#room", "42")
    db.hset("user:u1#places", "bed", "b1")
    with pytest.raises(redis.ResponseError, match="^FAULT "):
        Commands(db, tmp_path).call("try", userId="u1", songId="s1")


def test_the_gateways_script_reads_texts_and_fields(scripts, db):
    db.set("a", "1")
    db.hset("b", "f", "2")
    assert scripts.resolve(["a", "b", "b", "c"], ["", "f", "g", ""]) == ["1", "2", None, None]
    with pytest.raises(redis.ResponseError, match="^BADKEY "):
        scripts.resolve(["b"], [""])


@pytest.mark.parametrize("latitude, longitude", [(48.137, 11.575), (-33.86, 151.2), (0.1, -0.1), (84.9, 179.9)])
def test_cells_are_those_of_redis(db, latitude, longitude):
    """Redis answers 11 characters, of a grid that ends at 85 degrees; the first ten agree."""
    db.geoadd("places", (longitude, latitude, "x"))
    assert geohash(latitude, longitude, 10) == db.geohash("places", "x")[0][:10]
