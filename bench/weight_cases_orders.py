"""The scripts of orders at their limits: one asks for a token, one reads the newest events of a log."""

import json

from weight_cases import case


@case
def order_pass(site):
    return lambda n: site.commands.call("order_pass", role="service", random=f"{n + 1:032x}", orderId=f"o{n}")[0]


@case
def state_order(site):
    """No event has a status; the weight of a join without a state is taken off."""
    return standing(site, 20, {"x": "y" * 3_000})


@case
def state_order_values(site):
    """As much as is parsed, all of small values; a status is named, and is none."""
    return standing(site, 20, {"about": {"status": 1}, "x": [1] * 1_600})


@case
def state_order_long(site):
    """The longest events, of which no one has a status."""
    return standing(site, 20, {"about": {"status": 1}, "x": [1] * 32_000})


def standing(site, count, payload):
    topic = "order:o"
    for number in range(count):
        data = json.dumps(payload, separators=(",", ":"))
        site.scripts.publish(topic=topic, event="webhook_image_processed", data=data)
    keys, times = [f"{topic}#log", f"{topic}#meta"], []
    for _ in range(9):
        site.db.config_resetstat()
        site.scripts.subscribe(topic=topic)
        times.append(site.db.info("commandstats")["cmdstat_evalsha"]["usec"])
    site.without = sorted(times)[2]
    return lambda n: site.scripts.state("order", keys, pack="orders")
