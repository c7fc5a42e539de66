#!/usr/bin/env bash
# Names and installs the Debian packages that are missing; does nothing, and needs no rights, when all are there.
#
# usage: scripts/packages.sh build|test|bench|release
#   build  what it takes to compile and run the gateway
#   test   the same, and what the tests drive: nginx, a browser, Python
#   bench  what `build` names, and the peers that the gateway is measured beside
#   release  what `build` names, and what makes the Debian package
#
# SWITCHBOARD_SKIP_PACKAGES=1 skips everything, for systems where the same programs come from elsewhere.
set -euo pipefail

readonly build_packages=(
    libssl-dev libhiredis-dev zlib1g-dev libcurl4-openssl-dev
    libstdc++-12-dev            # the Swift runtime is linked in, and is partly C++
    redis-server
)
readonly release_packages=(
    binutils dpkg-dev python3   # scripts/release.sh, scripts/sbom.py
    tar xz-utils
)
readonly test_packages=(
    nginx libnginx-mod-stream   # both deployments of deploy/ are run
    chromium-headless-shell     # the page at / is opened in a real browser
    nodejs node-ws node-typescript # clients/js
    php-cli                     # samples of docs/
    node-react node-react-dom node-react-test-renderer # its hooks, and samples of docs/
    python3 python3-venv        # the clients under test and their runner
    redis-tools curl openssl    # what an operator would type
    faketime                    # the wall clock jumps
    gcc libc6-dev               # the floor: bench/floor
    valgrind binutils           # bench/instructions.py
    prometheus                  # deploy/prometheus is checked, and run
    dpkg-dev xz-utils           # the Debian package is built, and installed into a folder
    systemd                     # systemd-analyze judges the units; nothing is started
)
readonly bench_packages=(
    gcc libc6-dev               # the floor: bench/floor
    nginx libnginx-mod-nchan    # bench/peers/nchan.sh
    nodejs node-ws node-redis   # bench/peers/ws.sh
    python3 python3-venv        # bench/peers/socketio.sh
    wrk                         # bench/publish.sh
    valgrind strace binutils    # bench/setup-cost.py, bench/instructions.py
    redis-tools curl openssl procps util-linux
)

say() { printf 'packages: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

case "${1:-}" in
build) wanted=("${build_packages[@]}") ;;
test) wanted=("${build_packages[@]}" "${test_packages[@]}") ;;
bench) wanted=("${build_packages[@]}" "${bench_packages[@]}") ;;
release) wanted=("${build_packages[@]}" "${release_packages[@]}") ;;
*) fail "usage: scripts/packages.sh build|test|bench|release" ;;
esac

if ! command -v swift >/dev/null 2>&1; then
    fail "there is no 'swift' on PATH: install the Swift 6.3 toolchain for Debian 12," \
        "https://www.swift.org/install/linux"
fi

[ -z "${SWITCHBOARD_SKIP_PACKAGES:-}" ] || exit 0

if ! command -v dpkg-query >/dev/null 2>&1; then
    fail "this is not Debian; install the equivalents of: ${wanted[*]}" \
        "- then set SWITCHBOARD_SKIP_PACKAGES=1"
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

say "missing: ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
    as_root=()
elif command -v sudo >/dev/null 2>&1; then
    say "installing them with sudo, which may ask for your password"
    as_root=(sudo)
else
    fail "neither root nor sudo here; as root, run: apt-get install -y ${missing[*]}"
fi

# `env` because sudo does not pass the environment on; the [@]+ form because bash < 4.4 calls an empty array unset.
apt() { ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }

# Debian would start Prometheus as a service at once, on all addresses; the tests start their own.
case " ${missing[*]} " in
*" prometheus "*)
    unit=/etc/systemd/system/prometheus.service
    if [ ! -e "$unit" ] && ${as_root[@]+"${as_root[@]}"} ln -s /dev/null "$unit" 2>/dev/null; then
        say "prometheus is not started as a service; 'systemctl unmask prometheus' allows it"
    fi
    ;;
esac

apt update --quiet=2 || say "the package lists could not be refreshed; trying with those already here"
apt install --quiet=2 --yes --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install: ${missing[*]}"

if [ -d /run/systemd/system ]; then
    for service in redis-server nginx; do
        case " ${missing[*]} " in
        *" $service "*)
            say "Debian starts $service as a service; Switchboard does not use it:" \
                "'systemctl disable --now $service' if you do not either"
            ;;
        esac
    done
fi
