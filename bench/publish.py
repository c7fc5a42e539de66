#!/usr/bin/env python3
"""Measures publishes by HTTP and the same script in Redis; started by publish.sh."""

import argparse
import asyncio
import json
import os
import re
import ssl
import statistics
import subprocess
import sys
import time
from pathlib import Path

BYTES = 200  # of an event's data
HERE = Path(__file__).resolve().parent


def cpu_us(pid):
    """CPU time of all threads of a process, from its nanosecond counters."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1000


def redis(args, *words):
    return subprocess.run(["redis-cli", "-s", args.redis, *words], capture_output=True, text=True, check=True).stdout


def script_time(args):
    """Calls of scripts and the microseconds Redis counted for them."""
    found = re.search(r"cmdstat_evalsha:calls=(\d+),usec=(\d+)", redis(args, "INFO", "commandstats"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def by_http(args, name, connections, events, topics):
    """One run of wrk; what it and the two processes did in it."""
    environment = os.environ | {"KEY": args.key, "EVENTS": str(events), "TOPICS": str(topics), "BYTES": str(BYTES)}

    def run(seconds):
        text = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", HERE / "publish.lua",
             f"https://127.0.0.1:{args.port}/v1/broadcast"],
            env=environment, capture_output=True, text=True, check=True).stdout
        found = re.search(r"^RESULT (\d+) (\d+) (\d+) (\d+) (\d+)$", text, re.MULTILINE)
        if not found:
            sys.exit("wrk said:\n" + text)
        return [int(figure) for figure in found.groups()]

    run(1)
    before = cpu_us(args.gateway_pid), cpu_us(args.redis_pid), *script_time(args)
    requests, duration_us, p50, p99, errors = run(args.seconds)
    after = cpu_us(args.gateway_pid), cpu_us(args.redis_pid), *script_time(args)
    gateway, server, calls, in_script = (late - early for late, early in zip(after, before, strict=True))
    published = requests * events
    return {
        "name": name, "connections": connections, "eventsPerRequest": events, "topics": topics,
        "requestsPerSecond": requests * 1e6 / duration_us, "eventsPerSecond": published * 1e6 / duration_us,
        "p50Us": p50, "p99Us": p99, "failed": errors, "gatewayCPUPerRequestUs": gateway / requests,
        "gatewayCPUPerEventUs": gateway / published, "redisCPUPerEventUs": server / published,
        "scriptUsPerCall": in_script / calls if calls else 0, "gatewayCPUShare": gateway / duration_us,
    }


def the_call(args):
    """The words of the call that one broadcast leads to, as MONITOR shows them, with another topic."""
    monitor = subprocess.Popen(["redis-cli", "-s", args.redis, "MONITOR"], stdout=subprocess.PIPE, text=True)
    try:
        monitor.stdout.readline()  # OK: whatever comes now is seen
        data = '{"m":"' + "0" * 27 + '","p":"'
        data += "x" * (BYTES - len(data) - 2) + '"}'
        body = '{"topic":"shop:monitored","event":"order:created","data":' + data + "}"
        subprocess.run(["curl", "-sfk", f"https://127.0.0.1:{args.port}/v1/broadcast", "-H", f"apikey: {args.key}",
                        "-d", body], check=True, stdout=subprocess.DEVNULL, timeout=10)
        for line in monitor.stdout:
            if '"evalsha"' in line.lower() and "shop:monitored" in line:
                quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
                words = [word.replace('\\"', '"').replace("\\\\", "\\") for word in quoted]
                return [word.replace("shop:monitored", "shop:called") for word in words]
    finally:
        monitor.terminate()
        monitor.wait()
    sys.exit("MONITOR did not show the call")


def by_redis_benchmark(args, words, depth):
    calls = {1: 30_000, 16: 100_000}[depth] * max(1, args.seconds // 3)
    before = script_time(args)
    text = subprocess.run(["redis-benchmark", "-s", args.redis, "-n", str(calls), "-c", "50", "-P", str(depth), "--csv",
                           *words], capture_output=True, text=True, check=True).stdout
    # "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
    figures = [float(figure) for figure in re.findall(r'"([\d.]+)"', text.splitlines()[-1])[-7:]]
    done, spent = (late - early for late, early in zip(script_time(args), before, strict=True))
    return {"name": f"redis-benchmark, 50 clients, pipeline {depth}", "callsPerSecond": figures[0],
            "p50Us": figures[3] * 1000, "p99Us": figures[5] * 1000, "scriptUsPerCall": spent / done}


class Caller:
    """One connection on which requests are answered in order."""

    async def open_http(self, args):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", args.port, ssl=context)
        return self

    async def open_redis(self, args):
        self.reader, self.writer = await asyncio.open_unix_connection(args.redis)
        return self

    async def http(self, request):
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        await self.reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit("answered " + head.decode())

    async def redis(self, request):
        self.writer.write(request)
        line = await self.reader.readline()
        if not line.startswith(b"*3"):
            sys.exit("Redis answered " + line.decode())
        for _ in range(5):
            await self.reader.readline()


async def at_a_rate(args, words, rate=1000, connections=8):
    """Latencies of HTTP publishes and of plain calls, taken in turn at one rate from the time each was due, in us."""
    https = [await Caller().open_http(args) for _ in range(connections)]
    links = [await Caller().open_redis(args) for _ in range(connections)]
    data = words[8]
    body = ('{"topic":"shop:timed","event":"order:created","data":' + data + "}").encode()
    request = (f"POST /v1/broadcast HTTP/1.1\r\nHost: 127.0.0.1\r\napikey: {args.key}\r\n"
               f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    encoded = [word.encode() for word in words]
    call = b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)
    latencies = {"http": [], "redis": []}
    begin = time.perf_counter() + 0.2

    async def keep(index):
        for n in range(index, rate * args.seconds, connections):
            due = begin + n / rate
            await asyncio.sleep(max(0, due - time.perf_counter()))  # lint:allow the schedule is what is measured
            kind = "http" if n // connections % 2 else "redis"
            # Whoever is late says so: the time counts from when it was due, but not before the loop woke for it.
            await (https[index].http(request) if kind == "http" else links[index].redis(call))
            latencies[kind].append((time.perf_counter() - due) * 1e6)

    await asyncio.gather(*(keep(index) for index in range(connections)))
    for caller in https + links:
        caller.writer.close()
    result = {"name": f"{rate}/s open loop, half by HTTP, half in Redis", "ratePerSecond": rate}
    for kind, list_ in latencies.items():
        list_.sort()
        result[kind] = {"count": len(list_), "p50Us": list_[len(list_) // 2], "p99Us": list_[len(list_) * 99 // 100]}
    return result


FIGURES = ("requestsPerSecond", "gatewayCPUPerEventUs", "redisCPUPerEventUs", "gatewayCPUShare")


def tell_turns(directory):
    """Two builds that took turns: medians, and each figure of this one as a multiple of the other's in its round."""
    rounds = sorted(path.stem.removeprefix("this-") for path in directory.glob("this-*.json"))
    runs = {build: [json.loads((directory / f"{build}-{number}.json").read_text())["http"] for number in rounds]
            for build in ("other", "this")}
    print(f"{'':28}{'build':>6}{'requests/s':>12}{'gateway us':>12}{'Redis us':>10}{'core':>6}{'a full core':>13}")
    for place, case in enumerate(runs["this"][0]):
        middle = {build: {name: statistics.median(one[place][name] for one in list_) for name in FIGURES}
                  for build, list_ in runs.items()}
        for build, (rate, gateway, server, core) in ((build, figures.values()) for build, figures in middle.items()):
            print(f"{case['name']:28}{build:>6}{rate:12.0f}{gateway:12.2f}{server:10.2f}{core:6.2f}"
                  f"{1e6 / gateway:13.0f}")
        for name in FIGURES[:3]:
            ratios = [this[place][name] / other[place][name]
                      for this, other in zip(runs["this"], runs["other"], strict=True)]
            print(f"  {name}: {statistics.median(ratios):.3f} of the other's ({min(ratios):.3f} to {max(ratios):.3f})")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=Path, help="tell what runs in this directory found, and run nothing")
    for name in ("port", "gateway-pid", "redis-pid", "seconds"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("key", "redis"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--single", action="store_true", help="single events through the gateway alone")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main():
    args = arguments()
    if args.turns:
        tell_turns(args.turns)
        return
    http = [
        by_http(args, "1 event, 16 connections", 16, 1, 100),
        by_http(args, "1 event, 128 connections", 128, 1, 100),
    ]
    if not args.single:
        http += [
            by_http(args, "batch of 100, one topic, 16 connections", 16, 100, 1),
            by_http(args, "batch of 100, 100 topics, 16 connections", 16, 100, 100),
        ]
    tell_http(http)
    alone, timed = ([], {}) if args.single else in_redis(args)
    if args.json:
        args.json.write_text(json.dumps({"http": http, "redis": alone, "latency": timed}, indent=2) + "\n")
    if any(row["failed"] for row in http):
        sys.exit("some requests failed")


def tell_http(http):
    print(f"POST /v1/broadcast, TLS, keep-alive, {BYTES} bytes of data; gateway: 1 shard on CPU 0")
    print(f"{'':42}{'requests/s':>11}{'events/s':>10}{'p50 ms':>8}{'p99 ms':>8}{'gateway us':>12}{'us/event':>10}"
          f"{'Redis us/event':>16}{'failed':>8}")
    for row in http:
        print(f"{row['name']:42}{row['requestsPerSecond']:11.0f}{row['eventsPerSecond']:10.0f}{row['p50Us'] / 1e3:8.2f}"
              f"{row['p99Us'] / 1e3:8.2f}{row['gatewayCPUPerRequestUs']:12.1f}{row['gatewayCPUPerEventUs']:10.2f}"
              f"{row['redisCPUPerEventUs']:16.2f}{row['failed']:8}")


def in_redis(args):
    """The same call in Redis alone, and both ways at one rate."""
    words = the_call(args)
    alone = [by_redis_benchmark(args, words, depth) for depth in (1, 16)]
    print("\nThe same call in Redis alone, on CPU 1 with its load")
    for row in alone:
        print(f"{row['name']:42}{row['callsPerSecond']:11.0f} calls/s, p50 {row['p50Us'] / 1e3:.2f} ms, "
              f"p99 {row['p99Us'] / 1e3:.2f} ms, {row['scriptUsPerCall']:.2f} us in the script")
    timed = asyncio.run(at_a_rate(args, words))
    http_, redis_ = timed["http"], timed["redis"]
    print(f"\n{timed['name']}: HTTP p50 {http_['p50Us']:.0f} p99 {http_['p99Us']:.0f} us, "
          f"Redis p50 {redis_['p50Us']:.0f} p99 {redis_['p99Us']:.0f} us; the gateway adds "
          f"{http_['p50Us'] - redis_['p50Us']:.0f} at p50, {http_['p99Us'] - redis_['p99Us']:.0f} at p99")
    return alone, timed


main()
