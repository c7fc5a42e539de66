import Core

/// The questions that find out the ``UserRights`` on one server.
///
/// Pure.
public struct UserInquiry: RightsInquiry {
    /// Names that one rule admits, by an example.
    public struct Names {
        /// A name.
        public let example: [UInt8]
        /// The pattern of a rule for it and its like.
        public let pattern: String

        /// Takes an example and the pattern.
        public init(_ example: [UInt8], _ pattern: String) {
            self.example = example
            self.pattern = pattern
        }
    }

    private let user: [UInt8]
    private let prefix: String
    private var commands: [(words: [[UInt8]], rule: String?)] = []

    /// The most rules for keys, and for channels, before one rule for the prefix takes their place.
    private static let namesMax = 3

    /// Makes the questions about a user.
    ///
    /// `prefix` is that of keys and channels. `scripts` are the names of commands in the scripts of the installation.
    /// `keys` are not empty; `patterns` are those of channels. `isSharded` says that the server is a master of a
    /// Cluster, and `waits` that publishes wait for replicas.
    public init(
        user: String, prefix: String, scripts: Set<String>, keys: [Names], channels: [Names], patterns: [[UInt8]],
        isSharded: Bool, waits: Bool
    ) {
        self.user = Array(user.utf8)
        self.prefix = prefix
        let own = UserInquiry.ownCommands + (isSharded ? UserInquiry.clusterCommands : UserInquiry.serverCommands)
        let used = UserInquiry.scriptCommands.filter { scripts.contains($0[0]) }
        for line in own + used + (waits ? [["WAIT", "0", "1"]] : []) {
            commands.append((line.map { $0 == "KEY" ? keys[0].example : Array($0.utf8) }, nil))
        }
        for names in keys {
            // Of its keys a script may read and write each.
            commands.append((["EVAL", "s", "1"].map { Array($0.utf8) } + [names.example], "~" + names.pattern))
        }
        let letter = isSharded ? "S" : ""
        for names in channels {
            let rule = "&" + names.pattern
            commands.append(([Array((letter + "SUBSCRIBE").utf8), names.example], rule))
            commands.append(([Array((letter + "PUBLISH").utf8), names.example, Array("v".utf8)], rule))
        }
        for pattern in patterns {
            commands.append(([Array("PSUBSCRIBE".utf8), pattern], "&" + String(decoding: pattern, as: UTF8.self)))
        }
    }

    /// The questions for a server with these facts; none where it cannot be asked.
    public func questions(_ facts: ServerFacts) -> [RedisCall] {
        guard facts.isAtLeast(major: 7, minor: 0) else { return [] }
        return commands.map { command in
            var call = RedisCall("ACL", Array("DRYRUN".utf8), user)
            for word in command.words { call.append(word) }
            return call
        }
    }

    /// The rights by the answers to all questions.
    ///
    /// A missing right is told though another answer failed, as for a command that a server has under another name.
    public func rights(_ answers: [Result<RESPValue, RedisFailure>]) -> UserRights {
        guard !answers.isEmpty else { return .unasked }
        var missing: [String] = []
        var unknown: RedisFailure?
        for (index, answer) in answers.enumerated() {
            switch answer {
            case .failure(let failure): unknown = unknown ?? failure
            case .success(let value):
                guard let words = value.bytes else {
                    unknown = unknown ?? RedisFailure(.protocolViolation)
                    continue
                }
                guard !words.elementsEqual("OK".utf8), let rule = rule(RedisFailure(reply: words).detail, index),
                    !missing.contains(rule)
                else { continue }
                missing.append(rule)
            }
        }
        guard missing.isEmpty else { return .missing(merged(missing)) }
        return unknown.map { .unknown($0) } ?? .sufficient
    }

    /// The rule that a refused command lacks: Redis looks at the command first, and only then at keys and channels.
    private func rule(_ refusal: String, _ index: Int) -> String? {
        let words = refusal.split(separator: "'", maxSplits: 2)
        let isCommand = words.count == 3 && words[2].hasPrefix(" command")
        return isCommand ? "+" + words[1] : commands[index].rule
    }

    /// The missing rules, with one for all names of the prefix where many are missing.
    private func merged(_ missing: [String]) -> [String] {
        ["+", "~", "&"].flatMap { kind in
            let found = missing.filter { $0.hasPrefix(kind) }
            guard kind != "+", found.count > UserInquiry.namesMax else { return found }
            return [kind + prefix + "*"] + found.filter { !$0.hasPrefix(kind + prefix) }
        }
    }

    /// The calls of gateways themselves.
    private static let ownCommands = [
        "PING", "INFO replication", "CLIENT SETNAME n", "SCRIPT EXISTS s", "SCRIPT LOAD s", "EVALSHA s 1 KEY", "TIME",
        "GET KEY", "SET KEY v", "EXISTS KEY", "HGET KEY f", "HMGET KEY f", "HGETALL KEY", "SISMEMBER KEY v",
        "SMISMEMBER KEY v", "SCARD KEY", "SRANDMEMBER KEY", "XLEN KEY", "XRANGE KEY - +", "XREVRANGE KEY + -",
        "XDEL KEY 0", "XTRIM KEY MAXLEN 1",
    ].map(words)
    private static let serverCommands = ["SUBSCRIBE c", "UNSUBSCRIBE c", "PUBLISH c v", "PUBSUB NUMSUB c"].map(words)
    private static let clusterCommands = [
        "SSUBSCRIBE c", "SUNSUBSCRIBE c", "SPUBLISH c v", "PUBSUB SHARDNUMSUB c", "CLUSTER MYID", "CLUSTER NODES",
        "ASKING",
    ].map(words)
    /// The calls of scripts.
    private static let scriptCommands = [
        "DEL KEY", "UNLINK KEY", "TYPE KEY", "RENAME KEY KEY", "EXPIRE KEY 1", "PEXPIRE KEY 1", "PEXPIREAT KEY 1",
        "PERSIST KEY", "TTL KEY", "PTTL KEY", "MEMORY USAGE KEY", "MGET KEY", "HSET KEY f v", "HDEL KEY f",
        "HEXISTS KEY f", "HINCRBY KEY f 1", "HKEYS KEY", "HVALS KEY", "HLEN KEY", "HSCAN KEY 0", "HRANDFIELD KEY",
        "LPUSH KEY v", "RPUSH KEY v", "LRANGE KEY 0 1", "LTRIM KEY 0 1", "LLEN KEY", "SADD KEY v", "SREM KEY v",
        "SMEMBERS KEY", "SDIFF KEY", "ZADD KEY 1 v", "ZREM KEY v", "ZCARD KEY", "ZCOUNT KEY 0 1", "ZINCRBY KEY 1 v",
        "ZSCORE KEY v", "ZMSCORE KEY v", "ZREVRANK KEY v", "ZRANGE KEY 0 1", "ZREVRANGE KEY 0 1",
        "ZRANGEBYSCORE KEY 0 1", "ZREVRANGEBYSCORE KEY 1 0", "ZREVRANGEBYLEX KEY + -", "ZREMRANGEBYRANK KEY 0 1",
        "ZREMRANGEBYSCORE KEY 0 1", "GEOPOS KEY v", "GEOSEARCH KEY FROMMEMBER v BYRADIUS 1 m", "XADD KEY * f v",
        "XINFO STREAM KEY", "XACK KEY g 0",
    ].map(words)

    private static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
}
