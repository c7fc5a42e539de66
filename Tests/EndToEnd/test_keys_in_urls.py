"""Keys in URLs: only where a browser can put them nowhere else, only those that everybody may have, and in no log."""

import json

import pytest
from websockets.exceptions import InvalidStatus

from Fixtures.clients.phoenix import Frames
from Fixtures.clients.streams import stream
from Fixtures.processes.gateway import API_KEY

PUBLIC = "web-key-0123456789abcdef"


@pytest.fixture
def open_gateway(gateway, tmp_path):
    return gateway("--access-log", str(tmp_path / "access.log"), keys=[f"web:{PUBLIC}:public"])


def test_a_services_key_or_token_in_the_url_is_refused(open_gateway, token, topic):
    """Both were taken, and a URL ends up in histories and in logs of proxies."""
    for key in (API_KEY, token("backend", role="service")):
        with pytest.raises(InvalidStatus) as refused:
            Frames(open_gateway, key)
        assert refused.value.response.status_code == 401
        assert "must not stand in a URL" in json.loads(refused.value.response.body)["error"]
        with stream(open_gateway, topic, access_token=key) as source:
            assert source.response.status_code == 401
            assert "must not stand in a URL" in source.response.json()["error"]["message"]
        with Frames(open_gateway, None, headers=[("x-api-key", key)]) as client:
            client.quiet()


def test_a_publishable_key_and_a_users_token_are_taken_and_in_no_log(open_gateway, token, topic, tmp_path):
    shown = [PUBLIC, token("ann"), API_KEY]
    for key in shown[:2]:
        with Frames(open_gateway, key) as client:
            client.quiet()
        with stream(open_gateway, topic, access_token=key) as source:
            source.expect("subscribed")
    with pytest.raises(InvalidStatus):
        Frames(open_gateway, API_KEY)
    open_gateway.stop()
    logs = open_gateway.log_text + (tmp_path / "access.log").read_text()
    assert "/realtime/v1/websocket" in logs
    assert not [key for key in shown if key[-20:] in logs]


def test_no_other_request_reads_a_key_from_its_url(open_gateway):
    with open_gateway.http(key=None) as http:
        for method, path in (("POST", "/v1/broadcast"), ("GET", "/v1/health"), ("GET", "/v1/topics/order:1"),
                             ("POST", "/realtime/v1/api/broadcast"), ("POST", "/v1/commands/add_points")):
            assert http.request(method, f"{path}?apikey={API_KEY}", json=None).status_code == 401, path
        assert http.get(f"/v1/shops/1/queue?apikey={API_KEY}").status_code == 400
