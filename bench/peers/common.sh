# Sourced by the scripts beside it: the directory, a certificate, a Redis, and the way a target begins and ends.
#
# A script NAME.sh DIR runs its server in the foreground with DIR, an existing empty directory, as working directory.
# SERVER_CPUS (a list for taskset, default 0) is for the server, REDIS_CPUS (as LOAD_CPUS, default 1) for its Redis.
# When it serves, DIR/target holds the flags for switchboard-bench in a line. SIGTERM ends it and all that it started. A
# server serves when it can do its work, not when it listens: else clients would be refused, or publishes lost.
#
# Sets root (the checkout); after start_redis: redis_pid, redis_url.
set -euo pipefail

peers=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$peers/../.." && pwd)
server_cpus=${SERVER_CPUS:-0}
load_cpus=${LOAD_CPUS:-1}
redis_cpus=${REDIS_CPUS:-$load_cpus}

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

[ $# -eq 1 ] && [ -d "$1" ] || fail "usage: $0 DIR"
cd "$1"

any_lives() {
    local pid
    for pid in "$@"; do
        if [ -d "/proc/$pid" ]; then return 0; fi
    done
    return 1
}

# Ends every job, by force after 5 s, and waits for their children, which end with them.
finish() {
    trap '' TERM INT
    local job family=()
    for job in $(jobs -pr); do
        mapfile -t -O "${#family[@]}" family < <(pgrep --parent "$job")
    done
    for signal in TERM KILL; do
        for job in $(jobs -pr); do kill -s "$signal" "$job" 2>/dev/null || true; done
        for _ in $(seq 50); do
            [ -n "$(jobs -pr)" ] || any_lives "${family[@]}" || return 0
            sleep 0.1
        done
    done
}
trap finish EXIT
trap 'exit 0' TERM INT

# CPUs of a list like 0,2-3: workers of a server that has one per CPU.
cpu_count() { taskset --cpu-list "$1" nproc; }

on_server() { exec taskset --cpu-list "$server_cpus" "$@"; }

free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# A server that is not ready by then will not be.
readonly ready_seconds=${BENCH_READY_SECONDS:-30}

# until_true SECONDS COMMAND...: repeats it until it succeeds; fails this script after that time, or when a job ended.
until_true() {
    local deadline=$((SECONDS + $1)) jobs_before
    shift
    jobs_before=$(jobs -pr | wc -l)
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || fail "not within its time: $*"
        [ "$(jobs -pr | wc -l)" -ge "$jobs_before" ] || fail "ended before it served"
        sleep 0.05
    done
}

make_certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout key.pem -out cert.pem 2>/dev/null
}

# Every peer speaks to its Redis over TCP, as it would to one on another machine.
start_redis() {
    local port
    port=$(free_port)
    taskset --cpu-list "$redis_cpus" redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no \
        --tcp-backlog 4096 >redis.log &
    redis_pid=$!
    redis_url=redis://127.0.0.1:$port
    until_true 10 redis-cli -p "$port" ping
}

# until_delivered FLAGS...: waits until subscribers of the server that these flags of switchboard-bench name get what is
# published by HTTP; enough of them that each process has one.
until_delivered() {
    local deadline=$((SECONDS + ready_seconds)) jobs_before
    local probe=("${BENCH_TOOL:-$root/.build/release/switchboard-bench}" fanout "$@" --topic probe:1
        --connections $((8 * $(cpu_count "$server_cpus"))) --rate 5 --warmup 0 --seconds 1)
    jobs_before=$(jobs -pr | wc -l)
    until taskset --cpu-list "$load_cpus" "${probe[@]}" >probe 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] ||
            fail "not ready within $ready_seconds s, no publish is delivered: $(tail -3 probe)"
        [ "$(jobs -pr | wc -l)" -ge "$jobs_before" ] || fail "ended before it was ready"
        sleep 0.1
    done
}

# listener_port KIND: the port of a listener of a gateway, from ready.json.
listener_port() { sed -E 's/.*"'"$1"'":\[\{[^}]*"port":([0-9]+).*/\1/' ready.json; }

# ask_readiness FLAGS...: what the operations listener of a gateway answers, once there is one.
ask_readiness() { [ -s ready.json ] && curl --silent "$@" "http://127.0.0.1:$(listener_port ops)/readyz"; }

# until_ready: waits until the gateway says that it is ready: all links to Redis stand, and a probe has come back.
until_ready() {
    local deadline=$((SECONDS + ready_seconds))
    until ask_readiness --fail --output /dev/null; do
        kill -0 "$gateway_pid" 2>/dev/null || fail "the gateway ended before it was ready"
        [ "$SECONDS" -lt "$deadline" ] ||
            fail "the gateway is not ready within $ready_seconds s: $(ask_readiness || echo 'it has no listener yet')"
        sleep 0.05
    done
}

# Pids of a process's children, joined by commas.
children() { pgrep --parent "$1" --delimiter ,; }

# serve FLAGS...: says that the target serves, then waits until SIGTERM, or fails when something it needs has ended.
serve() {
    printf '%s\n' "$*" >target.new
    mv target.new target
    wait -n || true
    fail "a process of the target ended"
}

# drop_unknown_limits: takes from $limits what an older build of $gateway does not have; names stand in the binary.
drop_unknown_limits() {
    local all=("${limits[@]}") flag
    limits=()
    for flag in "${all[@]}"; do
        [ "$flag" != --limit ] && grep --quiet --text --fixed-strings "${flag%%=*}" "$gateway" || continue
        limits+=(--limit "$flag")
    done
}

# start_gateway: the gateway of $gateway with Redis and with $gateway_flags; sets port, gateway_pid, key (an API key).
start_gateway() {
    make_certificate
    start_redis
    key=$(openssl rand -hex 24)
    printf 'bench:%s\n' "$key" >keys
    openssl rand -hex 32 >secret
    source "$root/bench/limits.sh"
    drop_unknown_limits
    on_server "$gateway" gateway --listen 127.0.0.1:0 --ops 127.0.0.1:0 --redis "$redis_url" \
        --api-keys keys --jwt-secret-file secret --tls-cert cert.pem --tls-key key.pem --ready-file ready.json \
        --shards "$(cpu_count "$server_cpus")" "${limits[@]}" --log-level warn "${gateway_flags[@]}" &
    gateway_pid=$!
    until_ready
    port=$(listener_port tls)
}
