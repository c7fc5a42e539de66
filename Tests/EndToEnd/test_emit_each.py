"""emit_each through a real worker: each topic gets each event once and in order, though a worker dies in between."""

import json

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.redis import outbox
from Fixtures.waiting import eventually

TOPICS, CALLS = 40, 60
TELL = script(
    "tell_all", f"""local topics, own = {{}}, {{}}
for n = 1, {TOPICS} do
  topics[n] = 'order:' .. args.groupId .. '-' .. n
  own[n] = {{n = args.n, to = n}}
end
emit_each(topics, args.isShared and 'shared' or 'own', args.isShared and {{n = args.n}} or own)
if args.n == 0 then admit('order:' .. args.groupId .. '-1', 'ann') end
return {{}}""",
    arg=["groupId id", "n int 0..1000", "isShared bool"], key="box group:{groupId}#box", topic=["order:*"], members="")


def test_a_worker_that_dies_between_two_parts_of_an_entry_tells_nothing_twice(gateway, worker, server, tmp_path):
    scripts = write_scripts(tmp_path / "scripts", tell_all=TELL)
    gw = gateway("--scripts", scripts, server=server)
    with gw.http() as http, server.client() as db:
        def tell(numbers):
            for n in numbers:
                body = {"groupId": "7", "n": n, "isShared": n % 2 == 0, "id": f"op-{n}"}
                assert http.post("/v1/commands/tell_all", json=body).status_code == 200

        tell(range(CALLS))
        assert outbox.waiting(db) == CALLS + 1, "one entry for all topics of a call, and one for the member"
        limits = {"leaseMs": 1_000, "relaysMax": 4}
        first = worker(server=server, scripts=scripts, limits=limits)
        eventually(lambda: db.xlen("order:7-1#log") > 5, 10, "the first events")
        first.kill()
        assert outbox.waiting(db) > 0, "it died at work"
        worker(server=server, scripts=scripts, limits=limits)
        eventually(lambda: outbox.waiting(db) == 0, 20, "an empty outbox")
        for to in range(1, TOPICS + 1):
            events = [json.loads(fields[b"d"]) for _, fields in db.xrange(f"order:7-{to}#log")]
            assert events == [{"n": n} if n % 2 == 0 else {"n": n, "to": to} for n in range(CALLS)]
        assert db.smembers("order:7-1#members") == {b"ann"} and db.xlen("#outbox-dead") == 0
