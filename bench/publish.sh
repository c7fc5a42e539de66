#!/usr/bin/env bash
# Publishes by HTTP through one gateway with one shard, and the same script called in Redis itself, side by side.
#
# The gateway has CPU 0; Redis and the load have CPU 1. Needs Debian's wrk and redis-benchmark. With --against, single
# events alone, and another build of the gateway takes turns with this one, N (3) times each: `core` is how full CPU 0
# was, `a full core` what it would carry of requests that cost as much.
#
# usage: bench/publish.sh [SECONDS] [--json FILE] | bench/publish.sh [SECONDS] --against BINARY [--rounds N]
seconds=10
case "${1:-}" in [0-9]*) seconds=$1 && shift ;; esac
command -v wrk >/dev/null || { echo 'publish.sh needs wrk: apt-get install wrk' >&2 && exit 1; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
called_in=$PWD

# take_turns BINARY ROUNDS: every other round in the other order; a gateway and a Redis of its own for each turn.
take_turns() {
    local results other round order build
    other=$(readlink -f "$1")
    [ -n "${BENCH_BUILT:-}" ] ||
        "$here/../scripts/release-build.sh" --product switchboard >&2
    results=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$results'" EXIT
    for round in $(seq "$2"); do
        order=(other this) && [ $((round % 2)) -eq 1 ] || order=(this other)
        for build in "${order[@]}"; do
            local binary=$here/../.build/release/switchboard
            [ "$build" = this ] || binary=$other
            BENCH_BUILT=1 SWITCHBOARD_BIN=$binary "$here/publish.sh" "$seconds" --single \
                --json "$results/$build-$round.json" >&2
        done
    done
    python3 "$here/publish.py" --turns "$results"
}

if [ "${1:-}" = --against ]; then
    set -euo pipefail
    [ "${3:-}" = --rounds ] || [ $# -eq 2 ] || { sed -n '7s/^# //p' "$0" >&2 && exit 2; }
    take_turns "$2" "${4:-3}"
    exit
fi
source "$here/rig.sh"
# Every thread of the processes that are there, and whatever this shell starts.
taskset --all-tasks --cpu-list --pid 0 "$gateway" >/dev/null
taskset --all-tasks --cpu-list --pid 1 "$redis" >/dev/null
taskset --cpu-list --pid 1 $$ >/dev/null
cd "$called_in"
python3 "$here/publish.py" --port "$port" --key "$key" --redis "$state/redis.sock" \
    --gateway-pid "$gateway" --redis-pid "$redis" --seconds "$seconds" "$@"
