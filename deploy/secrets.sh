#!/usr/bin/env bash
# Makes the secrets that compose.yaml mounts, where there are none yet; existing files are left alone.
#
# usage: deploy/secrets.sh [DIR]     DIR: default deploy/secrets
#
# The certificate is self-signed, to try things out: put your own into tls.crt and tls.key. settings.json is the config
# file of gateways and workers; it holds the password of Redis, and any other setting may be added to it.
set -euo pipefail
directory=${1:-$(dirname "$0")/secrets}

# Only this user passes the directory. The files themselves are readable to all: compose mounts them with owner and mode
# as they are, and the container's user is another.
mkdir -p -m 700 "$directory"
cd "$directory"
umask 022

if [ ! -e tls.crt ] && [ ! -e tls.key ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=localhost \
        -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout tls.key -out tls.crt 2>/dev/null
    # openssl keeps a key to its owner.
    chmod 644 tls.key
fi
[ -e jwt-secret ] || openssl rand -hex 32 >jwt-secret
[ -e api-keys ] || printf 'backend:%s\n' "$(openssl rand -hex 24)" >api-keys
if [ ! -e settings.json ] && [ ! -e redis.acl ]; then
    password=$(openssl rand -hex 24)
    # `config` because gateways ask what Redis keeps and the worker sets notify-keyspace-events.
    cat >redis.acl <<END
user default off
user health on nopass resetchannels -@all +ping
user switchboard on >$password ~* &* +@all -@admin -flushall -flushdb -swapdb +config|get +config|set
END
    printf '{ "redis": "redis://switchboard:%s@redis:6379" }\n' "$password" >settings.json
fi
printf 'secrets: %s\n' "$(ls -C)"
