#!/usr/bin/env bash
# Compiles for release, as it is shipped: the Swift runtime inside, and no folder of this machine named.
#
# usage: scripts/release-build.sh [SWIFT_BUILD_OPTION...]    e.g. --product switchboard; without it, everything
#
# Package.swift hides the folder from what Swift writes. For C it cannot: SwiftPM refuses a dependency that hands the
# compiler such a flag, and apps depend on this package. So the flag is here, and each release build comes this way.
set -euo pipefail
cd "$(dirname "$0")/.."
exec swift build --configuration release --static-swift-stdlib --disable-local-rpath \
    -Xcc "-ffile-prefix-map=$PWD=switchboard" "$@"
