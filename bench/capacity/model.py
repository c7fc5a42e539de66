"""How many gateways, which Redis: arithmetic over measured figures. Nothing here measures or prints.

The figures come from docs/capacity.json; what each means stands in figures.py. CPU is microseconds of one core.
"""

import math
from dataclasses import dataclass, field

# Rates of events per connection at which a delivery was measured, a second.
RATES = (20, 100, 400, 1_600)
# A Cluster has so many masters at least.
MASTERS_MIN = 3


@dataclass(frozen=True)
class Stream:
    """One kind of event: `publishes` a second in all, each told to `members` connections."""

    name: str
    publishes: float
    members: float
    # `http`: a service publishes over HTTP. `command`: a client's or service's command runs a script and emits.
    kind: str = "http"
    # What one takes of Redis with all its steps on a Cluster, us; 0: what was measured for its kind.
    redis_us: float = 0


@dataclass(frozen=True)
class Load:
    """What an installation has to carry."""

    name: str
    users: float
    topics: float
    streams: tuple
    # How long a client stays connected, topics it joins meanwhile, and events in a topic's log; most expire.
    session_seconds: float = 1_800
    joins_each: float = 1
    log_events: float = 20
    # The events of the busiest id alone: they are one master's, however many there are.
    hottest: Stream | None = None

    @property
    def publishes(self) -> float:
        return sum(stream.publishes for stream in self.streams)

    @property
    def deliveries(self) -> float:
        return sum(stream.publishes * stream.members for stream in self.streams)

    @property
    def connects(self) -> float:
        """New connections a second."""
        return self.users / self.session_seconds

    @property
    def joins(self) -> float:
        """Topics joined a second."""
        return self.connects * self.joins_each


@dataclass(frozen=True)
class Site:
    """What gateways run on, and how full they may be."""

    cores: int = 8
    memory_bytes: int = 16 << 30
    network_bits: float = 10e9
    # What a gateway has unless it is told otherwise: the limit connectionsMax, and LimitNOFILE of its systemd unit.
    connections_max: int = 100_000
    descriptors: int = 262_144
    # Shares of what is there that a plan uses: the rest is for herds, bursts and what was not measured.
    cpu_share: float = 0.5
    memory_share: float = 0.6
    network_share: float = 0.5
    redis_share: float = 0.5
    zones: int = 3
    # A machine of a master; a copy that it writes for a replica or a file can take as much memory again.
    redis_memory_bytes: int = 32 << 30
    redis_memory_share: float = 0.5
    # Of the connections that a master takes: links that are renewed and workers need the rest.
    links_share: float = 0.9
    # Whether Redis is a Cluster, however little there is to do.
    is_cluster: bool = False


@dataclass
class Plan:
    """What a load needs; each need of the gateways by what it is for."""

    load: Load
    cores: dict = field(default_factory=dict)
    gateways_for: dict = field(default_factory=dict)
    gateways: int = 0
    bound_by: str = ""
    # How full each resource is, of what a plan uses of it; the fullest binds first when everything grows.
    fill: dict = field(default_factory=dict)
    connections_each: float = 0
    # While a zone is lost, or without zones a gateway.
    connections_peak: float = 0
    memory_each: float = 0
    herd_seconds: float = 0
    redis_cores: float = 0
    masters_for: dict = field(default_factory=dict)
    # 1: one server; otherwise masters of a Cluster.
    masters: float = 0
    redis_bytes: float = 0
    # Of each master: its part of that, what it may have to keep for gateways that do not read, and its connections.
    master_bytes: float = 0
    buffer_bytes: float = 0
    links: float = 0
    redis_herd_seconds: float = 0
    redis_output_bits: float = 0
    network_bits: float = 0
    nginx_cores: float = 0
    nginx_bytes: float = 0
    addresses: int = 0


def delivery_us(figures: dict, rate: float) -> float:
    """CPU of one delivery on connections that get `rate` events a second.

    Several events that wait for one connection leave in one write, so a delivery is cheaper the more come. Between two
    measured rates it is interpolated over the logarithm of the rate; beyond them it stays as it is.
    """
    points = [(other, figures[f"delivery_us_{other}"]) for other in RATES]
    if rate <= points[0][0]:
        return points[0][1]
    for (low, low_us), (high, high_us) in zip(points, points[1:]):
        if rate <= high:
            share = math.log(rate / low) / math.log(high / low)
            return low_us + share * (high_us - low_us)
    return points[-1][1]


def copies(members: float, gateways: int) -> float:
    """On how many of the gateways at least one of so many members is, when members are spread by chance."""
    return gateways * (1 - (1 - 1 / gateways) ** members) if gateways > 1 else min(members, 1.0)


