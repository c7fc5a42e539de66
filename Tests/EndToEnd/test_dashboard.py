"""Each panel of the dashboard shows something two minutes after `make run`, asked of Debian's Prometheus."""

import asyncio
import json

import pytest
from websockets.asyncio.client import connect

import httpx
from Fixtures.metric_table import ROOT
from Fixtures.processes.dev import RunningGateway, trusting_anybody
from Fixtures.processes.prometheus import Prometheus
from Fixtures.waiting import time_passes

PANELS = [panel for panel in json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text())["panels"]
          if panel["type"] != "row"]
SECONDS = 120
VARIABLES = {"$job": "switchboard-gateway", "$instance": ".*", "$__rate_interval": "1m"}


async def look_and_publish(dev: RunningGateway) -> int:
    """What somebody does who tries it: a page is open, and events are published. Returns how many came."""
    came = 0

    async def read(page) -> None:
        nonlocal came
        async for message in page:
            came += json.loads(message).get("event") == "hello"

    async with connect(f"{dev.wss}/ws", ssl=trusting_anybody()) as page, httpx.AsyncClient(
            base_url=dev.https, verify=False, headers={"apikey": dev.api_key}, trust_env=False) as backend:
        await page.send('{"event":"subscribe","data":{"topic":"shop:42"}}')
        reader = asyncio.create_task(read(page))
        for number in range(SECONDS):
            answer = await backend.post("/v1/broadcast", json={"topic": "shop:42", "event": "hello",
                                                               "data": {"number": number}})
            assert answer.status_code == 200, answer.text
            await time_passes(1, "the panels are asked for what two minutes of use have left")
        reader.cancel()
    return came


def query(expression: str) -> str:
    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    assert "$" not in expression, expression
    return expression


@pytest.mark.thorough
def test_every_panel_has_data_after_two_minutes(tmp_path):
    with RunningGateway(tmp_path / "dev") as dev, \
            Prometheus(tmp_path / "prometheus", every="5s") as prometheus:
        prometheus.watch({("switchboard-gateway", "dev"): dev.https})
        assert asyncio.run(look_and_publish(dev)) > SECONDS / 2
        found = {f"{panel['title']}: {target['expr']}": prometheus.query(query(target["expr"]))
                 for panel in PANELS for target in panel["targets"]}
        empty = [text for text, result in found.items() if not result]
        assert not empty, "\n".join(empty)
        # What is asked is what happened: one publish a second, and no alert. A machine may allow fewer descriptors
        # than the default of `connectionsMax` asks for.
        rates = prometheus.query('rate(switchboard_namespace_publishes_total{namespace="shop"}[1m])')
        assert 0.5 < rates[0][1] < 3, rates
        [(_, timed)] = prometheus.query("sum(switchboard_delivery_latency_seconds_count)")
        assert timed > SECONDS / 2
        assert prometheus.firing() <= {"SwitchboardDescriptorsShort"}
