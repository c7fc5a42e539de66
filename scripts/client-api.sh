#!/usr/bin/env bash
# Compares what the Swift library offers with what it offered at its last version: a change that breaks an app fails.
#
# usage: scripts/client-api.sh [--renew]
#   --renew  writes down what it offers now: for a new version
#
# What a version offers is kept in clients/swift-api.json.gz, since a clone need not have the version's tag and its
# history. SwiftPM takes it for what it would find out of the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly kept=clients/swift-api.json.gz product=SwitchboardClient
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
revision=$(git rev-parse HEAD)
mkdir -p "$work/$revision"
if [ "${1:-}" != --renew ]; then
    gunzip --stdout "$kept" >"$work/$revision/$product.json"
    swift package --scratch-path .build/api diagnose-api-breaking-changes "$revision" --products "$product" \
        --baseline-dir "$work"
    exit
fi
swift build --scratch-path .build/api --product "$product"
swift-api-digester -dump-sdk -module "$product" -o "$work/api.json" -I .build/api/debug/Modules -sdk / \
    -abort-on-module-fail
gzip --best --no-name --stdout "$work/api.json" >"$kept"