def gateway_cores(load: Load, figures: dict, gateways: int) -> dict:
    """Cores of all gateways together, by what they are for."""
    rate = load.deliveries / load.users
    received = sum(stream.publishes * copies(stream.members, gateways) for stream in load.streams)
    entered = {kind: sum(stream.publishes for stream in load.streams if stream.kind == kind)
               for kind in ("http", "command")}
    spent = {
        "deliveries": load.deliveries * delivery_us(figures, rate),
        "publishes": entered["http"] * figures["http_publish_us"] + entered["command"] * figures["command_us"],
        "from Redis": received * figures["receive_us"],
        "connects": load.connects * figures["setup_us"],
        # A new connection's first topic is part of what was measured.
        "joins": max(load.joins - load.connects, 0) * figures["join_us"],
        "idle": load.users * figures["idle_us"],
    }
    return {what: microseconds / 1e6 for what, microseconds in spent.items()}


def redis_cores(load: Load, figures: dict, gateways: int) -> float:
    """Cores of Redis: each publish once, and what leaves for each gateway that has a member."""
    spent = 0.0
    for stream in load.streams:
        spent += stream.publishes * redis_us(stream, figures, gateways)
    return (spent + load.joins * figures["redis_join_us"]) / 1e6


def redis_us(stream: Stream, figures: dict, gateways: int) -> float:
    """What one event of a stream takes of Redis, with its copies."""
    own = stream.redis_us or figures["redis_publish_us" if stream.kind == "http" else "redis_command_us"]
    # The first copy is part of what was measured.
    return own + max(copies(stream.members, gateways) - 1, 0) * figures["redis_copy_us"]


def redis_bytes(load: Load, figures: dict, gateways: int) -> float:
    """Memory of all masters together: logs and positions, and the channels that gateways hear."""
    hearing = copies(load.users * load.joins_each / load.topics, gateways)
    heard = min(hearing, 1) * figures["redis_channel_bytes"] + max(hearing - 1, 0) * figures["redis_listener_bytes"]
    return load.topics * (figures["redis_topic_bytes"] + load.log_events * figures["redis_event_bytes"] + heard)


def redis_bits(load: Load, figures: dict, gateways: int) -> float:
    """Bits a second from Redis to gateways."""
    return 8 * figures["redis_message_bytes"] * sum(
        stream.publishes * copies(stream.members, gateways) for stream in load.streams)


def probing_cores(figures: dict, site: Site, gateways: int) -> float:
    """What every master spends on gateways that have nothing to do: more masters do not make it less."""
    return gateways * site.cores * figures["master_idle_us"] / 1e6


def buffer_bytes(figures: dict, site: Site, gateways: int) -> float:
    """What every master has to keep at worst, when the gateways of a zone stop reading but keep their connections."""
    return lost(site, gateways) * figures["master_buffer_bytes"]


def divided(work: float, room: float) -> float:
    """How many have the room that the work needs; no number of them when there is none."""
    return work / room if room > 0 else math.inf if work > 0 else 0.0


def masters_for(load: Load, figures: dict, site: Site, gateways: int, times: float) -> dict:
    """How many masters each resource would ask for; `times` is what a publish costs beside one server."""
    return {
        "processor": divided(redis_cores(load, figures, gateways) * times,
                             site.redis_share - probing_cores(figures, site, gateways)),
        "memory": divided(redis_bytes(load, figures, gateways),
                          site.redis_memory_bytes * site.redis_memory_share - buffer_bytes(figures, site, gateways)),
        "network": redis_bits(load, figures, gateways) / (site.network_bits * site.network_share),
    }


def with_masters(result: Plan, figures: dict, site: Site) -> None:
    """The masters of a plan whose gateways are known: one server while it does, otherwise a Cluster."""
    load, gateways = result.load, result.gateways
    times = 1.0
    result.masters_for = masters_for(load, figures, site, gateways, times)
    if max(result.masters_for.values()) > 1 or site.is_cluster:
        times = figures["cluster_times"]
        result.masters_for = masters_for(load, figures, site, gateways, times)
        asked = max(result.masters_for.values())
        # Fewer could not agree that one is dead.
        result.masters = max(MASTERS_MIN, math.ceil(asked)) if math.isfinite(asked) else asked
    else:
        result.masters = 1
    probing = probing_cores(figures, site, gateways)
    result.redis_cores = redis_cores(load, figures, gateways) * times + result.masters * probing
    result.redis_bytes = redis_bytes(load, figures, gateways)
    result.master_bytes = result.redis_bytes / result.masters
    result.buffer_bytes = buffer_bytes(figures, site, gateways)
    result.links = gateways * (figures["master_links"] + (site.cores - 1) * figures["master_shard_links"])
    again = load.users * lost(site, gateways) / gateways * load.joins_each * figures["redis_join_us"] / 1e6
    result.redis_herd_seconds = divided(again, result.masters - result.redis_cores)


