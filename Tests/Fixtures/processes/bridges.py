"""Gateways that publish what backends emit through Redis (`--bridge`)."""

from Fixtures.processes.node import NodeProcess
from Fixtures.waiting import eventually


def holder(*nodes: NodeProcess) -> NodeProcess | None:
    """The one node that publishes, once there is one."""
    found = [node for node in nodes if node.metric("switchboard_bridge_holder") == 1]
    return found[0] if len(found) == 1 else None


def bridged(gateway, server, count=1, kind="socketio", **more) -> list:
    """So many gateways with a bridge, of which one publishes."""
    nodes = [gateway("--bridge", kind, server=server, **more) for _ in range(count)]
    eventually(lambda: holder(*nodes), 15, "a node that publishes")
    # With a mark each of them can name what it receives, and take over.
    eventually(lambda: all("a node publishes the events" in node.log_text for node in nodes), 5, "a mark at each")
    return nodes
