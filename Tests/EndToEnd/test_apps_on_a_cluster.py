"""The apps' own flows, as their files play them on one server, on a Redis Cluster of three masters."""

import pytest

from EndToEnd.test_messaging_client import (  # noqa: F401
    pair, people, test_blocks, test_groups_by_membership, test_lists_are_live,
    test_presence_of_who_shares_a_conversation, test_the_apps_own_test)
from EndToEnd.test_nearby_client import (  # noqa: F401
    app, test_a_newcomer_is_shown_within_100_metres_until_it_chooses, test_the_app_meets_listeners_nearby, town)
from EndToEnd.test_queueup_app import (  # noqa: F401
    code, phone, test_a_socket_shows_what_current_answers, test_chat_reactions_and_tickets,
    test_every_error_is_a_sentence, test_the_app_from_welcome_to_leaving, test_who_leaves_hears_no_more)
from EndToEnd.test_queueup_guests import (  # noqa: F401
    guest, test_a_guest_takes_part_by_a_link_alone, test_a_host_has_a_guest_sent_away,
    test_a_link_is_worth_no_more_than_its_ticket, test_one_phone_is_few_guests_and_its_votes_go_with_them)
from Fixtures.apps.queueup import FLAGS
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker

PACKS = "messaging,nearby,queueup"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory, cluster, certificate):
    """A gateway that signs tokens, and a worker, with three packs; tests tap faster than people."""
    directory = tmp_path_factory.mktemp("apps")
    secret = directory / "mint-secret"
    secret.write_bytes(b"a secret for tokens of the gateway's own\n")
    node = Gateway(directory / "gateway", cluster.url, certificate, SECRET, "--packs", PACKS, *FLAGS[2:],
                   "--mint-secret-file", str(secret), limits={"userActionsPerSecond": 1_000})
    worker = Worker(directory / "worker", cluster.url, "--packs", PACKS)
    node.start().wait_ready(30)
    worker.start()
    yield node
    assert node.process.poll() is None, node.log_text[-4_000:]
    assert "a script failed" not in node.log_text, node.log_text[-4_000:]
    node.stop()
    worker.stop()


@pytest.fixture(scope="module")
def node(gateway):
    """The gateway as the flows of messaging name it."""
    return gateway


@pytest.fixture(scope="module")
def nodes(gateway):
    """The gateway as the flows of nearby name it."""
    return gateway, None
