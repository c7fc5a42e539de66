#!/usr/bin/env bash
# Runs the unit tests: `swift test` with its options, and with a bound for the tests that run at the same time.
#
# usage: scripts/unit-tests.sh [OPTION...]
#
# Without a bound all of them begin at once, and share one thread for each core. A test that awaits anything then goes
# on when all others have had their turn, a minute or more later: what it waits for has missed its deadline meanwhile.
# exit: that of `swift test`
set -euo pipefail
cd "$(dirname "$0")/.."
# Read by Swift Testing from Swift 6.3 on.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((2 * $(nproc)))
exec swift test "$@"
