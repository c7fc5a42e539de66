#!/usr/bin/env bash
# What clients that are there wait for an event while thousands of others connect: handshakes share their core.
#
# usage: bench/newcomers.sh [ROUNDS]
#
# 20 clients hear 200 events a second for 8 s. From the third second on 6,000 others connect as fast as they can, and
# are not done before the end. They have the lowest priority, so that they do not keep the publisher from its core.
# A round is one line. SWITCHBOARD_BIN names another build; take turns with this one, since machines change speed.
source "$(dirname "$0")/rig.sh"
tool=("${pin_load[@]}" .build/release/switchboard-bench)
target=(--url "wss://127.0.0.1:$port" --pid "$gateway" --api-key "$key" --secret-file "$state/secret" --processes 1)
for round in $(seq "${1:-1}"); do
    "${tool[@]}" fanout "${target[@]}" --connections 20 --rate 200 --warmup 2 --seconds 8 >"$state/events" 2>&1 &
    events=$!
    sleep 2
    chrt --idle 0 "${tool[@]}" idle "${target[@]}" --connections 6000 --seconds 1 --topic shop:new \
        >"$state/newcomers" 2>&1 &
    newcomers=$!
    wait "$events" || { cat "$state/events" >&2 && exit 1; }
    kill -0 "$newcomers" 2>/dev/null || { echo 'the newcomers were done before the end: no figure' >&2 && exit 1; }
    wait "$newcomers" || { cat "$state/newcomers" >&2 && exit 1; }
    [ "$round" -gt 1 ] || grep -m1 -A1 delivered "$state/events"
    grep -m1 -E '^(✓|✗)' "$state/events"
done
