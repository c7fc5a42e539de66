"""`GET /demo/guest`: a guest for each window, and only in dev."""

import base64
import contextlib
import http.client
import json
import urllib.error
import urllib.request

import pytest

from Fixtures.processes.dev import RunningGateway, trusting_anybody
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    with RunningGateway(tmp_path_factory.mktemp("dev") / "node", "--demo=false") as gateway:
        yield gateway


def get(gateway, method="GET"):
    """Status, headers, body."""
    request = urllib.request.Request(gateway.https + "/demo/guest", method=method)
    try:
        with urllib.request.urlopen(request, context=trusting_anybody(), timeout=10) as response:
            return response.status, response.headers, json.load(response)
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers, json.load(refusal)


def guest(gateway):
    """A guest, as soon as there is one to be had: the gateway's link to Redis may still be on its way."""
    def asked():
        status, headers, body = get(gateway)
        if status == 200:
            return headers, body
        assert (status, headers["Retry-After"]) in [(503, "1"), (429, "1")]
        return None

    return eventually(asked, 10, "a guest")


def test_guests_are_different_users_of_twelve_hours(gateway):
    headers, one = guest(gateway)
    _, other = guest(gateway)
    assert headers["Cache-Control"] == "no-store"
    assert set(one) == {"token", "userId", "shopId", "challengeId", "code"}
    assert (one["shopId"], one["challengeId"]) == ("demo", "demo")
    assert one["userId"] != other["userId"]
    payload = one["token"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert (claims["sub"], claims["role"], claims["topics"]) == (one["userId"], "user", ["order:demo"])
    assert claims["exp"] - claims["iat"] == 12 * 3600


def test_only_get_is_answered(gateway):
    status, headers, _ = get(gateway, "POST")
    assert (status, headers["Allow"]) == (405, "GET")


def test_a_flood_of_guests_is_refused(gateway):
    """On one connection, since handshakes alone would keep a busy host's test below the rate."""
    guest(gateway)
    connection = http.client.HTTPSConnection(gateway.authority, timeout=10, context=trusting_anybody())
    with contextlib.closing(connection):
        for _ in range(200):
            connection.request("GET", "/demo/guest")
            answer = connection.getresponse()
            body = json.load(answer)
            if answer.status == 429:
                assert answer.headers["Retry-After"] == "1"
                assert body["error"]["code"] == "rate_limited"
                return
    raise AssertionError("200 guests in a row")
