#!/usr/bin/env bash
# The bare loop in C: see bench/floor/floor.c. Always one thread, whatever SERVER_CPUS has.
#
# usage: bench/peers/floor.sh DIR (see common.sh)
source "$(dirname "$0")/common.sh"

"$root/bench/floor/build.sh"
make_certificate
on_server "$root/.build/floor" 0 cert.pem key.pem >port &
server=$!
until_true 10 test -s port
serve --target floor --url "wss://127.0.0.1:$(cat port)" --pid "$server"
