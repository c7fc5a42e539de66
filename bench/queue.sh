#!/usr/bin/env bash
# How long from a booking's change to `queue:update` at its subscribers, through Redis, worker and gateway of its own.
#
# usage: bench/queue.sh [flags of switchboard-bench]     e.g. bench/queue.sh --rate 100 --topics 50 --connections 50
source "$(dirname "$0")/rig.sh"

"${pin_load[@]}" .build/release/switchboard worker --redis "unix://$state/redis.sock" \
    --ready-file "$state/worker.json" --log-level warn &
worker=$!
trap 'kill "$worker" 2>/dev/null || true; finish' EXIT
for _ in $(seq 100); do
    [ -s "$state/worker.json" ] && break
    sleep 0.1
done
"${pin_load[@]}" .build/release/switchboard-bench queue --topic shop:bench --topics 20 --connections 20 \
    --rate 20 --seconds 30 "$@" --url "wss://127.0.0.1:$port" --pid "$gateway" --pid "$worker" \
    --redis-pid "$redis" --api-key "$key" --redis "unix://$state/redis.sock"
