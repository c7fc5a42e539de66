#!/usr/bin/env bash
# Runs one scenario of the load tool against a gateway and a Redis of its own: the gateway on CPU ${SERVER_CPUS:-0}, the
# tool and Redis on CPU ${LOAD_CPUS:-1}, where there are so many.
#
# usage: bench/run.sh fanout|unicast|idle|churn|capacity|herd|slow [flags of switchboard-bench]
#        SHARDS=N sets the gateway's shards (default 1), GATEWAY_FLAGS more of its flags
source "$(dirname "$0")/rig.sh"
"${pin_load[@]}" .build/release/switchboard-bench "$@" --url "wss://127.0.0.1:$port" --pid "$gateway" \
    --redis-pid "$redis" --redis "unix://$state/redis.sock" --api-key "$key" --secret-file "$state/secret"
