#!/usr/bin/env bash
# The gateway with every feature on; only what one address and one user may do is raised: here, one is everybody.
#
# usage: bench/peers/switchboard.sh DIR (see common.sh)
#
# BENCH_VARIANT makes it another target: `against` is the gateway of BENCH_AGAINST, `deflate` deflates every event,
# `nolog` numbers events and keeps none, as the peers do, `mixed` has a quarter of its clients each of native, Phoenix,
# Socket.IO and event streams, and any other word is the dialect that all clients speak.
source "$(dirname "$0")/common.sh"

gateway=${BENCH_GATEWAY:-$root/.build/release/switchboard}
variant=${BENCH_VARIANT:-} asked=() gateway_flags=()
[ -z "$variant" ] || asked=(--label "$variant")
case $variant in
'') ;;
against) gateway=${BENCH_AGAINST:-} ;;
deflate)
    gateway_flags=(--deflate --deflate-min-bytes 0)
    asked+=(--deflate on)
    ;;
nolog)
    printf '{"namespaces":{"shop":{"log":{"events":0}}}}\n' >config.json
    gateway_flags=(--config config.json)
    ;;
mixed) asked+=(--dialect native,phoenix-v2,socketio,stream) ;;
*) asked+=(--dialect "$variant") ;;
esac
[ -x "$gateway" ] || fail "there is no $gateway: make build"
start_gateway
serve --target switchboard --target-version "$("$gateway" --version | awk '{ print $NF }')" \
    --url "wss://127.0.0.1:$port" --pid "$gateway_pid" --redis "$redis_url" --redis-pid "$redis_pid" \
    --api-key "$key" --secret-file "$PWD/secret" "${asked[@]}"
