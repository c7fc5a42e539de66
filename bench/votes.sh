#!/usr/bin/env bash
# Votes a second through one gateway, end to end with acknowledgements, and the same script called by redis-benchmark
# alone, in one run.
#
# usage: bench/votes.sh [SECONDS [flags of switchboard-bench]]
source "$(dirname "$0")/rig.sh"
seconds=${1:-10}

call() { curl -sfk "https://127.0.0.1:$port/v1/commands/$1" -H "apikey: $key" -d "$2" >/dev/null; }

for _ in $(seq 100); do
    call start_session '{"shopId":"bench"}' && break
    sleep 0.1
done
# Everybody is at the shop for a day: presence is not what is measured.
"${cli[@]}" EVAL 'for n = 0, 999999 do
    redis.call("ZADD", KEYS[1], ARGV[1], "u" .. string.format("%012d", n)) end' 1 'shop:bench#presence' \
    $(($(date +%s) * 1000 + 86400000)) >/dev/null
for track in $(seq 0 19); do
    call add_track "{\"shopId\":\"bench\",\"trackId\":\"t$track\",\"userId\":\"u000000999999\"}"
done

tool=("${pin_load[@]}" .build/release/switchboard-bench vote --url "wss://127.0.0.1:$port"
    --pid "$gateway" --redis-pid "$redis" --secret-file "$state/secret" --connections 200 --seconds "$seconds" "${@:2}")
"${tool[@]}" --window 1
"${tool[@]}" --window 8
# At a rate that leaves room: what a voter waits.
"${tool[@]}" --window 8 --rate 2000

# The same call, as the gateway makes it, with another user each time.
"${cli[@]}" MONITOR >"$state/monitor" &
monitor=$!
sleep 0.3
call vote '{"shopId":"bench","trackId":"t0","vote":"up","userId":"u000000999998"}'
sleep 0.3
kill "$monitor"
# The gateway calls by EVALSHA; MONITOR shows it with its arguments quoted.
line=$(grep -m1 -i '"evalsha".*"u000000999998"' "$state/monitor" | sed -E 's/^[^"]*//; s/u000000999998/u__rand_int__/g')
eval "words=($line)"
for depth in 1 16; do
    printf 'redis-benchmark, 50 clients, pipeline %s: ' "$depth"
    redis-benchmark -s "$state/redis.sock" -n 200000 -c 50 -P "$depth" -r 999990 -q "${words[@]}" | tr '\r' '\n' |
        grep 'per second' | sed 's/.*: //'
done
"${cli[@]}" INFO commandstats | tr -d '\r' | grep evalsha
