/// One promise of a node, a row of the table of readiness.
///
/// Each row has a name, a severity, a metric, log lines and a mend.
/// `docs/readiness.md` lists them for operators, and a test holds the page to this table.
public enum ReadinessRow: String, CaseIterable, Sendable {
    /// The node is not being shut down.
    case draining
    /// Every thread of the node runs.
    case threads
    /// The loop of every shard turns.
    case loop
    /// Probes published through Redis return by every link.
    case redis
    /// The process has file descriptors left.
    case descriptors
    /// The process has memory left.
    case memory
    /// Revocations and removals of members can be read from Redis, and were read recently.
    case rights
    /// The clock of this machine agrees with those of most others, and with that of Redis.
    case clock
    /// Every master could load its own append-only file.
    case redisDefaultUser = "redis_default_user"
    /// No master evicts keys.
    case redisEviction = "redis_eviction"
    /// Every master has room below its `maxmemory`.
    case redisMemory = "redis_memory"
    /// Persistence was not switched while a master ran.
    case redisPersistence = "redis_persistence"
    /// Entries of the outbox do not wait for long.
    case outbox
    /// A worker lives.
    case workers
    /// The events of Socket.IO's emitters arrive, where the gateway publishes them.
    case bridge
    /// The certificate of the TLS listener does not expire soon.
    case certificate

    /// The state that a row gets when its promise is broken.
    ///
    /// Red removes this node from a balancer. A warning is for faults that all nodes share.
    var severity: RowState.Severity {
        switch self {
        case .draining, .threads, .loop, .redis, .descriptors, .memory, .rights, .clock: .red
        case .redisDefaultUser, .redisEviction, .redisMemory, .redisPersistence, .outbox, .workers, .bridge,
            .certificate:
            .warned
        }
    }

    /// The log lines when the promise is broken and when it holds again.
    ///
    /// `nil` for rows whose parts are logged one by one, with more details.
    var lines: (broken: String, mended: String)? {
        switch self {
        case .draining, .threads, .redis, .clock, .redisDefaultUser: nil
        case .loop: ("a loop is stuck", "every loop turns again")
        case .descriptors: ("hardly any file descriptors left", "file descriptors are left again")
        case .memory: ("memory is short, nobody new is let in", "memory suffices again")
        case .rights: ("changes of rights cannot be read", "changes of rights can be read again")
        case .redisEviction: ("redis may evict keys", "redis evicts no keys")
        case .redisMemory: ("redis is near its maxmemory", "redis has memory left again")
        case .redisPersistence:
            ("the persistence of redis was switched while it ran", "the persistence of redis is steady again")
        case .outbox: ("entries of the outbox wait for too long", "entries of the outbox no longer wait for long")
        case .workers: ("no worker is alive", "a worker is alive again")
        case .bridge: ("events of emitters do not arrive", "events of emitters arrive again")
        case .certificate: ("the certificate ends soon", "the certificate is good for long enough")
        }
    }

    /// The operator's mend, where the state of the row has no better one.
    var mend: String {
        switch self {
        case .draining: "wait for the end of the shutdown, or start the gateway again"
        case .threads: "restart the gateway; its log has the error of the system"
        case .loop: "look at the load of the machine, and restart the gateway when this lasts"
        case .redis: "see /readyz for the parts and their reasons, and mend the server or the way to it"
        case .descriptors: "raise LimitNOFILE of the gateway's unit, or lower connectionsMax"
        case .memory: "give the gateway more memory or memoryBytesMax, or add a node"
        case .rights: "see the reason: keys #revoked, #revoked-before and #removed, and the rights of the user of Redis"
        case .clock: "set the clock of this machine: timedatectl set-ntp true"
        case .redisDefaultUser: "give the user default of Redis the rights to load the append-only file"
        case .redisEviction: "CONFIG SET maxmemory-policy noeviction, then CONFIG REWRITE; look for lost revocations"
        case .redisMemory: "raise maxmemory, or lower what is kept: see docs/capacity.md"
        case .redisPersistence: "set appendonly and appendfsync as they shall be, then restart Redis once"
        case .outbox: "start a worker, or see in its log why entries of the outbox are not done"
        case .workers: "start a worker: switchboard worker"
        case .bridge:
            "let the user of Redis do PSUBSCRIBE on socket.io#* and write the key #bridge, or SUBSCRIBE on socketio and "
                + "write #bridge-python"
        case .certificate: "renew the certificate, then reload the gateway with SIGHUP"
        }
    }
}
