"""The scripts of listeners nearby at their limits: two crowds of long names, and somebody who jumps between them."""

from Fixtures.scripts.nearby_scripts import NearbyCommands
from weight_cases import case

HERE, THERE = (52.52, 13.40), (52.60, 13.40)
CROWD = 300
WORD = "\U0001d11e" * 200
NAMES = {"trackName": WORD, "artist": WORD, "albumName": WORD, "albumImageUrl": "u" * 200}


def user(number):
    return f"{number:06}" + "u" * 122


#: The keys of the two crowds, and how long they live: to make them takes longer than to measure all scripts.
made = {}


def crowds(site, **settings):
    """Two crowds within 100 m each, and the first user of the first, who follows and blocks as many as possible."""
    pack = NearbyCommands(site.db)
    if made:
        with site.db.pipeline(transaction=False) as pipe:
            for key, (text, life_ms) in made.items():
                pipe.restore(key, max(life_ms, 0), text)
            pipe.execute()
        return pack, user(0)
    for number in range(2 * CROWD):
        if number < 150 or number in range(CROWD, CROWD + 150):
            pack.set_listener(userId=user(number), displayName=WORD[:60], spotifyId="s" * 64)
            pack.set_track(userId=user(number), trackId="t" * 64, duration=1, isPlaying=True, **NAMES)
        place = HERE if number < CROWD else THERE
        pack.set_location(
            userId=user(number), latitude=place[0] + number * 7919 % CROWD / CROWD / 1_000,
            longitude=place[1] + number * 104_729 % CROWD / CROWD / 1_000, city="c" * 80)
    me = user(0)
    site.db.sadd(f"user:{me}#blocks", *(f"blocked-{number:0120}" for number in range(400)))
    site.db.sadd(f"user:{me}#blockers", *(f"blocker-{number:0120}" for number in range(400)))
    site.db.sadd(f"user:{me}#mutes", *(f"muted-{number:0120}" for number in range(240)))
    site.db.sadd(f"user:{me}#muters", *(f"muter-{number:0120}" for number in range(400)))
    site.db.sadd(f"user:{me}#followers", *(user(number) for number in range(200)))
    site.db.sadd(f"user:{me}#sees", *(user(number) for number in range(200)))
    site.db.delete("#outbox")
    made.update({key: (site.db.dump(key), site.db.pttl(key)) for key in site.db.keys("*")})
    return pack, me


@case
def set_location(site):
    pack, me = crowds(site)

    def call(n):
        place = (HERE, THERE)[n % 2]
        pack.set_location(userId=me, latitude=place[0] + 0.0005, longitude=place[1] + 0.0005 + n / 1e6)
    return call


@case
def sync_listener(site):
    pack, me = crowds(site)
    cell = site.db.hget(f"user:{me}#place", "cell").decode()

    def call(n):
        place = (HERE, THERE)[n % 2]
        place = {"latitude": place[0] + 0.0005, "longitude": place[1] + 0.0005 + n / 1e6}
        site.db.hset(f"user:{me}#place", mapping=place)
        site.db.config_resetstat()
        pack.sync_listener(cell=cell, userId=me, role="worker")
    return call


@case
def set_privacy(site):
    pack, me = crowds(site)
    return lambda n: pack.set_privacy(userId=me, visible=("followers", "everyone")[n % 2])


@case
def delete_location(site):
    pack, me = crowds(site)

    def call(n):
        pack.set_location(userId=me, latitude=HERE[0] + 0.0005, longitude=HERE[1] + 0.0005)
        site.db.config_resetstat()
        pack.delete_location(userId=me)
    return call


@case
def erase_nearby(site):
    pack, me = crowds(site)

    def call(n):
        site.db.sadd(f"user:{me}#followers", *(user(number) for number in range(200)))
        site.db.sadd(f"user:{me}#sees", *(user(number) for number in range(200)))
        site.db.delete("#outbox")
        pack.set_location(userId=me, latitude=HERE[0] + 0.0005, longitude=HERE[1] + 0.0005)
        site.db.config_resetstat()
        pack.erase_nearby(userId=me, role="worker")
    return call


@case
def nearby(site):
    pack, me = crowds(site)
    page = pack.nearby(userId=me, radius=20_000, limit=40)
    for _ in range(2):
        page = pack.nearby(userId=me, radius=20_000, limit=40, cursor=page["cursor"])
    return lambda n: pack.nearby(userId=me, radius=20_000, limit=40, cursor=page["cursor"])


@case
def set_track(site):
    pack, me = crowds(site)
    return lambda n: pack.set_track(userId=me, trackId=f"t{n}", duration=1, isPlaying=True, **NAMES)


@case
def set_listener(site):
    pack, me = crowds(site)
    return lambda n: pack.set_listener(userId=me, displayName=WORD[:60], spotifyId=f"s{n}")


@case
def allow_follower(site):
    pack, me = crowds(site)

    def call(n):
        site.db.srem(f"user:{me}#followers", user(n))
        site.db.config_resetstat()
        pack.allow_follower(userId=me, followerId=user(n))
    return call


@case
def drop_follower(site):
    pack, me = crowds(site)
    return lambda n: pack.drop_follower(userId=me, followerId=user(n))


@case
def set_sees(site):
    pack, me = crowds(site)
    return lambda n: pack.set_sees(userId=me, otherId=user(n), sees=False, role="worker")


@case
def blocks_refresh(site):
    pack, me = crowds(site)
    return lambda n: pack.blocks_refresh(userId=me)


@case
def blockers_refresh(site):
    pack, me = crowds(site)
    return lambda n: pack.blockers_refresh(userId=me)


@case
def mutes_refresh(site):
    pack, me = crowds(site)
    return lambda n: pack.mutes_refresh(userId=me)


@case
def muters_refresh(site):
    pack, me = crowds(site)
    return lambda n: pack.muters_refresh(userId=me)


@case
def export_nearby(site):
    pack, me = crowds(site)
    return lambda n: pack.export_nearby(userId=me, role="worker")


@case
def listeners_refresh(site):
    """Eight leave a crowd at once."""
    pack, me = crowds(site)
    cell = site.db.hget(f"user:{me}#place", "cell").decode()

    def call(n):
        gone = site.db.hmget(f"cell:{cell}#slots", [user(8 * n + number) for number in range(8)])
        site.db.zadd(f"cell:{cell}#signs", dict.fromkeys(gone, 1))
        site.db.config_resetstat()
        pack.listeners_refresh(cell=cell)
    return call
