#!/usr/bin/env bash
# Node with ws and Redis: Debian's node-ws and node-redis, one process for each CPU.
#
# usage: bench/peers/ws.sh DIR (see common.sh)
source "$(dirname "$0")/common.sh"

command -v node >/dev/null || fail "there is no node: scripts/packages.sh bench"
make_certificate
start_redis
workers=$(cpu_count "$server_cpus")
# Debian's modules are where Debian's node looks; another node is told.
NODE_ENV=production NODE_PATH=/usr/share/nodejs on_server node "$peers/ws.js" "$redis_url" "$workers" cert.pem key.pem \
    >serving &
server=$!
until_true "$ready_seconds" test -s serving
read -r version port pids <serving
until_delivered --target ws --url "wss://127.0.0.1:$port"
serve --target ws --target-version "$version" --url "wss://127.0.0.1:$port" --pid "$pids" --redis-pid "$redis_pid"
