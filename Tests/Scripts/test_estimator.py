"""The simulated estimator against the formula, over days that are lived through the real scripts."""

import random

from Fixtures.scripts.lua_scripts import NOW_MS
from Fixtures.scripts.shop_day import ShopDay

SEED = 20_261_121
SHOPS = 3
DAYS = 12
DAY_MS = 86_400_000


def error(customers, promised):
    return sum(abs(getattr(one, promised) - one.wait) for one in customers) / len(customers)


def covered(customers):
    return sum(one.wait <= one.p90 for one in customers) / len(customers)


def test_estimate_is_nearer_the_truth_than_the_formula(db, commands):
    rng = random.Random(SEED)
    print(f"\nseed {SEED}\nshop  customers  waited  error of formula  of estimate   ratio  below p90")
    everybody = []
    for shop in range(SHOPS):
        db.hset(f"shop:{shop}#settings", "estimator", "simulated")
        customers = []
        for day in range(DAYS):
            served = ShopDay(commands, rng, NOW_MS + day * DAY_MS, shop=str(shop), names_barbers=shop != 1).live()
            assert db.hlen(f"shop:{shop}#bookings") <= 20
            db.delete(f"shop:{shop}#bookings")  # who still waited when the shop closed
            customers += [one for one in served if one.p50 is not None]
        everybody += customers
        report(str(shop), [one for one in customers if not one.black])
    standard = [one for one in everybody if not one.black]
    report("all", standard)
    report("black", [one for one in everybody if one.black])
    assert len(standard) > 1_000
    assert error(standard, "p50") <= 0.7 * error(standard, "formula")
    assert 0.8 <= covered(standard) <= 0.98


def report(name, customers):
    formula, estimate = error(customers, "formula"), error(customers, "p50")
    waited = sum(one.wait for one in customers) / len(customers)
    print(f"{name:5} {len(customers):9} {waited:7.1f} {formula:17.2f} {estimate:12.2f} {estimate / formula:8.2f} "
          f"{covered(customers):10.3f}")
