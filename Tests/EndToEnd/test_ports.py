"""Ports that the tests give to servers."""

from Fixtures.processes.ports import free_pair, free_port


def test_no_port_is_given_to_two_servers():
    """A gateway and the nginx before it got the same port, both listened, and no client came through."""
    ports = [free_port() for _ in range(2_000)]
    pairs = [free_pair() for _ in range(200)]
    assert len(set(ports)) == 2_000 and len(set(pairs)) == 200
