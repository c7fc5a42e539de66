"""Blocks at the barbershops: the roster of who is there, and whose posts a user gets."""

import pytest

from Fixtures.scripts.command_scripts import Commands, Failed
from Fixtures.scripts.lua_scripts import LUA

SHOP = "shop:1"


class Shops(Commands):
    """The scripts of the pack, and what the worker does after a change of blocks."""

    def __init__(self, db):
        super().__init__(db, LUA / "barbershop")
        self.token = 0

    def come(self, *users):
        for user in users:
            self.check_in(shopId="1", userId=user)
            self.relay()

    def go(self, user):
        self.check_out(shopId="1", userId=user)
        self.relay()

    def block(self, user, other, blocked=True):
        change = self.db.sadd if blocked else self.db.srem
        change(f"user:{user}#blocks", other)
        change(f"user:{other}#blockers", user)
        self.token += 1
        for name, whose in (("shop_blocks_refresh", user), ("unfollow_blocks_refresh", user),
                            ("unfollow_blockers_refresh", other)):
            self.call(name, userId=whose, token=self.token)
        return self.relay()

    def seen_by(self, user, role="user"):
        return sorted(self.call("roster", user, role, shopId="1")[0]["users"])


@pytest.fixture
def shops(db):
    return Shops(db)


@pytest.mark.parametrize("blocker, blocked", [("ann", "bob"), ("bob", "ann")])
def test_the_roster_of_a_shop_hides_across_a_block(db, shops, blocker, blocked):
    """The roster showed a blocked user to everybody who is there, and the other way round."""
    shops.come("ann", "bob", "cat")
    shops.block(blocker, blocked)
    assert shops.seen_by("ann") == ["ann", "cat"] and shops.seen_by("bob") == ["bob", "cat"]
    assert shops.seen_by("cat") == shops.seen_by("", "service") == ["ann", "bob", "cat"]
    answer = shops.call("roster", "ann", "user", shopId="1")[0]
    assert (answer["count"], answer["next"]) == (3, None)
    # Who leaves and comes again brings the block along; whom a block ends for is seen.
    shops.go(blocker)
    assert db.exists(SHOP + "#apart") == 0
    shops.come(blocker)
    assert shops.seen_by("ann") == ["ann", "cat"]
    shops.block(blocker, blocked, False)
    assert shops.seen_by("ann") == shops.seen_by("bob") == ["ann", "bob", "cat"]


def test_presence_that_lapses_and_an_erasure_take_the_blocks_along(db, shops):
    for user in ("ann", "bob"):
        shops.come("ann", "cat")
        shops.block("ann", "bob")
        assert db.hgetall(SHOP + "#apart") == {b">ann": b"bob ", b"<bob": b"ann "}
        assert 0 < db.ttl(SHOP + "#apart") <= 172_800
        if user == "ann":
            shops.now_ms += 100_000
            shops.token += 1
            shops.call("presence_refresh", shopId="1", token=shops.token)
        else:
            shops.call("erase_barbershop", userId="ann", role="worker")
        shops.relay()
        assert db.exists(SHOP + "#apart") == 0
    # A word that comes late finds that the user has left.
    shops.call("shop_blocks", role="worker", shopId="1", userId="ann", blocks=["bob"], version=10 ** 15)
    assert db.exists(SHOP + "#apart") == 0


@pytest.mark.parametrize("blocker, blocked", [("ann", "barber"), ("barber", "ann")])
def test_a_block_ends_the_following_of_a_barber(db, shops, blocker, blocked):
    """A block left the follower's sessions on the barber's topic, and the barber's posts in the follower's feed."""
    for barber in ("barber", "other"):
        shops.follow(barberId=barber, userId="ann")
    shops.block(blocker, blocked)
    assert shops.log("user:ann")[-1] == ("follows:changed", {"topic": "feed:barber", "following": False})
    assert shops.following(userId="ann")["barbers"] == ["other"]
    with pytest.raises(Failed, match="forbidden"):
        shops.follow(barberId="barber", userId="ann")
    shops.block(blocker, blocked, False)
    assert shops.follow(barberId="barber", userId="ann")["count"] == 2
