#!/usr/bin/env bash
# Runs one scenario of the load tool against a gateway and a Redis of its own.
#
# usage: bench/run.sh idle|churn|fanout [flags of switchboard-bench] ; SHARDS=N sets the gateway's shards (default 1)
source "$(dirname "$0")/rig.sh"
.build/release/switchboard-bench "$@" --url "wss://127.0.0.1:$port" --pid "$gateway" --api-key "$key"