def gateway_bytes(load: Load, figures: dict, gateways: int) -> float:
    """Memory of one gateway with its share of the users, the kernel's part for their sockets included."""
    each = load.users / gateways
    topics = load.topics * copies(load.users / load.topics, gateways) / gateways
    return (figures["base_bytes"] + each * (figures["connection_bytes"] + figures["kernel_bytes"])
            + topics * figures["topic_bytes"])


def network_bits(load: Load, figures: dict) -> float:
    """Bits a second toward clients."""
    return load.deliveries * figures["wire_bytes"] * 8


def needs(load: Load, figures: dict, site: Site, gateways: int) -> dict:
    """How many gateways each resource would ask for, if there were so many."""
    cores = sum(gateway_cores(load, figures, gateways).values())
    return {
        "cpu": cores / (site.cores * site.cpu_share),
        "memory": gateways * gateway_bytes(load, figures, gateways) / (site.memory_bytes * site.memory_share),
        "connections": load.users / min(site.connections_max, site.descriptors * 0.9),
        "network": network_bits(load, figures) / (site.network_bits * site.network_share),
    }


def plan(load: Load, figures: dict, site: Site) -> Plan:
    """The smallest number of gateways that carries the load also while one zone, and one gateway more, is away."""
    carrying = 1
    # Copies grow with the gateways, so the need is looked at again until it is met.
    while max(needs(load, figures, site, carrying).values()) > carrying:
        carrying = max(carrying + 1, math.ceil(max(needs(load, figures, site, carrying).values())))
    asked = needs(load, figures, site, carrying)
    gateways = carrying + 1 if site.zones < 2 else math.ceil(carrying / (site.zones - 1)) * site.zones
    # A restart under way while a zone is lost.
    gateways = max(gateways, carrying + 1)
    result = Plan(load, gateways=gateways, gateways_for=asked, bound_by=max(asked, key=asked.get))
    result.cores = gateway_cores(load, figures, gateways)
    result.connections_each = load.users / gateways
    result.connections_peak = load.users / (gateways - lost(site, gateways))
    result.memory_each = gateway_bytes(load, figures, gateways)
    result.herd_seconds = herd_seconds(load, figures, site, gateways)
    with_masters(result, figures, site)
    result.redis_output_bits = redis_bits(load, figures, gateways)
    result.network_bits = network_bits(load, figures)
    result.nginx_cores = (load.deliveries * figures["nginx_delivery_us"]
                          + load.connects * figures["nginx_setup_us"]) / 1e6
    result.nginx_bytes = load.users * (figures["nginx_bytes"] + 2 * figures["kernel_bytes"])
    result.addresses = math.ceil(result.connections_each / PORTS_PER_ADDRESS)
    result.fill = fill(result, figures, site)
    return result


def fill(result: Plan, figures: dict, site: Site) -> dict:
    """How full each resource of a plan is: 1 is all that a plan uses of it."""
    load = result.load
    hottest = load.hottest.publishes * redis_us(load.hottest, figures, result.gateways) / 1e6 if load.hottest else 0
    return {
        "processor of a gateway": sum(result.cores.values()) / (result.gateways * site.cores * site.cpu_share),
        "memory of a gateway": result.memory_each / (site.memory_bytes * site.memory_share),
        "connections of a gateway, a zone lost": result.connections_peak / min(
            site.connections_max, site.descriptors * 0.9),
        "network of a gateway": result.network_bits / result.gateways / (site.network_bits * site.network_share),
        "processor of a master": divided(result.redis_cores / result.masters, site.redis_share),
        "memory of a master": (result.master_bytes + result.buffer_bytes) / (
            site.redis_memory_bytes * site.redis_memory_share),
        "connections at a master": divided(result.links, figures["master_links_max"] * site.links_share),
        "processor of the master of the busiest id": hottest * figures["cluster_times"] / site.redis_share,
    }


# Ports of one address toward one address and port: net.ipv4.ip_local_port_range = 10240 65535.
PORTS_PER_ADDRESS = 65_535 - 10_240 + 1


def lost(site: Site, gateways: int) -> float:
    """How many gateways are away at worst: those of a zone, or one."""
    return gateways / site.zones if site.zones > 1 else 1


def herd_seconds(load: Load, figures: dict, site: Site, gateways: int) -> float:
    """How long the gateways that are left need to take in the clients of a lost zone, with all the CPU they can spare.

    Without zones it is the clients of one gateway.
    """
    away = lost(site, gateways)
    left = gateways - away
    spare = left * site.cores - sum(gateway_cores(load, figures, gateways).values())
    return math.inf if spare <= 0 else load.users * away / gateways * figures["setup_us"] / 1e6 / spare
