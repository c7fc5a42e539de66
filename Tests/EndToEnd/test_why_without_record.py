"""Why a user did not get an event, on a gateway that keeps no record of sessions."""

from Fixtures.processes.traced_fleet import KEYS, READER
from Fixtures.waiting import eventually


def test_without_a_record_the_answer_says_so(gateway, server, topic):
    # A Redis of its own: a gateway that another test has ended would be a reason, too.
    gw = gateway("--trace-bytes-max", "0", server=server, keys=KEYS)
    offset = gw.publish(topic)["offset"]
    with gw.http(READER) as http:
        def told():
            answer = http.get("/v1/why", params={"user": "ann", "topic": topic, "offset": offset}).json()
            return answer if not answer["unanswered"] else None

        answer = eventually(told, 20, "an answer of all gateways")
    assert answer["verdict"] == "unknown" and "traceBytesMax" in " ".join(answer["sentences"])
