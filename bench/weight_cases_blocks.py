"""What shops and feeds know of blocks, at the limits: who blocks as many as possible, and who is blocked by more."""

from weight_cases import LONG, USERS, case
from weight_cases_shops import PRESENT, crowd


@case
def roster_apart(site):
    """By one whom more block than are listed, among those who block as many as possible."""
    crowd(site)
    blocked = "".join(f"{n:03}-{'b' * 32} " for n in range(240))
    site.fill(lambda pipe, n: pipe.hset("shop:s#apart", ">" + PRESENT.format(USERS - 1 - n), blocked), 500)
    site.db.hset("shop:s#apart", "<" + PRESENT.format(1), "".join(f"{n:03}-{'c' * 32} " for n in range(110)) + "*")
    return lambda n: site.commands.roster(shopId="s", user=PRESENT.format(1), role="user")


def blocking(site, user="u"):
    """A user who blocks as many as possible."""
    site.db.sadd(f"user:{user}#blocks", *(f"{number:03}{LONG}" for number in range(240)))


@case
def user_place_blocking(site):
    blocking(site)
    return lambda n: site.commands.user_place(
        role="worker", userId="u", topic=f"shop:{n}", here=n % 2 == 0, id=f"op-{n}")


@case
def shop_blocks(site):
    crowd(site)
    lists = [[f"{n:03}{letter}{LONG}" for n in range(240)] for letter in "de"]
    return lambda n: site.commands.shop_blocks(
        role="worker", shopId="s", userId=PRESENT.format(0), blocks=lists[n % 2], version=n + 1)


@case
def shop_blocks_refresh(site):
    blocking(site)
    site.db.sadd("user:u#places", *(f"shop:{number:02}" for number in range(16)))
    return lambda n: site.commands.shop_blocks_refresh(userId="u", token=n + 1)


def followed(site, facet):
    """A user who follows as many as possible, fifty of whom are in a set."""
    def call(n):
        site.db.sadd("user:u#follows", *(f"feed:{number:04}{LONG}" for number in range(1_000)))
        site.db.sadd(f"user:u#{facet}", *(f"{number:04}{LONG}" for number in range(50)))
        site.db.config_resetstat()
        return site.commands.call(f"unfollow_{facet}_refresh", userId="u", token=n + 1)[0]
    return call


@case
def unfollow_blocks_refresh(site):
    return followed(site, "blocks")


@case
def unfollow_blockers_refresh(site):
    return followed(site, "blockers")
