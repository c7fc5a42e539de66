"""The tables of docs/capacity.md and docs/capacity-large.md, between markers; all else in them is written by hand."""

import json
import math
import re
from pathlib import Path

from examples import APPS, CLUSTER, LARGE, LOADS, SITES, TEN_MILLION
from figures import FIGURES, STEPS
from model import Load, Site, divided, plan, redis_us

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = DOCS / "capacity.md", DOCS / "capacity-large.md"
# More than the step before leaves: other work is told, since what a step costs is then rather too high.
LOAD_TOLD = 3
# What each master has to bear by itself.
UNDIVIDED = ("connections at a master", "processor of the master of the busiest id")
MARKED = re.compile(r"(<!-- capacity: (\w+) -->\n).*?(<!-- end -->)", re.S)


def number(value: float) -> str:
    """A number for people: three digits that count, thousands apart."""
    if math.isinf(value):
        return "never"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{round(value, digits):,.{min(digits, 3)}f}" if abs(value) < 100 else f"{round_to(value):,}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def round_to(value: float) -> int:
    """Three digits that count."""
    unit = 10 ** max(0, math.floor(math.log10(abs(value))) - 2)
    return int(round(value / unit) * unit)


def size(value: float) -> str:
    """Bytes, in the unit that suits them."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= unit:
            return f"{number(value / unit)} {name}"
    return f"{number(value)} B"


def bits(value: float) -> str:
    """Bits a second, in the unit that suits them."""
    return size(value).replace("B", "bit/s")


def table(head, rows) -> list:
    """Lines of a Markdown table."""
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


def turned(head: str, names, rows) -> list:
    """A table with one column for each load."""
    return table([head, *names], [[what, *values] for what, values in rows])


def figures_table(data: dict) -> list:
    """What was measured, and by what."""
    rows = [[f"`{name}`", number(data["figures"][name]), unit, meaning, f"`{step}`"]
            for name, (unit, step, meaning) in FIGURES.items()]
    machines = {}
    for step in STEPS:
        made = data["steps"][step]
        machines.setdefault(f"{made['machine']}; commit {made['commit']}, {made['measured']}", []).append(
            f"`{step}`" + (f" (load {made['load']} before it)" if made.get("load", 0) > LOAD_TOLD else ""))
    return ["Found by `bench/capacity.py measure STEP`, on:", "",
            *(f"- {machine}: {', '.join(steps)}." for machine, steps in machines.items()), "",
            *table(["figure", "value", "unit", "of", "step"], rows)]


def needs_table(plans) -> list:
    """What loads ask for."""
    rows = [
        ("connected users", [number(one.load.users) for one in plans]),
        ("topics", [number(one.load.topics) for one in plans]),
        ("publishes and commands/s", [number(one.load.publishes) for one in plans]),
        ("deliveries/s", [number(one.load.deliveries) for one in plans]),
        ("new connections/s", [number(one.load.connects) for one in plans]),
        ("joins/s", [number(one.load.joins) for one in plans]),
        *((f"gateway cores: {what}", [number(one.cores[what]) for one in plans]) for what in plans[0].cores),
        ("gateway cores in all", [number(sum(one.cores.values())) for one in plans]),
        *((f"gateways for {what}", [number(one.gateways_for[what]) for one in plans])
          for what in plans[0].gateways_for),
        ("**gateways**, with what may be away", [f"**{one.gateways:,}**" for one in plans]),
        ("connections on each", [number(one.connections_each) for one in plans]),
        ("the same while a zone is lost", [number(one.connections_peak) for one in plans]),
        ("memory of each", [size(one.memory_each) for one in plans]),
        ("to take in a lost zone", [f"{number(one.herd_seconds)} s" for one in plans]),
        ("toward clients", [bits(one.network_bits) for one in plans]),
        ("Redis cores", [number(one.redis_cores) for one in plans]),
        *((f"Redis masters for {what}", [number(one.masters_for[what]) for one in plans])
          for what in plans[0].masters_for),
        ("**Redis masters**", [f"**{number(one.masters)}**" for one in plans]),
        ("Redis memory", [size(one.redis_bytes) for one in plans]),
        ("memory of each master", [size(one.master_bytes) for one in plans]),
        ("and at worst for gateways that do not read", [size(one.buffer_bytes) for one in plans]),
        ("connections at each master", [number(one.links) for one in plans]),
        ("Redis, to take in a lost zone", [f"{number(one.redis_herd_seconds)} s" for one in plans]),
        ("Redis to gateways", [bits(one.redis_output_bits) for one in plans]),
        ("nginx cores, passing through", [number(one.nginx_cores) for one in plans]),
        ("nginx memory, kernel included", [size(one.nginx_bytes) for one in plans]),
        ("nginx's addresses toward each gateway", [str(one.addresses) for one in plans]),
    ]
    return turned("", [one.load.name for one in plans], rows)


def ten_million_table(figures: dict) -> list:
    """Ten million connections, from silent to busy: gateways, masters and the memory of each."""
    plans = [plan(load, figures, LARGE) for load in TEN_MILLION]
    rows = [
        ("connections", [number(one.load.users) for one in plans]),
        ("joins/s", [number(one.load.joins) for one in plans]),
        ("publishes and commands/s", [number(one.load.publishes) for one in plans]),
        ("members that hear one", [number(one.load.deliveries / one.load.publishes) if one.load.publishes else ""
                                   for one in plans]),
        ("**gateways**", [f"**{number(one.gateways)}**" for one in plans]),
        ("bound by", [one.bound_by for one in plans]),
        ("memory of each gateway", [size(one.memory_each) for one in plans]),
        *((f"masters for {what}", [number(one.masters_for[what]) for one in plans]) for what in plans[0].masters_for),
        ("**masters**", [f"**{number(one.masters)}**" for one in plans]),
        ("servers, with a replica each", [number(2 * one.masters) for one in plans]),
        ("memory of each master", [size(one.master_bytes) for one in plans]),
        ("and at worst for gateways that do not read", [size(one.buffer_bytes) for one in plans]),
        ("connections at each master", [number(one.links) for one in plans]),
        ("a lost zone's clients are back, gateways", [f"{number(one.herd_seconds)} s" for one in plans]),
        ("the same, Redis", [f"{number(one.redis_herd_seconds)} s" for one in plans]),
    ]
    return turned("", [load.name for load in TEN_MILLION], rows)


def apps_table(figures: dict) -> list:
    """The five apps on a Cluster, each alone and all together: what they ask for, and what is full first."""
    plans = [plan(load, figures, CLUSTER) for load in APPS]
    rows = [
        ("connected users", [number(one.load.users) for one in plans]),
        ("publishes and commands/s", [number(one.load.publishes) for one in plans]),
        ("deliveries/s", [number(one.load.deliveries) for one in plans]),
        ("**gateways**", [f"**{number(one.gateways)}**" for one in plans]),
        ("gateways bound by", [one.bound_by for one in plans]),
        ("**masters**", [f"**{number(one.masters)}**" for one in plans]),
        ("masters bound by", [max(one.masters_for, key=one.masters_for.get) for one in plans]),
        *((what, [f"{one.fill[what]:.0%}" for one in plans]) for what in plans[0].fill),
        ("fullest of what more machines do not help", [max(UNDIVIDED, key=one.fill.get) for one in plans]),
        ("commands/s that one id may have", [
            number(CLUSTER.redis_share * 1e6 / redis_us(one.load.hottest, figures, one.gateways)) for one in plans]),
    ]
    return turned("", [load.name for load in APPS], rows)


def streams_table() -> list:
    """What the examples assume of the mix, for one million users."""
    load = next(load for load in LOADS if load.users == 1_000_000 and len(load.streams) > 1)
    rows = [[stream.name, number(stream.publishes), number(stream.members), stream.kind,
             number(stream.publishes * stream.members)] for stream in load.streams]
    return table(["stream", "events/s", "members", "enters by", "deliveries/s"], rows)


def site_table() -> list:
    """What a plan fills."""
    site = Site()
    return table(["a gateway has", "a plan uses"], [
        [f"{site.cores} cores", f"{site.cpu_share:.0%}"],
        [f"{site.memory_bytes >> 30} GiB", f"{site.memory_share:.0%}"],
        [f"{bits(site.network_bits)}", f"{site.network_share:.0%}"],
        [f"`connectionsMax` {site.connections_max:,}; {site.descriptors:,} descriptors", "all of it; 90%"],
        ["Redis: one core a master", f"{site.redis_share:.0%}"],
        [f"Redis: {site.redis_memory_bytes >> 30} GiB a master", f"{site.redis_memory_share:.0%}"],
        [f"{site.zones} zones", "one may be lost"]])


def tables(data: dict) -> dict:
    """Every generated part by its name."""
    plans = [plan(load, data["figures"], SITES.get(load.name, Site())) for load in LOADS]
    return {"figures": figures_table(data), "streams": streams_table(), "site": site_table(),
            "needs": needs_table(plans), "single": single_table(data["figures"]),
            "ten": ten_million_table(data["figures"]), "apps": apps_table(data["figures"]),
            "master": master_table(data["figures"])}


def single_table(figures: dict) -> list:
    """Where one core, one gigabyte and one Redis end."""
    share = Site().redis_share
    publish, copy = figures["redis_publish_us"], figures["redis_copy_us"]
    rows = [
        ["deliveries/s, 20 events/s a client", number(1e6 / figures["delivery_us_20"]), "core of a gateway"],
        ["deliveries/s, 1,600 events/s a client", number(1e6 / figures["delivery_us_1600"]), "core of a gateway"],
        ["new connections/s", number(1e6 / figures["setup_us"]), "core of a gateway"],
        ["publishes/s over HTTP, one by one", number(1e6 / figures["http_publish_us"]), "core of a gateway"],
        ["idle connections, the kernel's part included",
         number(1e9 / (figures["connection_bytes"] + figures["kernel_bytes"])), "GB"],
        *([f"publishes/s, each with members on {gateways} gateway{'s' * (gateways > 1)}",
           number(share * 1e6 / (publish + (gateways - 1) * copy)), f"Redis, at {share:.0%} of its core"]
          for gateways in (1, 3, 10, 100)),
        ["commands/s (votes)", number(share * 1e6 / figures["redis_command_us"]), f"Redis, at {share:.0%} of its core"],
    ]
    return table(["", "at most", "for each"], rows)


def master_table(figures: dict) -> list:
    """Where one master of a Cluster ends, by what ends it."""
    site = Site()
    publish = figures["redis_publish_us"] * figures["cluster_times"]
    gateway_us = site.cores * figures["master_idle_us"]
    links = figures["master_links"] + (site.cores - 1) * figures["master_shard_links"]
    at = f"at {site.redis_share:.0%} of its core"
    rows = [
        ["processor", "publishes/s with members on 1 gateway, on one topic or many",
         number(site.redis_share * 1e6 / publish), at],
        ["processor", "copies/s beyond the first", number(site.redis_share * 1e6 / figures["redis_copy_us"]), at],
        ["processor", "joins/s", number(site.redis_share * 1e6 / figures["redis_join_us"]), at],
        ["processor", f"gateways of {site.cores} shards whose probes take all that", number(
            divided(site.redis_share * 1e6, gateway_us)), at],
        ["memory", f"topics with {number(Load.log_events)} events", number(
            1e9 / (figures["redis_topic_bytes"] + Load.log_events * figures["redis_event_bytes"])), "GB"],
        ["memory", "channels that one gateway hears", number(1e9 / figures["redis_channel_bytes"]), "GB"],
        ["memory", "channels that 100 gateways hear", number(
            1e9 / (figures["redis_channel_bytes"] + 99 * figures["redis_listener_bytes"])), "GB"],
        ["memory", "gateways that do not read, until Redis cuts them", number(1e9 / figures["master_buffer_bytes"]),
         "GB"],
        ["connections", f"gateways of {site.cores} shards", number(figures["master_links_max"] / links),
         f"`maxclients` {number(figures['master_links_max'])}"],
    ]
    return table(["bound", "of", "at most", "for each"], rows)


def rendered() -> dict[Path, str]:
    """The pages as their figures ask for them."""
    parts = tables(json.loads((DOCS / "capacity.json").read_text()))
    return {page: MARKED.sub(lambda found: found[1] + "\n".join(parts[found[2]]) + "\n" + found[3], page.read_text())
            for page in PAGES}


def write() -> int:
    """Brings the pages up to date."""
    for page, text in rendered().items():
        page.write_text(text)
    return 0


def check() -> int:
    """0 when the pages are what their figures ask for."""
    return 0 if all(page.read_text() == text for page, text in rendered().items()) else 1
