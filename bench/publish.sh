#!/usr/bin/env bash
# Publishes by HTTP through one gateway with one shard, and the same script called in Redis itself, side by side.
#
# The gateway has CPU 0; Redis and the load have CPU 1. Needs Debian's wrk and redis-benchmark.
#
# usage: bench/publish.sh [SECONDS] [--json FILE]
seconds=10
case "${1:-}" in [0-9]*) seconds=$1 && shift ;; esac
command -v wrk >/dev/null || { echo 'publish.sh needs wrk: apt-get install wrk' >&2 && exit 1; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
called_in=$PWD
source "$here/rig.sh"
# Every thread of the processes that are there, and whatever this shell starts.
taskset --all-tasks --cpu-list --pid 0 "$gateway" >/dev/null
taskset --all-tasks --cpu-list --pid 1 "$redis" >/dev/null
taskset --cpu-list --pid 1 $$ >/dev/null
cd "$called_in"
python3 "$here/publish.py" --port "$port" --key "$key" --redis "$state/redis.sock" \
    --gateway-pid "$gateway" --redis-pid "$redis" --seconds "$seconds" "$@"
