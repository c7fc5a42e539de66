#!/usr/bin/env bash
# Events of 200 bytes, 2 kB and 20 kB to 1,000 clients, deflated and not, in one alternating run: bytes and CPU per
# delivery.
#
# usage: bench/deflate.sh [flags of bench/peers.sh]
#
# Ends 1 when a deflated delivery of 2 kB costs the gateway more than 1.15 times a plain one.
exec "$(dirname "$0")/peers.sh" --steps fanout --rates '50x200 20x2000 4x20000' --rounds 5 --seconds 8 \
    --peers 'switchboard switchboard/deflate' --judge 'switchboard 1.15 bytes 2000' --out bench/results/deflate "$@"
