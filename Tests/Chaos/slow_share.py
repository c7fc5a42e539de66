"""C1, O3: a tenth of the clients stops reading; the others do not notice, memory stays bounded, and nobody loses.

With --prefix load:t the slow ones are closed 4410 and come back; with live:t they are told of what was left out.
The kernel's buffers of a connection hold megabytes, which hide for minutes who does not read. So the run goes on in a
network namespace of its own, where they are small (tcp(7), tcp_wmem and tcp_rmem). That needs unshare(1) and ip(8).

usage: .venv/bin/python Tests/Chaos/slow_share.py --clients 2000 --slow 200
"""

import os
import sys
from collections import Counter

import paths  # noqa: F401
import runs
from Fixtures.waiting import pass_time
from gauges import Sampler, now_us, resident
from latency import Latency
from slow_clients import signalled_to_readers
from world import World

PADDING = 1_500
CALM_SECONDS, BASE_SECONDS, STALL_SECONDS = 3, 10, 20
CLOSED_SECONDS_MAX = 10
P99_FACTOR_MAX = 2
# Below this a factor says nothing but how the machine's two cores were shared.
P99_MS_MIN = 25
MEMORY_SLACK = 48 << 20
PATIENCE_SECONDS = 120
BUFFERS = {"tcp_wmem": "4096 16384 32768", "tcp_rmem": "4096 16384 32768"}
# Of Ethernet: segments of 64 KiB, which loopback has, do not fit into such windows and wait for timers.
MTU = 1_500
INSIDE = "--inside"


def enter_namespace() -> None:
    """Goes on as the same program in a network namespace with small buffers."""
    kind = "-n" if os.geteuid() == 0 else "-rn"
    settings = " && ".join(f'echo "{value}" > /proc/sys/net/ipv4/{name}' for name, value in BUFFERS.items())
    os.execvp("unshare", ["unshare", kind, "sh", "-c", f'ip link set lo mtu {MTU} up && {settings} && exec "$@"', "sh",
                          sys.executable, *sys.argv, INSIDE])


def slow_counts(gateway) -> tuple:
    """Connections that a gateway closed because their clients were slow, and events that newer ones replaced."""
    page = gateway.metrics()
    return (int(page.value("switchboard_connections_closed_total", reason="slow_consumer")),
            int(page.value("switchboard_events_ended_total", fate="conflated")))


def fates(directory, slow: int, since_us: int, until_us: int = 1 << 62) -> Counter:
    """What clients that had stopped reading were told afterwards; `others closed` until a moment, who always read."""
    found = Counter()
    for line in open(directory / "subscribers.log", encoding="ascii", errors="replace"):
        fields = line.split()
        if int(fields[0]) < since_us:
            continue
        if int(fields[2]) >= slow:
            found["others closed"] += fields[1] == "D" and int(fields[0]) < until_us
            continue
        if fields[1] == "S":
            found["recovered" if fields[6] == "1" else "not recovered"] += 1
        elif fields[1] == "G":
            found[f"gap {fields[6]}"] += 1
        elif fields[1] == "D":
            found[f"closed {fields[3]}"] += 1
    return found


