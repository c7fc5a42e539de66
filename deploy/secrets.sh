#!/usr/bin/env bash
# Makes the secrets that compose.yaml mounts, where there are none yet; existing files are left alone.
#
# usage: deploy/secrets.sh [DIR] [sentinel|cluster]     DIR: default deploy/secrets
#
# With the second word they are those of compose-sentinel.yaml or compose-cluster.yaml. Those servers speak to each
# other, so they have users of their own, and redis.conf and sentinel.conf hold their passwords. operator-password is
# that of the Redis user `operator`, who may do everything.
#
# The certificate is self-signed, to try things out: put your own into tls.crt and tls.key. settings.json is the config
# file of gateways and workers; it holds the password of Redis, and any other setting may be added to it.
set -euo pipefail
deploy=$(cd "$(dirname "$0")" && pwd)
directory=${1:-$deploy/secrets}
kind=${2:-one}
case $kind in one | sentinel | cluster) ;; *) echo "not known: $kind" >&2 && exit 2 ;; esac

umask 077
mkdir -p "$directory"
cd "$directory"

if [ ! -e tls.crt ] && [ ! -e tls.key ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=localhost \
        -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout tls.key -out tls.crt 2>/dev/null
fi
[ -e jwt-secret ] || openssl rand -hex 32 >jwt-secret
[ -e api-keys ] || printf 'backend:%s\n' "$(openssl rand -hex 24)" >api-keys
if [ ! -e settings.json ] && [ ! -e redis.acl ]; then
    password=$(openssl rand -hex 24)
    operator=$(openssl rand -hex 24)
    printf '%s' "$operator" >operator-password
    # `config` because gateways ask what Redis keeps and the worker sets notify-keyspace-events. `client|list` because
    # move-data looks whether anybody is connected. `acl|dryrun` because gateways ask whether Redis could load its own
    # file. The operator is the person who types into redis-cli.
    rights='+@all -@admin -flushall -flushdb -swapdb +config|get +config|set +client|list +acl|dryrun'
    # Redis loads its append-only file as the user `default`, even while that user is off. Without these rights it
    # leaves out every transaction of the file, and the writes of a script are a transaction. `off` and `resetpass` keep
    # everybody from logging in as this user. Never write `nopass` here.
    cat >redis.acl <<END
user default off resetpass ~* &* +@all
user health on nopass resetchannels -@all +ping
user switchboard on >$password ~* &* $rights
user operator on >$operator ~* &* +@all
END
    url="redis://switchboard:$password@redis:6379"
    hosts=172.28.5.21,172.28.5.22,172.28.5.23
    if [ "$kind" != one ]; then
        replica=$(openssl rand -hex 24)
        cat >>redis.acl <<END
user replica on >$replica resetchannels -@all +psync +replconf +ping
END
        [ "$kind" = sentinel ] && template=redis-replicated.conf || template=redis-cluster.conf
        sed -e "s/^masterauth .*/masterauth $replica/" -e 's|^dir .*|dir /data|' \
            -e 's|^aclfile .*|aclfile /run/secrets/redis.acl|' "$deploy/$template" >redis.conf
    fi
    if [ "$kind" = sentinel ]; then
        watcher=$(openssl rand -hex 24)
        sentinels=$(openssl rand -hex 24)
        rights='+multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish +info'
        rights="$rights +client|setname +client|kill +script|kill"
        printf 'user sentinel on >%s allchannels -@all %s\n' "$watcher" "$rights" >>redis.acl
        sed -e "s/^sentinel auth-pass .*/sentinel auth-pass switchboard $watcher/" \
            -e "s/^requirepass .*/requirepass $sentinels/" -e 's/10\.0\.0\.21/172.28.5.21/' \
            "$deploy/sentinel.conf" >sentinel.conf
        hosts=172.28.5.31,172.28.5.32,172.28.5.33
        url="redis+sentinel://switchboard:$password@$hosts/switchboard?sentinel-password=$sentinels"
    elif [ "$kind" = cluster ]; then
        url="redis+cluster://switchboard:$password@$hosts"
    fi
    printf '{ "redis": "%s" }\n' "$url" >settings.json
fi

# Compose mounts the files with owner and mode as they are, and the container's user is another. So the files are
# readable to all where nobody else passes the directory, and to their owner alone where others do. The operator's
# password is for no container.
mode=600
[ $((0$(stat -c %a .) & 077)) -ne 0 ] || mode=644
for secret in tls.crt tls.key jwt-secret api-keys settings.json redis.acl redis.conf sentinel.conf; do
    # A link leads to a file that somebody else keeps.
    [ ! -f $secret ] || [ -L $secret ] || chmod $mode $secret
done
[ ! -e operator-password ] || chmod 600 operator-password
if [ $mode = 600 ]; then
    printf 'Others can enter %s, so the secrets are readable to you alone.\n' "$directory" >&2
    printf 'Containers need to read them: `chmod 700 %s`, run this again.\n' "$directory" >&2
fi
printf 'secrets: %s\n' "$(ls -C)"
