#!/usr/bin/env bash
# Socket.IO in Python: python-socketio on uvicorn (uvloop, httptools) with Redis, one process for each CPU.
#
# usage: bench/peers/socketio.sh DIR (see common.sh)
source "$(dirname "$0")/common.sh"

"$root/scripts/venv.sh" .venv-bench bench/peers/requirements.txt
python=$root/.venv-bench/bin/python
make_certificate
start_redis
port=$(free_port)
workers=$(cpu_count "$server_cpus")
REDIS_URL=$redis_url PYTHONPATH=$peers on_server "$python" -O -m uvicorn socketio_app:app --workers "$workers" \
    --host 127.0.0.1 --port "$port" --backlog 4096 --ssl-certfile cert.pem --ssl-keyfile key.pem \
    --loop uvloop --http httptools --ws websockets-sansio --ws-per-message-deflate false --lifespan off \
    --timeout-keep-alive 3600 --timeout-graceful-shutdown 1 --no-access-log --log-level warning &
server=$!
until_delivered --target socketio --url "wss://127.0.0.1:$port"
pids=$server
[ "$workers" -eq 1 ] || pids=$server,$(children "$server")
serve --target socketio --target-version "python-socketio-$("$python" -c \
    'from importlib.metadata import version as v; print(v("python-socketio") + "+uvicorn-" + v("uvicorn"))')" \
    --url "wss://127.0.0.1:$port" --pid "$pids" --redis-pid "$redis_pid"