def judge(options, directory, budget, latency, base, stalled, resumed, back, before, memory, state) -> list:
    """Prints what a round came to; returns what was not as it must be."""
    usual, during = latency.quantile(0.99, base, stalled), latency.quantile(0.99, stalled, resumed)
    steady = max(memory.values(base, stalled))
    peak = max(memory.values(stalled, resumed))
    queued = max(sample[0] for sample in state.values(stalled, resumed))
    first, last = ([t for t, sample in state.samples if t >= stalled and sample[1] - before[1] >= count]
                   for count in (1, options.slow))
    closed, conflated = (state.samples[-1][1][index] - before[index] for index in (1, 2))
    told = fates(directory, options.slow, stalled, back)

    def after(moments) -> str:
        return f"{(moments[0] - stalled) / 1e6:.1f} s" if moments else "never"

    print(f"others' p99 {usual:.1f} ms, {during:.1f} ms while {options.slow} of {options.clients} did not read (p50 "
          f"{latency.quantile(0.5, base, stalled):.1f} and {latency.quantile(0.5, stalled, resumed):.1f} ms); memory "
          f"{steady >> 20} MiB, then up to {peak >> 20} MiB; queued up to {queued >> 10} of {budget >> 10} KiB; "
          f"{closed} closed as slow, the first after {after(first)}, as many as stalled after {after(last)}; "
          f"{conflated} events conflated; all live {(back - resumed) / 1e6:.2f} s after they read again; they were "
          f"told {dict(told)}", flush=True)
    problems = [f"not measured: {sampler.failures}" for sampler in (memory, state) if sampler.failures]
    if during > max(P99_FACTOR_MAX * usual, P99_MS_MIN):
        problems.append(f"the others' p99 went from {usual:.1f} to {during:.1f} ms")
    if queued > budget:
        problems.append(f"{queued >> 10} KiB were queued")
    if told["others closed"]:
        problems.append(f"{told['others closed']} clients that read were closed")
    if peak > steady + budget + MEMORY_SLACK:
        problems.append(f"memory went up by {(peak - steady) >> 20} MiB")
    if not options.prefix.startswith("live:"):
        if not last or last[0] - stalled > CLOSED_SECONDS_MAX * 1e6:
            problems.append(f"the slow ones were closed after: {after(last)}")
        if told["not recovered"]:
            problems.append(f"{told['not recovered']} slow clients lost what the log still has")
    elif not conflated:
        problems.append("nothing was conflated")
    return problems


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=2_000, rate=200, topics=20, rounds=1)
    parser.add_argument("--slow", type=int, default=200, help="clients that stop reading")
    parser.add_argument("--prefix", default="load:t")
    parser.add_argument("--budget", type=int, default=0, help="KiB that may wait for all; 0: 320 for each slow client")
    parser.add_argument(INSIDE, action="store_true", help="this is the network namespace with small buffers")
    if INSIDE not in sys.argv and "--help" not in sys.argv and "-h" not in sys.argv:
        enter_namespace()
    options = runs.parse(parser)
    budget = (options.budget or 320 * options.slow) << 10
    limits = {"outboundTotalBytesMax": budget, "outboundBytesMax": 256 << 10, "outboundAgeMs": 4_000}
    rounds, problems = [], []
    with runs.directory(options) as outcome:
        with World(outcome.path, gateways=1, per_client=1, durable=True, epoch_kept=True, prefix=options.prefix,
                   through_nginx=False, limits=limits, padding=PADDING, patience=PATIENCE_SECONDS, batch=10,
                   **runs.world_options(options)) as world:
            gateway = world.gateways[0]
            world.rate(options.rate)
            pass_time(CALM_SECONDS, "the load runs undisturbed")
            for number in range(1, options.rounds + 1):
                state = Sampler(0.25, lambda: (gateway.usage()["queued"], *slow_counts(gateway)))
                memory, before = resident(gateway), (0, *slow_counts(gateway))
                with memory, state:
                    base = now_us()
                    pass_time(BASE_SECONDS, "what is usual is measured")
                    stalled = now_us()
                    world.crowd.ask(f"stall {options.slow}")
                    pass_time(STALL_SECONDS, "slow clients do not read")
                    resumed = now_us()
                    world.crowd.ask("resume")
                    world.wait_live()
                    back = now_us()
                rounds.append((base, stalled, resumed, back, before, memory, state))
                pass_time(CALM_SECONDS, "the load runs undisturbed")
            report = world.finish()
        latency = Latency(outcome.path, first_client=options.slow)
        for number, one in enumerate(rounds, 1):
            problems += [f"round {number}: {text}" for text in judge(options, outcome.path, budget, latency, *one)]
        hurt = signalled_to_readers(outcome.path, options.slow)
        if hurt:
            problems.append(f"clients that always read were told of {hurt} holes")
        return runs.close(outcome, report, problems)


if __name__ == "__main__":
    sys.exit(main())
