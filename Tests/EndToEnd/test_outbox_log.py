"""What the worker's log says of entries of the outbox that it gives up."""

from Fixtures.waiting import eventually

MESSAGE = "an entry of the outbox was given up"
WARNING = "calls of a command that this worker does not have are given up"


def test_a_missing_command_is_told_once_and_no_payload_is_logged(worker, server):
    """A worker without the gateways' scripts gave calls up after a 200, and the log showed what users had sent."""
    one = worker(server=server)
    with server.client() as client:
        for number in range(3):
            client.xadd("#outbox", {"c": "lend_umbrella", "a": '{"secret":"my place"}'})
            client.xadd("#outbox", {"c": f"other_{number}", "a": '{"secret":"my place"}'})
        client.xadd("#outbox", {"t": "nowhere:7", "e": "e", "d": '{"secret":"my place"}'})
        client.publish("#outbox", "")
        eventually(lambda: client.xlen("#outbox-dead") == 7 and len(one.lines(MESSAGE)) == 7)
        dead = [fields for _, fields in client.xrange("#outbox-dead")]
    assert all(b"my place" in b" ".join(fields.values()) for fields in dead), "the operator finds them in Redis"
    assert sorted(line["command"] for line in one.lines(WARNING)) == ["lend_umbrella", "other_0", "other_1", "other_2"]
    assert [line["remedy"] for line in one.lines(WARNING) if "--packs and --scripts" not in line["remedy"]] == []
    assert {(line["subject"], int(line["bytes"])) for line in one.lines(MESSAGE)} >= {
        ("lend_umbrella", 36), ("nowhere:7", 34)}
    assert "my place" not in one.log_text
