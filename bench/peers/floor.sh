#!/usr/bin/env bash
# The bare loop in C: see bench/floor/floor.c. Always one thread, whatever SERVER_CPUS has.
#
# usage: bench/peers/floor.sh DIR (see common.sh)
#
# BENCH_VARIANT `redis` makes it another target, whose messages go by way of Redis.
source "$(dirname "$0")/common.sh"

arguments=() flags=()
case ${BENCH_VARIANT:-} in
'') ;;
redis)
    start_redis
    arguments=("${redis_url##*:}")
    flags=(--label floor/redis --redis-pid "$redis_pid")
    ;;
*) fail "there is no floor/$BENCH_VARIANT" ;;
esac
"$root/bench/floor/build.sh"
make_certificate
on_server "$root/.build/floor" 0 cert.pem key.pem "${arguments[@]}" >port &
server=$!
until_true "$ready_seconds" test -s port
serve --target floor --url "wss://127.0.0.1:$(cat port)" --pid "$server" "${flags[@]}"
