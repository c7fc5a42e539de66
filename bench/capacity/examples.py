"""The loads that docs/capacity.md works out: assumptions about people, not measurements."""

from model import Load, Site, Stream


def mix(name: str, users: float, busy: float = 1.0, **options) -> Load:
    """The five apps of one service at a busy hour, by their share of the users.

    40 % look at barbershops (50 in a shop, its queue moves every 20 s, a vote every 30 s from one in ten), 25 % chat
    (conversations of 3, a message a minute each), 15 % wait for an order of their own (an event every 30 s), 10 %
    listen together in sessions of 8 (an event every 10 s), 10 % see who is near (20 listeners, an update every 30 s).
    """
    shop, chat, order, session, near = (share * users for share in (0.40, 0.25, 0.15, 0.10, 0.10))
    streams = (
        Stream("shop queues", busy * shop / 50 / 20, 50),
        Stream("votes", busy * shop / 10 / 30, 50, "command"),
        Stream("messages", busy * chat / 60, 3, "command"),
        Stream("orders", busy * order / 30, 1),
        Stream("sessions", busy * session / 8 / 10, 8, "command"),
        Stream("listeners nearby", busy * near / 30, 20),
    )
    topics = shop / 50 + chat / 3 + order + session / 8 + near / 20 + users
    # Each joins a topic of an app and one of its own.
    return Load(name, users, topics, streams, joins_each=2, **options)


LOADS = [
    mix("a city", 10_000),
    mix("a country", 200_000),
    mix("a continent", 1_000_000),
    mix("the internet", 10_000_000),
    Load("one show, 1 million watch", 1_000_000, 1, (Stream("the show", 5, 1_000_000),), session_seconds=3_600),
    Load("prices, 20,000 screens", 20_000, 100, (Stream("prices", 10_000, 200),), session_seconds=28_800),
]
# What ten million connections need, quiet and busy.
TEN_MILLION = [mix("silent", 10_000_000, 0.0, log_events=0), *(mix(name, 10_000_000, busy) for name, busy in (
    ("the mix of apps", 1.0), ("five times as busy", 5.0), ("twenty times as busy", 20.0)))]
# Each app by itself, and all five together, with a million connected users each and the busiest id that its users may
# make. What a command takes of Redis on a Cluster is that of its steps together: bench/commands.py for the usual ones,
# bench/weights.py for listeners in a crowd. Of a place the last part is the cell's.
VOTE_US, SONG_US, MESSAGE_US, PLACE_US, CELL_US = 110, 180, 670, 1_700, 780


def app(name: str, topics_each: float, stream: Stream, hottest: Stream) -> Load:
    """A million users of one app, with a topic of their own each."""
    return Load(name, 1_000_000, 1_000_000 * (1 + topics_each), (stream,), joins_each=2, hottest=hottest)


APPS = [
    # One in ten votes every 30 s; 50 in a shop, and 5,000 in the largest.
    app("barbershops", 1 / 50, Stream("votes", 1e6 / 10 / 30, 50, "command", VOTE_US),
        Stream("votes", 5_000 / 10 / 30, 5_000, "command", VOTE_US)),
    # A vote of each every 20 s; 8 in a session, and 500 in the largest.
    app("QueueUp", 1 / 8, Stream("votes", 1e6 / 20, 8, "command", SONG_US),
        Stream("votes", 500 / 20, 500, "command", SONG_US)),
    # A message of each a minute; 3 in a conversation, and 50 who write every 5 s in the largest group.
    app("messaging", 1 / 3, Stream("messages", 1e6 / 60, 3, "command", MESSAGE_US),
        Stream("messages", 50 / 5, 50, "command", MESSAGE_US)),
    # An event of each order every 30 s, and one every second of the busiest.
    app("orders", 1, Stream("orders", 1e6 / 30, 1), Stream("orders", 1, 1)),
    # A place of each every 30 s, told to 12; 20,000 in the fullest cell, which is 156 km high.
    app("listeners nearby", 0, Stream("places", 1e6 / 30, 12, "command", PLACE_US),
        Stream("places", 20_000 / 30, 12, "command", CELL_US)),
]
APPS.append(Load("all five", 5_000_000, sum(one.topics for one in APPS), tuple(one.streams[0] for one in APPS),
                 joins_each=2, hottest=APPS[-1].hottest))
# What is not here has the defaults. Large sites raise the limit and the descriptors.
LARGE = Site(connections_max=250_000, descriptors=1_048_576)
CLUSTER = Site(connections_max=250_000, descriptors=1_048_576, is_cluster=True)
SITES = {"a city": Site(cores=2, memory_bytes=4 << 30, network_bits=1e9, zones=1),
         "a continent": LARGE, "the internet": LARGE}
