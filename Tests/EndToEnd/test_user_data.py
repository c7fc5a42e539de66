"""`DELETE` and `GET /v1/users/{userId}/data`: everything of a user is erased or told, for the user and for services."""

from pathlib import Path

import pytest

from Fixtures.apps.operator_scripts import write_scripts
from Fixtures.clients.tokens import sign
from Fixtures.processes.gateway import API_KEY, error_code
from Fixtures.redis import outbox
from Fixtures.waiting import eventually

HEADER = """-- @command  {name}
-- @summary  For these tests.
-- @allow    worker
-- @arg      userId user
-- @key      notes user:{{userId}}#notes
-- @key      friends user:{{userId}}#friends
-- @{tag}
-- @returns  {{}}
-- @cost     O(1)
-- @weight   100
"""
# A few at each call: what is left is the next call's.
ERASE = HEADER.format(name="erase_notes", tag="erases") + """-- @calls    erase_notes
local left = read('LLEN', key.notes)
if left > 3 then
  write('LTRIM', key.notes, 3, -1)
  later('erase_notes', {userId = args.userId})
else
  write('DEL', key.notes, key.friends)
end
return {}
"""
EXPORT = HEADER.format(name="export_notes", tag="exports") + """-- @readonly
return {notes = array(read('LRANGE', key.notes, 0, 99))}
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    return write_scripts(tmp_path_factory.mktemp("packs") / "people", erase_notes=ERASE, export_notes=EXPORT)


@pytest.fixture
def gw(gateway, scripts, server):
    return gateway("--scripts", scripts, server=server)


def kept_rows(*packs):
    """The rows of docs/erasure.md for some packs."""
    rows = []
    for line in (Path(__file__).resolve().parents[2] / "docs" / "erasure.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and cells[3] in packs:
            rows.append((cells[0].replace("`", ""), cells[1], cells[2]))
    return rows


def data(gw, key, user, method="GET", **more):
    with gw.http(key=key) as http:
        return http.request(method, f"/v1/users/{user}/data", **more)


def test_a_users_data_are_told_and_erased(gw, worker, scripts, server, token):
    with server.client() as db:
        for user in ("ann", "bob"):
            db.rpush(f"user:{user}#notes", *(f"{user}-{number}" for number in range(10)))
            db.sadd(f"user:{user}#friends", "eve")
        told = data(gw, token("ann"), "ann").json()
        assert set(told) == {"people", "barbershop"}
        assert told["people"] == {"notes": [f"ann-{number}" for number in range(10)]}
        answer = data(gw, token("ann"), "ann", "DELETE")
        told = answer.json()
        assert (answer.status_code, told["userId"], told["queued"]) == (202, "ann", 2)
        assert [row for row in told["keeps"] if "#removed" in row["keys"]] == [
            {"keys": ["#removed"], "what": "from which topics the user was taken out", "until": "2 minutes"}]
        assert kept_rows("gateway", "barbershop") == [
            (" ".join(row["keys"]), row["what"], row["until"]) for row in told["keeps"]], "as the docs say"
        worker(server=server, scripts=scripts)
        eventually(lambda: not db.keys("*ann#notes*") and not db.keys("*ann#friends*"), 5, "the erasure")
        assert data(gw, API_KEY, "ann").json()["people"] == {"notes": []}
        assert db.llen("user:bob#notes") == 10, "nobody else's"
        eventually(lambda: outbox.waiting(db) == 0, 5, "the outbox")


def test_only_services_and_the_user_himself_may_ask(gw, token, secret, server):
    for method in ("GET", "DELETE"):
        for key, status in ((None, 401), (token("bob"), 403), (token("bob", topics=["user:ann"]), 403),
                            (sign(secret, "billing", role="service", topics=["user:*"]), 403)):
            assert data(gw, key, "ann", method).status_code == status, (method, status)
        assert data(gw, sign(secret, "billing", role="service"), "ann", method).status_code in (200, 202)
    assert error_code(data(gw, API_KEY, "a b", "DELETE")) == "bad_request"
    assert data(gw, API_KEY, "ann", "POST").status_code == 405
    assert data(gw, API_KEY, "ann", "DELETE", content=b"{}").status_code == 400
    with gw.http() as http:
        assert http.post("/v1/commands/erase_notes", json={"userId": "ann"}).status_code == 404, "the worker's alone"


def test_a_full_outbox_takes_no_erasure(gateway, scripts, server):
    gw = gateway("--scripts", scripts, server=server, limits={"outboxMax": 2})
    assert data(gw, API_KEY, "ann", "DELETE").status_code == 202
    assert error_code(data(gw, API_KEY, "ann", "DELETE")) == "unavailable"


def test_a_guest_of_a_barbershop_is_forgotten(gateway, worker, server, token, db):
    """Over the wire: what clients and backends did, told and erased; a live session of the user hears of it."""
    gw = gateway(server=server)
    worker(server=server)
    shop, user = "erase-shop", "erased-guest"
    with gw.http(key=API_KEY) as backend, gw.client(token=token(user)) as client:
        client.subscribe(f"user:{user}")
        for path, body in ((f"/v1/shops/{shop}/presence", {"userId": user}), (f"/v1/shops/{shop}/dj/start", {}),
                           (f"/v1/shops/{shop}/tracks", {"trackId": "t1", "userId": user}),
                           (f"/v1/shops/{shop}/bookings", {"userId": user, "bookingId": "b-1"}),
                           (f"/v1/challenges/erase-race/users/{user}/points", {"points": 5})):
            assert backend.post(path, json=body).status_code == 200, path
        heard = {client.receive()["event"] for _ in range(4)}
        assert heard == {"presence:here", "booking:status_change", "notification", "leaderboard:update"}
        gone = {"visited": [], "bookings": [], "challenges": [], "notifications": []}

        def home():
            told = data(gw, token(user), user).json()["barbershop"]
            return {name: told[name] for name in gone}

        eventually(lambda: all(home().values()), 5, "the notes")
        assert data(gw, token(user), user, "DELETE").status_code == 202
        assert client.expect("presence:here")["data"] == {"topic": f"shop:{shop}", "here": False}

        def adder():
            return backend.get(f"/v1/shops/{shop}/dj").json()["queue"][0]["addedBy"]

        def booking():
            return backend.get(f"/v1/shops/{shop}/bookings/b-1").status_code

        eventually(lambda: home() == gone and db.zcard("leaderboard:erase-race") == 0 and adder() == ""
                   and booking() == 404, 5, "the erasure")
