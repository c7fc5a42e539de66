#!/usr/bin/env bash
# The gateway with every feature on; only what one address and one user may do is raised: here, one is everybody.
#
# usage: bench/peers/switchboard.sh DIR (see common.sh)
source "$(dirname "$0")/common.sh"

gateway=${BENCH_GATEWAY:-$root/.build/release/switchboard}
[ -x "$gateway" ] || fail "there is no $gateway: make build"
start_gateway
serve --target switchboard --target-version "$("$gateway" --version | awk '{ print $NF }')" \
    --url "wss://127.0.0.1:$port" --pid "$gateway_pid" --redis "$redis_url" --redis-pid "$redis_pid" \
    --api-key "$key" --secret-file "$PWD/secret"
