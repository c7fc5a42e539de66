"""`capacity.py plan`: a load from few flags, with everything it assumes said, and what has to be set for it."""

import argparse
import math

from document import bits, needs_table, number
from examples import mix
from model import Load, Plan, Site, Stream, plan

# Members of one event, where only deliveries are given.
MEMBERS = 20


def positive(text: str) -> float:
    """A number above zero; anything else would be a plan for nobody."""
    value = float(text)
    if not 0 < value < 1e12:
        raise argparse.ArgumentTypeError(f"expected a number above 0; got {text}")
    return value


def whole(text: str) -> int:
    """A whole number above zero."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0; got {text}")
    return value


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument("--users", type=positive, required=True, help="connected at once")
    parser.add_argument("--busy", type=positive, default=1.0, help="the mix's events, times this")
    parser.add_argument("--deliveries", type=positive, help="a second, in all; in place of the mix")
    parser.add_argument("--publishes", type=positive, help="a second, in all; goes with --deliveries or --members")
    parser.add_argument("--members", type=positive, help="of a topic, who hear each publish; in place of --deliveries")
    parser.add_argument("--joins", type=positive, help="of topics a second, in all")
    parser.add_argument("--topics", type=positive, help="that exist at once")
    parser.add_argument("--session-seconds", type=positive, default=1_800.0, help="how long a client stays")
    parser.add_argument("--cores", type=whole, default=Site.cores, help="of a gateway")
    parser.add_argument("--memory-gib", type=whole, default=Site.memory_bytes >> 30, help="of a gateway")
    parser.add_argument("--network-gbit", type=positive, default=Site.network_bits / 1e9, help="of a gateway")
    parser.add_argument("--connections-max", type=whole, default=Site.connections_max, help="the limit connectionsMax")
    parser.add_argument("--descriptors", type=whole, help="LimitNOFILE; enough for --connections-max")
    parser.add_argument("--redis-memory-gib", type=whole, default=Site.redis_memory_bytes >> 30, help="of a master")
    parser.add_argument("--zones", type=whole, default=Site.zones, help="one of which may be lost; 1: none")


def descriptors(connections_max: int) -> int:
    """The unit's own while they do, otherwise the next power of two that leaves a tenth free."""
    count = Site.descriptors
    while count * 0.9 < connections_max:
        count *= 2
    return count


def site_of(options) -> Site:
    """What the gateways run on."""
    return Site(cores=options.cores, memory_bytes=options.memory_gib << 30, network_bits=options.network_gbit * 1e9,
                connections_max=options.connections_max,
                descriptors=options.descriptors or descriptors(options.connections_max), zones=options.zones,
                redis_memory_bytes=options.redis_memory_gib << 30)


def deliveries_of(options) -> float | None:
    """As given, or of as many members as a topic has; nothing for the mix."""
    if None not in (options.deliveries, options.publishes, options.members):
        raise SystemExit("plan: two of --deliveries, --publishes and --members say the third")
    if options.deliveries is None and options.publishes is not None and options.members is not None:
        return options.publishes * options.members
    if options.deliveries is None and (options.publishes is not None or options.members is not None):
        raise SystemExit("plan: --publishes goes with --deliveries or --members, and --members with one of the two")
    return options.deliveries


def load_of(options) -> tuple[Load, list[str]]:
    """The load, and how it was made up."""
    seconds = options.session_seconds
    deliveries = deliveries_of(options)
    joins_each = options.joins * seconds / options.users if options.joins else None
    if deliveries is None:
        made = mix("yours", options.users, options.busy, session_seconds=seconds)
        load = Load("yours", options.users, options.topics or made.topics, made.streams, session_seconds=seconds,
                    joins_each=joins_each or made.joins_each)
        times = number(options.busy)
        said = [f"the mix of apps of docs/capacity.md, times {times} (--busy; --deliveries for your own)"]
        said += [f"  {stream.name}: {number(stream.publishes)}/s, each to {number(stream.members)}, by {stream.kind}"
                 for stream in load.streams]
    else:
        publishes = options.publishes or deliveries / (options.members or MEMBERS)
        load = Load("yours", options.users, options.topics or options.users,
                    (Stream("events", publishes, deliveries / publishes),), session_seconds=seconds,
                    joins_each=joins_each or Load.joins_each)
        said = [f"{number(deliveries)} deliveries/s (--deliveries) of {number(publishes)} publishes/s "
                f"over HTTP (--publishes): {number(deliveries / publishes)} members hear each (--members)"]
    said.append(f"{number(load.topics)} topics (--topics), {number(load.log_events)} events of 200 bytes in each log")
    said.append(f"a client stays {number(seconds)} s (--session-seconds) and joins {number(load.joins_each)} topics: "
                f"{number(load.joins)} joins/s (--joins)")
    return load, said


def assumptions(site: Site, load_said: list[str]) -> list[str]:
    """Everything the plan takes for granted, with the flag that changes it."""
    zones = f"{site.zones} zones, one of which may be lost" if site.zones > 1 else "no zones; one gateway may be lost"
    return [*load_said,
            f"a gateway has {site.cores} cores (--cores), {site.memory_bytes >> 30} GiB (--memory-gib), "
            f"{bits(site.network_bits)} (--network-gbit)",
            f"a gateway takes {site.connections_max:,} connections (--connections-max) "
            f"with {site.descriptors:,} descriptors (--descriptors)",
            f"a master of Redis has a core and {site.redis_memory_bytes >> 30} GiB (--redis-memory-gib)",
            f"{zones} (--zones)",
            f"a plan uses {site.cpu_share:.0%} of the CPU, {site.memory_share:.0%} of the memory, "
            f"{site.network_share:.0%} of the network, {site.redis_share:.0%} of Redis's core and "
            f"{site.redis_memory_share:.0%} of its memory",
            "the figures of docs/capacity.json, measured on another machine than yours"]


def settings(result: Plan, site: Site, links_max: float) -> list[str]:
    """What has to be set for the plan, beyond the defaults."""
    found = []
    if site.connections_max > Site.connections_max:
        found.append(f"--limit connectionsMax={site.connections_max} on each gateway")
    if site.descriptors > Site.descriptors:
        found.append(f"LimitNOFILE={site.descriptors} in the gateways' systemd unit, and fs.nr_open no lower")
    if result.masters > 1:
        found.append(f"a Redis Cluster of {number(result.masters)} masters, each with a replica: --redis "
                     "redis+cluster://..." if math.isfinite(result.masters)
                     else "fewer and larger gateways: their probes alone fill a master")
    if result.links > links_max * site.links_share:
        found.append(f"maxclients {math.ceil(result.links / site.links_share)} at each Redis")
    return found


def text(options, figures: dict) -> str:
    """The whole answer."""
    site = site_of(options)
    load, said = load_of(options)
    result = plan(load, figures, site)
    lines = ["Assumed:", *(f"- {line}" if not line.startswith("  ") else line for line in assumptions(site, said))]
    lines += ["", *needs_table([result]), "", "To set beyond the defaults:"]
    beyond = settings(result, site, figures["master_links_max"]) or ["nothing"]
    return "\n".join(lines + [f"- {line}" for line in beyond])
