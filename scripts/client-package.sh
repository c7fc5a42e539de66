#!/usr/bin/env bash
# Builds the Swift example of docs/clients.md as an app's author does, in a package of its own, and lets it live
# through the end of its gateway.
#
# usage: scripts/client-package.sh        (SWITCHBOARD_BIN names the gateway; by default the release build)
set -euo pipefail
cd "$(dirname "$0")/.."
readonly clone=$PWD
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT

# The name of a package that is depended on by its path is that of its folder.
cat >"$package/Package.swift" <<MANIFEST
// swift-tools-version: 6.0
import PackageDescription

let name = "$(basename "$clone")"
let package = Package(
    name: "app", platforms: [.macOS(.v13)], dependencies: [.package(path: "$clone")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "SwitchboardClient", package: name),
                .product(name: "SwitchboardClientLinux", package: name, condition: .when(platforms: [.linux])),
            ])
    ])
MANIFEST
mkdir -p "$package/Sources/App"
awk '/^```swift$/ { getline; inside = /^\/\/ SwitchboardClient$/ } /^```$/ { inside = 0 } inside' docs/clients.md \
    >"$package/Sources/App/main.swift"

swift build --package-path "$package"
.venv/bin/python Tests/ChaosTests/client_app.py "$package/.build/debug/App"
