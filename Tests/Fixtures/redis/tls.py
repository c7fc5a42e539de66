"""What a redis-server and its clients need for TLS alone, and the rights of a gateway's user."""

# What an operator grants a gateway on one server: these commands, our keys, our channels.
GATEWAY_RIGHTS = (
    "~*", "&*", "-@all", "+auth", "+select", "+client|setname", "+info", "+script|exists", "+script|load", "+evalsha",
    "+eval", "+subscribe", "+unsubscribe", "+publish", "+ping", "+pubsub|numsub", "+get", "+sismember", "+hmget",
    "+hget", "+hset", "+hgetall", "+del", "+xadd", "+xlen", "+xrange", "+xrevrange", "+xinfo|stream", "+xtrim",
    "+expire", "+set", "+exists", "+type", "+time", "+smismember", "+sadd", "+srem", "+scard", "+hdel", "+pexpire",
    "+zadd", "+zcard", "+zrem", "+zscore", "+zrangebyscore", "+zrevrange", "+zremrangebyscore", "+zremrangebyrank",
    "+zrange", "+hlen")
# And on a cluster.
CLUSTER_RIGHTS = GATEWAY_RIGHTS + (
    "+spublish", "+ssubscribe", "+sunsubscribe", "+asking", "+cluster|nodes", "+cluster|myid")


def files(certificate) -> list[str]:
    """The options that name the certificate, which is its own authority."""
    return ["--tls-cert-file", str(certificate.cert), "--tls-key-file", str(certificate.key), "--tls-ca-cert-file",
            str(certificate.cert), "--tls-auth-clients", "no"]


def only(port: int, certificate) -> list[str]:
    """The options of a server that everybody reaches by TLS alone, its replicas and its cluster too."""
    return ["--port", "0", "--tls-port", str(port), "--tls-replication", "yes", *files(certificate)]


def users_of(client) -> set[str]:
    """As whom gateways are connected to a server."""
    return {one["user"] for one in client.client_list() if one["name"].startswith("switchboard-")}
