"""Ports for servers that cannot be told to pick one themselves, or must have it again after a restart.

They lie below the range from which Linux serves port 0 and outgoing connections, so no connection gets one by chance
while its server is away. Drawn by the system's own randomness: the processes that run tests draw apart.
"""

import collections
import random
import socket

# Pairs and single ports lie apart; a pair's second port, which a cluster's bus uses, is 10,000 higher.
PAIRS = range(10_000, 18_000)
BUS_OFFSET = 10_000
SINGLE = range(28_001, 32_700)
_random = random.SystemRandom()
# The last ports that this process has given away: their servers may not have begun yet.
_given: collections.deque[int] = collections.deque(maxlen=len(SINGLE) // 2)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port() -> int:
    """A TCP port that was free a moment ago, and that nobody in this process has got lately."""
    while (port := _random.choice(SINGLE)) in _given or not _is_free(port):
        pass
    _given.append(port)
    return port


def free_pair() -> int:
    """A port that was free a moment ago, and so was the one that the bus of a cluster's node with it uses."""
    while (port := _random.choice(PAIRS)) in _given or not (_is_free(port) and _is_free(port + BUS_OFFSET)):
        pass
    _given.append(port)
    return port
