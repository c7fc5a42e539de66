"""Debian's Prometheus on loopback, with the project's rules, for targets that may change."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import httpx

from Fixtures.processes.node import ENVIRONMENT
from Fixtures.processes.ports import free_port
from Fixtures.waiting import eventually

RULES = Path(__file__).resolve().parents[3] / "deploy" / "prometheus" / "rules.yaml"
START_SECONDS_MAX = 30
CONFIGURATION = """
global: {{scrape_interval: {every}, scrape_timeout: {every}, evaluation_interval: {every}}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: switchboard
    tls_config: {{insecure_skip_verify: true}}
    file_sd_configs: [{{files: ["{targets}"], refresh_interval: 1s}}]
"""


class Prometheus:
    """One Prometheus with its data in a directory of its own; a context manager."""

    def __init__(self, directory: Path, every: str = "1s"):
        directory.mkdir(parents=True)
        self.directory = directory
        self.targets = directory / "targets.json"
        self.watch({})
        (directory / "prometheus.yml").write_text(
            CONFIGURATION.format(every=every, rules=RULES, targets=self.targets))
        self.address = f"127.0.0.1:{free_port()}"
        self.http = httpx.Client(base_url=f"http://{self.address}", trust_env=False, timeout=10)
        self.process = None

    def __enter__(self):
        program = shutil.which("prometheus")
        assert program, "Debian's package prometheus is not installed: scripts/packages.sh test"
        with open(self.directory / "log", "wb") as log:
            self.process = subprocess.Popen(
                [program, f"--config.file={self.directory}/prometheus.yml",
                 f"--storage.tsdb.path={self.directory}/data",
                 f"--web.listen-address={self.address}", "--storage.tsdb.retention.time=1h", "--log.level=warn"],
                stdout=log, stderr=log, env=ENVIRONMENT)
        eventually(self._is_ready, START_SECONDS_MAX, "Prometheus")
        return self

    def __exit__(self, *_):
        self.http.close()
        self.process.terminate()
        self.process.wait(timeout=START_SECONDS_MAX)

    def _is_ready(self) -> bool:
        assert self.process.poll() is None, (self.directory / "log").read_text()
        try:
            return self.http.get("/-/ready").status_code == 200
        except httpx.TransportError:
            return False

    def watch(self, targets: dict[tuple[str, str], str]) -> None:
        """Scrapes these addresses from now on, by job and instance: HOST:PORT, or an origin with its scheme."""
        text = json.dumps([
            {"targets": [address.rpartition("/")[2]],
             "labels": {"job": job, "instance": instance,
                        "__scheme__": "https" if address.startswith("https:") else "http"}}
            for (job, instance), address in sorted(targets.items())])
        if not self.targets.exists() or self.targets.read_text() != text:
            # Prometheus must never see a half.
            new = self.targets.with_suffix(".new")
            new.write_text(text)
            new.rename(self.targets)

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """Labels and value of each series of now that is a number."""
        answer = self.http.get("/api/v1/query", params={"query": expression}).json()
        assert answer["status"] == "success", f"{expression}: {answer}"
        result = answer["data"]["result"]
        if answer["data"]["resultType"] == "scalar":
            result = [{"metric": {}, "value": result}]
        found = [(series["metric"], float(series["value"][1])) for series in result]
        return [(labels, value) for labels, value in found if not math.isnan(value)]

    def firing(self) -> set[str]:
        """The names of the alerts that fire now."""
        alerts = self.http.get("/api/v1/alerts").json()["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}
