"""What callers keep in Redis: a budget of bytes for each user, address and namespace."""

import pytest

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.waiting import eventually

NAMESPACES = {"wall": {"subscribe": "anyone", "publish": "user", "log": {"events": 100, "seconds": 600}},
              "open": {"subscribe": "anyone", "publish": "anyone", "log": {"events": 100, "seconds": 600}}}
LIMITS = {"userActionsPerSecond": 10_000, "refusalsMax": 10_000, "messagesPerSecond": 10_000,
          "userKeptBytes": 1_000_000, "addressKeptBytes": 1_000_000}
TEXT = "x" * 60_000


@pytest.fixture
def site(gateway, server):
    return gateway("--shards", "1", server=server, limits=LIMITS, config={"namespaces": NAMESPACES})


def kept(redis) -> int:
    return sum(redis.memory_usage(key, samples=0) for key in redis.scan_iter("*:*", count=1_000))


def flood(client, namespace: str, count: int) -> list[dict]:
    """Publishes large events, each on a topic of its own; the answers."""
    # Callers without a token are given a while to say what they want.
    client.subscribe(f"{namespace}:none")
    answers = []
    for number in range(count):
        client.send("publish", {"topic": f"{namespace}:{number}", "event": "e", "data": {"text": TEXT}}, ref=number)
        answers.append(client.receive())
    return answers


@pytest.mark.parametrize(("namespace", "payer"), [("wall", "user"), ("open", "anonymous")])
def test_a_flood_of_large_events_keeps_no_more_than_its_budget(site, server, token, namespace, payer):
    """One user kept 247 MB in Redis within minutes; then Redis was full, and every service was refused."""
    me, other = (token("u1"), token("u2")) if payer == "user" else (None, token("u2"))
    with server.client() as redis, site.client(token=me) as client, site.client(token=other) as peer:
        answers = flood(client, namespace, 40)
        refused = [answer["data"] for answer in answers if answer["event"] == "error"]
        assert len(refused) > 15, answers
        assert {data["code"] for data in refused} == {"rate_limited"}
        assert all(0 < data["retryAfterMs"] <= 1_200_000 for data in refused)
        assert 600_000 < kept(redis) < 2_000_000
        assert site.metric("switchboard_budget_refusals_total", payer=payer, reason="bytes") == len(refused)
        # The budget is the caller's own, and services have none.
        assert peer.request("publish", {"topic": f"{namespace}:1", "event": "e", "data": {"text": TEXT}})[
            "event"] != "error"
        site.publish(f"{namespace}:2", "e", {"text": TEXT})


def test_a_busy_topic_that_does_not_grow_is_not_refused(site, token):
    """A log keeps a bounded number of events: who publishes for long on one topic keeps no more than that."""
    with site.client(token=token("u1")) as client:
        for number in range(300):
            client.send("publish", {"topic": "wall:1", "event": "e", "data": {"text": "x" * 4_000}}, ref=number)
            assert client.receive()["event"] != "error", number


def test_a_flood_of_new_topics_keeps_no_more_than_its_budget(site, server, token):
    """A topic was counted with 384 bytes, and Redis takes twelve times as many for its log and its position."""
    with server.client() as redis, site.client(token=token("u1")) as client:
        before = redis.info("memory")["used_memory_dataset"]
        answers = []
        for number in range(600):
            client.send("publish", {"topic": f"wall:{number}", "event": "e", "data": {}}, ref=number)
            answers.append(client.receive()["event"])
        assert 150 < answers.count("ack") < 220, answers.count("ack")
        assert redis.info("memory")["used_memory_dataset"] - before < 1_300_000


def test_a_retry_that_redis_knows_pays_for_no_bytes(site, token):
    """Each of them was paid like an event that is kept, and in the end the client was refused."""
    message = {"topic": "wall:1", "event": "e", "data": {"text": TEXT}, "id": "op-1"}
    with site.client(token=token("u1")) as client:
        for number in range(60):
            client.send("publish", message, ref=number)
            assert client.receive()["event"] == "ack", number
        # The id of another event: that is refused, and nothing of it is kept.
        for _ in range(30):
            client.refused("publish", {**message, "data": {"text": TEXT + "y"}}, "conflict")
        assert client.request("publish", {**message, "id": "op-2"})["event"] == "ack"


def test_a_publish_that_was_never_sent_pays_for_no_bytes(site, server, token):
    """After an outage those were refused who had tried again meanwhile."""
    with site.client(token=token("u1")) as client:
        message = {"topic": "wall:1", "event": "e", "data": {"text": TEXT}}
        server.kill()
        eventually(lambda: site.ops("/readyz").status_code == 503, 10, "readiness red")
        for _ in range(40):
            client.refused("publish", message, "unavailable")
        server.start()
        eventually(lambda: client.request("publish", message)["event"] == "ack", 10, "publishing again")


def test_a_command_refused_for_bytes_counts_against_no_rate(gateway, server, token, tmp_path):
    """Each refusal took one of the calls that the script allows, and Redis's time as well."""
    note = script("note", "return {}", rate="3/600 s user", arg=["shopId id", "text string 1..60000 optional"])
    site = gateway("--shards", "1", "--scripts", write_scripts(tmp_path / "scripts", note=note), server=server,
                   limits={**LIMITS, "userKeptBytes": 65_536})
    with site.client(token=token("u1")) as client:
        assert client.request("note", {"shopId": "s1", "text": "x" * 60_000})["event"] == "ack"
        for _ in range(8):
            answer = client.refused("note", {"shopId": "s1", "text": "x" * 30_000}, "rate_limited")
            assert "bytes" in answer["data"]["message"]
        for _ in range(2):
            assert client.request("note", {"shopId": "s1"})["event"] == "ack"
        assert "calls of note" in client.refused("note", {"shopId": "s1"}, "rate_limited")["data"]["message"]
        assert site.metric("switchboard_budget_refusals_total", payer="user", reason="bytes") == 8


def test_a_namespace_has_a_budget_of_all_its_callers(gateway, server, token):
    site = gateway("--shards", "1", server=server, config={"namespaces": NAMESPACES},
                   limits={**LIMITS, "namespaceKeptBytes": 1_500_000})
    with server.client() as redis:
        for number in range(3):
            with site.client(token=token(f"u{number}")) as client:
                answers = flood(client, "wall", 16)
        refused = [answer["data"] for answer in answers if answer["event"] == "error"]
        assert len(refused) >= 14 and "namespace" in refused[-1]["message"], "the last user finds no room"
        assert kept(redis) < 2_500_000
        assert site.metric("switchboard_budget_refusals_total", payer="user", reason="namespace") > 14


def test_the_arguments_of_commands_are_paid_for(gateway, server, token):
    site = gateway("--shards", "1", "--packs", "messaging", server=server, limits={**LIMITS, "userKeptBytes": 400_000})
    with site.http(key=None, headers={"Authorization": "Bearer " + token("u1")}) as http:
        for number in range(60):
            message = {"id": f"m{number}", "text": "\U0001f600" * 2_000}
            answer = http.post("/v1/conversations/u1_u2/messages", json=message)
            if answer.status_code != 201:
                break
        assert answer.status_code == 429 and "bytes" in answer.text, answer.text
        # Each pays for the text, and for the event that tells of it.
        assert 20 <= number <= 28 and int(answer.headers["retry-after"]) > 0
