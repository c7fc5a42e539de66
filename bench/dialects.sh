#!/usr/bin/env bash
# Every dialect beside the native one, in one alternating run: CPU per delivery, how often an event is encoded when all
# listen to one topic, memory and set-up of an idle connection.
#
# usage: bench/dialects.sh [flags of bench/peers.sh]
#
# Ends 1 when a delivery of a dialect costs the gateway more than 1.05 times a native one, or an event was encoded more
# or less often than there were dialects. `mixed` is 250 clients of each of four.
exec "$(dirname "$0")/peers.sh" --steps 'fanout idle' --rates 100 --rounds 5 --seconds 8 --judge 'native 1.05' \
    --peers "$(printf 'switchboard/%s ' native phoenix-v1 phoenix-v2 socketio stream mixed)" \
    --out bench/results/dialects "$@"
