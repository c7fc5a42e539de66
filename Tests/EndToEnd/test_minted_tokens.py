"""Tokens that scripts have the gateway sign: what they open at every door, and what they never do."""

import base64
import json

import pytest

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.processes.gateway import API_KEY, error_code

HOME = {"arg": ["sessionId id", "userId user optional"], "key": "box session:{sessionId}#box",
        "topic": "session:{sessionId}", "allow": "user|service"}
INVITE = script("invite", """if read('HGET', key.box, caller.user or '') ~= 'host' then
  fail('forbidden', 'Not your session')
end
return {guest = mint('guest')}""", **HOME | {"mint": "session:{sessionId} 6 h", "topic": "session:{sessionId}"})
SAY = script("say", """emit('session:' .. args.sessionId, 'said', {by = caller.user, guest = caller.guest})
return {by = caller.user}""", **HOME)
ELSEWHERE = script("elsewhere", "return {}", **HOME | {
    "arg": ["shopId id", "userId user optional"], "key": "box shop:{shopId}#box", "topic": "shop:{shopId}"})
# Its home is found by a key of the caller's own.
FOUND = script("found", "return {where = args.sessionId}", **HOME | {
    "arg": "userId user", "resolve": "sessionId = user:{userId}#at else nowhere 404 -- You are nowhere."})
# Their keys are of two ids.
BOTH = script("both", "write('SET', key.mine, '1') return {}", **HOME | {
    "arg": ["sessionId id", "userId user"], "span": "-- both at once",
    "key": ["box session:{sessionId}#box", "mine user:{userId}#mine"]})
ACROSS = script("across", "write('SET', key.other, '1') return {}", **HOME | {
    "arg": ["sessionId id", "userId user", "otherId id"], "span": "-- both at once",
    "key": ["box session:{sessionId}#box", "other user:{otherId}#mine"]})


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    return write_scripts(tmp_path_factory.mktemp("scripts"), invite=INVITE, say=SAY, elsewhere=ELSEWHERE,
                         found=FOUND, both=BOTH, across=ACROSS)


@pytest.fixture
def minting(gateway, scripts, tmp_path):
    (tmp_path / "mint-secret").write_bytes(b"a secret for tokens of the gateway's own\n")
    return gateway("--scripts", scripts, "--mint-secret-file", str(tmp_path / "mint-secret"))


def run(gw, key, name, **arguments):
    with gw.http(key=key) as http:
        return http.post(f"/v1/commands/{name}", json=arguments)


@pytest.fixture
def session(topics, db):
    topic = topics("session")
    db.hset(f"{topic}#box", "ann", "host")
    return topic


def test_a_guest_comes_in_by_the_hosts_token(minting, session, token, topics):
    id = session.split(":")[1]
    answer = run(minting, token("ann"), "invite", sessionId=id, id="op-1").json()
    guest, pass_ = answer["guest"], answer["token"]
    assert run(minting, token("ann"), "invite", sessionId=id, id="op-1").json() == answer, "a retry makes no other"
    claims = json.loads(base64.urlsafe_b64decode(pass_.split(".")[1] + "=="))
    assert claims["sub"] == guest and claims["topic"] == session and claims["exp"] - claims["iat"] == 6 * 3600
    with minting.client(token=pass_) as client, minting.client(token=token("ann", topics=[session])) as host:
        client.subscribe(session)
        host.subscribe(session)
        assert run(minting, pass_, "say", sessionId=id).json() == {"by": guest}
        assert host.expect("said")["data"] == {"by": guest, "guest": True}
        client.expect("said")
        # What it never opens.
        for other in (topics("session"), f"user:{guest}", "order:1", "conversation:1"):
            client.refused("subscribe", {"topic": other}, "forbidden")
        client.refused("publish", {"topic": session, "event": "said", "data": {}}, "forbidden")
        client.refused("publish", {"topic": f"user:{guest}", "event": "said", "data": {}}, "forbidden")
        client.refused("authenticate", {"token": token(guest)}, "forbidden")
        client.refused("say", {"sessionId": "other"}, "forbidden")
        client.refused("say", {"sessionId": id, "userId": "ann"}, "forbidden")
        client.refused("elsewhere", {"shopId": id}, "forbidden")
        client.refused("invite", {"sessionId": id}, "forbidden")
        client.refused("notifications", {"userId": guest}, "forbidden")


def test_a_resolved_home_must_be_the_tokens(minting, session, token, topics, db):
    """What the caller's own key names is known late; the token is for its session all the same."""
    answer = run(minting, token("ann"), "invite", sessionId=session.split(":")[1]).json()
    guest, pass_ = answer["guest"], answer["token"]
    assert run(minting, pass_, "found").json()["error"]["message"] == "You are nowhere."
    db.set(f"user:{guest}#at", session.split(":")[1])
    assert run(minting, pass_, "found").json() == {"where": session.split(":")[1]}
    db.set(f"user:{guest}#at", topics("session").split(":")[1])
    assert error_code(run(minting, pass_, "found")) == "forbidden"
    assert run(minting, token(guest), "found").status_code == 200, "a user is bound to no session"


def test_a_script_of_several_ids_reaches_no_strangers(minting, session, token, db):
    id = session.split(":")[1]
    answer = run(minting, token("ann"), "invite", sessionId=id).json()
    guest, pass_ = answer["guest"], answer["token"]
    assert run(minting, pass_, "both", sessionId=id).status_code == 200
    assert run(minting, pass_, "across", sessionId=id, otherId=guest).status_code == 200, "the bearer's own"
    assert error_code(run(minting, pass_, "across", sessionId=id, otherId="ann")) == "forbidden"
    assert db.exists(f"user:{guest}#mine") and not db.exists("user:ann#mine")
    assert run(minting, token("ann"), "across", sessionId=id, otherId="bob").status_code == 200


def test_a_revoked_guest_is_sent_away(minting, session, token):
    answer = run(minting, token("ann"), "invite", sessionId=session.split(":")[1]).json()
    with minting.client(token=answer["token"]) as client, minting.http() as http:
        client.subscribe(session)
        token_id = json.loads(base64.urlsafe_b64decode(answer["token"].split(".")[1] + "=="))["jti"]
        assert http.post("/v1/revocations", json={"tokenId": token_id}).status_code == 200
        client.expect_close(4401, after=("error",))


def test_only_the_script_decides_who_is_invited(minting, session, token):
    id = session.split(":")[1]
    refused = run(minting, token("bob"), "invite", sessionId=id)
    assert (refused.status_code, error_code(refused)) == (403, "forbidden")


def test_without_a_secret_nothing_is_signed(gateway, scripts, session, token):
    gw = gateway("--scripts", scripts)
    refused = run(gw, token("ann"), "invite", sessionId=session.split(":")[1])
    assert (refused.status_code, error_code(refused)) == (503, "unavailable")
    assert "--mint-secret-file" in refused.json()["error"]["message"]
    assert run(gw, API_KEY, "say", sessionId="7").status_code == 200
