# Sourced by the scripts beside it: builds, starts a private Redis and one gateway, ends both at exit.
#
# Sets state (a directory), redis, gateway (pids), port, key (an API key), cli (redis-cli with its address).
# SHARDS=N sets the gateway's shards (default 1), GATEWAY_FLAGS more of its flags, e.g. --deflate. The gateway runs on
# CPU ${SERVER_CPUS:-0}, Redis on ${LOAD_CPUS:-1}, where also what is measured with should run:
# "${pin_load[@]}" COMMAND. On one CPU nothing is pinned. SWITCHBOARD_BIN names another build of the gateway.
# With BENCH_BUILT nothing is built: who calls several times has done it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${BENCH_BUILT:-}" ]; then
    for product in switchboard switchboard-bench; do
        scripts/release-build.sh --product $product 2>&1 | tail -1 >&2
    done
fi
state=$(mktemp -d)
redis='' gateway=''
finish() {
    [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
    [ -z "$redis" ] || kill "$redis" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$state"
}
trap finish EXIT

pin_server=() pin_load=()
if [ "$(nproc)" -gt 1 ]; then
    pin_server=(taskset --cpu-list "${SERVER_CPUS:-0}")
    pin_load=(taskset --cpu-list "${LOAD_CPUS:-1}")
fi
"${pin_load[@]}" redis-server --port 0 --unixsocket "$state/redis.sock" --save '' --appendonly no >"$state/redis.log" &
redis=$!
cli=(redis-cli -s "$state/redis.sock")
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench \
    -keyout "$state/key.pem" -out "$state/cert.pem" 2>/dev/null
key=$(openssl rand -hex 24)
printf 'bench:%s\n' "$key" >"$state/keys"
openssl rand -hex 32 >"$state/secret"
# Users may publish in `load`, for clients that publish themselves; its log reaches far back for those who come back.
printf '{"namespaces":{"load":{"subscribe":"anyone","publish":"user","log":{"events":10000}}}}\n' >"$state/config.json"
source bench/limits.sh
# A gateway refuses a variable that is no setting of its own.
binary=${SWITCHBOARD_BIN:-.build/release/switchboard}
unset SWITCHBOARD_BIN
"${pin_server[@]}" "$binary" gateway --config "$state/config.json" \
    --listen 127.0.0.1:0 --redis "unix://$state/redis.sock" --api-keys "$state/keys" --jwt-secret-file "$state/secret" \
    --tls-cert "$state/cert.pem" --tls-key "$state/key.pem" \
    --ready-file "$state/ready.json" --ops 127.0.0.1:0 --shards "${SHARDS:-1}" "${limits[@]}" --log-level warn \
    ${GATEWAY_FLAGS:-} &
gateway=$!
listener_port() { sed -E 's/.*"'"$1"'":\[\{[^}]*"port":([0-9]+).*/\1/' "$state/ready.json"; }
is_ready() {
    [ -s "$state/ready.json" ] && curl --fail --silent --output /dev/null "http://127.0.0.1:$(listener_port ops)/readyz"
}
# Clients that come before the links to Redis stand are refused.
deadline=$((SECONDS + 30))
until is_ready; do
    [ "$SECONDS" -lt "$deadline" ] || { echo 'the gateway is not ready within 30 s' >&2 && exit 1; }
    sleep 0.1
done
port=$(listener_port tls)
