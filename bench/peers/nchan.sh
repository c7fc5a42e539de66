#!/usr/bin/env bash
# nginx with nchan, messages by way of Redis: Debian's nginx and libnginx-mod-nchan.
#
# usage: bench/peers/nchan.sh DIR (see common.sh)
# NCHAN_STORAGE is nchan_redis_storage_mode: nostore (the default) hands messages on by Redis as pub/sub and keeps none
# there; distributed keeps them in Redis, too.
source "$(dirname "$0")/common.sh"

module=/usr/lib/nginx/modules/ngx_nchan_module.so
[ -e "$module" ] || fail "there is no $module: scripts/packages.sh bench"
make_certificate
start_redis
port=$(free_port)
workers=$(cpu_count "$server_cpus")
sed -e "s|@MODULE@|$module|" -e "s|@WORKERS@|$workers|" -e "s|@PORT@|$port|" -e "s|@REDIS@|$redis_url|" \
    -e "s|@STORAGE@|${NCHAN_STORAGE:-nostore}|" -e "s|@FILES@|$(ulimit -Hn)|" "$peers/nchan.conf" >nginx.conf
mkdir -p temporary
on_server /usr/sbin/nginx -p "$PWD" -c nginx.conf -e error.log &
server=$!
has_workers() { [ "$(pgrep --parent "$server" | wc -l)" -eq "$workers" ]; }
until_true "$ready_seconds" has_workers
until_delivered --target nchan --url "wss://127.0.0.1:$port"
version=nginx-$(/usr/sbin/nginx -v 2>&1 | sed 's|.*/||')+nchan-$(dpkg-query --show --showformat='${Version}' \
    libnginx-mod-nchan | sed 's|^[0-9]*:||; s|+.*||')
serve --target nchan --target-version "$version" --url "wss://127.0.0.1:$port" --pid "$(children "$server")" \
    --redis-pid "$redis_pid"
