"""C3, O2: one of two gateways is killed while it has all clients; all of them go to the other at once.

Meanwhile that one is published to, and no publish may fail. Each round is an installation of its own.

usage: .venv/bin/python Tests/Chaos/herd.py --clients 5000 --rounds 1
"""

import json
import re
import sys
from collections import Counter

import paths  # noqa: F401
import runs
from checker import Report
from Fixtures.waiting import pass_time
from gauges import RedisFigures, now_us, quantile, reply_ms, resident, timed
from latency import Latency
from world import World

CALM_SECONDS = 3
PATIENCE_SECONDS = 120
BACK_SECONDS_MAX = 30
RSS_FACTOR_MAX = 2
REDIS_P99_MS_MAX = 20
RESUMED_SHARE_MIN = 0.95
FAILURES = ("unanswered", "nacked", "given up", "skipped")


def turned_away(page: str) -> Counter:
    """Connections that a gateway refused or ended, by metric and reason, and how often it stopped accepting."""
    return Counter({f"{name} {reason}".strip(): int(count) for name, reason, count in re.findall(
        r'^switchboard_(connections_closed|connections_refused|accept_pauses|tls_handshakes)_total'
        r'(?:{reason="(\w+)"})? (\d+)$', page, re.M)})


def one_round(options, directory, number: int):
    """Returns the checker's report and what was not as it must be."""
    problems = []

    def expect(is_so: bool, what: str) -> None:
        if not is_so:
            problems.append(f"round {number}: {what}")

    with World(directory, gateways=2, late=1, publish_to=1, through_nginx=False, per_client=1, durable=True,
               epoch_kept=True, patience=PATIENCE_SECONDS, **runs.world_options(options)) as world:
        first, second = world.gateways
        world.start_late()
        world.rate(options.rate)
        pass_time(CALM_SECONDS, "the load runs undisturbed")
        redis, client = RedisFigures(world.redis), second.client()
        # Who neither authenticates nor subscribes is closed after a while.
        client.subscribe("load:quiet")
        memory, pings = resident(second), timed(0.05, lambda: client.request("ping"))
        redis_pings = timed(0.01, redis.db.ping)

        def is_back() -> bool:
            state = world.status()
            return state["reconnects"] >= options.clients and state["live"] >= options.clients

        attempts = world.status()["failedAttempts"]
        with memory, pings, redis_pings:
            published, page = second.metric("switchboard_publishes_total"), second.metrics()
            began = now_us()
            first.kill()
            world.every(0.1, is_back, PATIENCE_SECONDS, "everybody is back")
            state, back = world.status(), now_us()
            published = int(second.metric("switchboard_publishes_total") - published)
            page_after = second.metrics()
            # With the gateway's own delays: its loop is busy with handshakes.
            replies_ms = reply_ms(page, page_after, 0.99)
            scripts, execution_ms = redis.calls("evalsha", "eval"), redis.execution_ms("evalsha")
            pass_time(CALM_SECONDS, "the load runs undisturbed")
            calm = now_us()
            pass_time(1, "figures of a second")
        steady = quantile(memory.values(calm), 0.5)
        client.close()
        redis.close()
        failed = {name: count for name, count in json.loads(world.publishers.ask("stop", 60)).items()
                  if count and name.startswith(FAILURES)}
        first.start()
        report = world.finish()
    peak = max(memory.values(began, back))
    back_seconds = (state["backMs"] or back - began) / 1_000
    share = state["resumed"] / state["reconnects"]
    redis_ms = quantile(redis_pings.values(began, back), 0.99)
    ping_values = pings.values(began, back)
    # Publishes and reads are the only scripts here.
    reads = scripts - published
    print(f"round {number}: {options.clients} clients back after {back_seconds:.2f} s; {share:.1%} of handshakes "
          f"resumed, {state['failedAttempts'] - attempts} attempts failed; peak {peak >> 20} MiB, "
          f"then {int(steady) >> 20} MiB; "
          f"{published} publishes, failed: {failed or 0}; {reads} reads of {options.topics} topics; Redis p99 "
          f"{redis_ms:.1f} ms (scripts {execution_ms:.2f} ms, the gateway's replies up to "
          f"{replies_ms:.1f} ms); ping p50 {quantile(ping_values, 0.5):.1f} p99 "
          f"{quantile(ping_values, 0.99):.1f} max {max(ping_values, default=0):.1f} ms; events "
          f"p99 {Latency(directory).quantile(0.99, began, back):.0f} ms; "
          f"{dict(turned_away(page_after) - turned_away(page))}", flush=True)
    expect(back_seconds <= BACK_SECONDS_MAX, f"back after {back_seconds:.1f} s")
    expect(not failed, f"publishes failed: {failed}")
    expect(published > 0 and len(ping_values) > 0, "nothing was published or answered")
    expect(share >= RESUMED_SHARE_MIN, f"only {share:.1%} of the handshakes were resumed")
    expect(peak <= RSS_FACTOR_MAX * steady, f"memory went up to {peak / steady:.1f} times what it needs")
    expect(redis_ms <= REDIS_P99_MS_MAX, f"Redis answered after {redis_ms:.1f} ms")
    expect(reads <= options.topics + options.clients, f"{reads} reads")
    for sampler in (memory, pings, redis_pings):
        expect(not sampler.failures, f"not measured: {sampler.failures}")
    return report, problems


def main() -> int:
    options = runs.parse(runs.arguments(__doc__.split("\n")[0], clients=5_000, rate=200, topics=50, rounds=1))
    seed, total, problems = options.seed, Report(), []
    with runs.directory(options) as outcome:
        for number in range(1, options.rounds + 1):
            options.seed = seed + number - 1
            report, failed = one_round(options, outcome.path / f"round-{number}", number)
            total.add(report)
            problems += failed
        return runs.close(outcome, total, problems)


if __name__ == "__main__":
    sys.exit(main())
