import Core

/// The answer of one Sentinel about a master.
enum SentinelAnswer: Equatable {
    /// The fields of `SENTINEL MASTER`.
    struct Named: Equatable {
        /// The address of the master.
        var address: SentinelGroup.Address
        /// The number of the failover; grows with each.
        var epoch: Int
        /// The number of Sentinels that this one knows, itself included.
        var sentinels: Int
        /// The number of Sentinels that must agree that the master is down.
        var quorum: Int
        /// The number of replicas that it knows.
        var replicas: Int
    }

    /// It did not answer, or not in time.
    case silent(RedisFailure)
    /// It watches no master of that name.
    case unknown
    /// It names a server.
    case named(Named)

    /// Reads the reply of `SENTINEL MASTER`: names and values in turn.
    init(_ result: Result<RESPValue, RedisFailure>) {
        switch result {
        case .failure(let failure):
            // "ERR No such master with that name" is the only error without a code of its own.
            self = failure.kind == .other ? .unknown : .silent(failure)
        case .success(let reply):
            guard let named = SentinelAnswer.named(reply) else {
                self = .silent(RedisFailure(.protocolViolation, detail: "not an answer of a Sentinel"))
                return
            }
            self = .named(named)
        }
    }

    private static func named(_ reply: RESPValue) -> Named? {
        guard let fields = ServerFacts.config(reply) else { return nil }
        func number(_ name: String) -> Int? { fields[Array(name.utf8)].flatMap { ASCII.decimal($0) } }
        func count(_ name: String) -> Int { min(number(name) ?? 0, countMax) }
        guard let host = fields[Array("ip".utf8)], (1...253).contains(host.count),
            host.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let port = number("port"), (1...65_535).contains(port),
            let epoch = number("config-epoch")
        else { return nil }
        return Named(
            address: SentinelGroup.Address(host: String(decoding: host, as: UTF8.self), port: port), epoch: epoch,
            sentinels: count("num-other-sentinels") + 1, quorum: count("quorum"), replicas: count("num-slaves"))
    }

    /// The bound of these counts: more than a group has.
    ///
    /// The figures are for operators, and a Sentinel may send any number.
    private static let countMax = 10_000
}
