"""How many gateways, which Redis: arithmetic over measured figures. Nothing here measures or prints.

The figures come from docs/capacity.json; what each means stands in figures.py. CPU is microseconds of one core.
"""

import math
from dataclasses import dataclass, field

# Rates of events per connection at which a delivery was measured, a second.
RATES = (20, 100, 400, 1_600)


@dataclass(frozen=True)
class Stream:
    """One kind of event: `publishes` a second in all, each told to `members` connections."""

    name: str
    publishes: float
    members: float
    # `http`: a service publishes over HTTP. `command`: a client's or service's command runs a script and emits.
    kind: str = "http"


@dataclass(frozen=True)
class Load:
    """What an installation has to carry."""

    name: str
    users: float
    topics: float
    streams: tuple
    # How long a client stays connected, and events in a topic's log; most expire.
    session_seconds: float = 1_800
    log_events: float = 20

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


@dataclass
class Plan:
    """What a load needs; each need of the gateways by what it is for."""

    load: Load
    cores: dict = field(default_factory=dict)
    gateways_for: dict = field(default_factory=dict)
    gateways: int = 0
    bound_by: str = ""
    connections_each: float = 0
    # While a zone is lost, or without zones a gateway.
    connections_peak: float = 0
    memory_each: float = 0
    herd_seconds: float = 0
    redis_cores: float = 0
    redis_shards: int = 0
    redis_bytes: float = 0
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
        "idle": load.users * figures["idle_us"],
    }
    return {what: microseconds / 1e6 for what, microseconds in spent.items()}


def redis_cores(load: Load, figures: dict, gateways: int) -> float:
    """Cores of Redis: each publish once, and what leaves for each gateway that has a member."""
    spent = 0.0
    for stream in load.streams:
        own = figures["redis_publish_us"] if stream.kind == "http" else figures["redis_command_us"]
        # The first copy is part of what was measured.
        spent += stream.publishes * (own + max(copies(stream.members, gateways) - 1, 0) * figures["redis_copy_us"])
    return spent / 1e6


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
    result.redis_cores = redis_cores(load, figures, gateways)
    result.redis_shards = max(1, math.ceil(result.redis_cores / site.redis_share))
    result.redis_bytes = load.topics * (figures["redis_topic_bytes"] + load.log_events * figures["redis_event_bytes"])
    result.redis_output_bits = 8 * figures["redis_message_bytes"] * sum(
        stream.publishes * copies(stream.members, gateways) for stream in load.streams)
    result.network_bits = network_bits(load, figures)
    result.nginx_cores = (load.deliveries * figures["nginx_delivery_us"]
                          + load.connects * figures["nginx_setup_us"]) / 1e6
    result.nginx_bytes = load.users * (figures["nginx_bytes"] + 2 * figures["kernel_bytes"])
    result.addresses = math.ceil(result.connections_each / PORTS_PER_ADDRESS)
    return result


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
