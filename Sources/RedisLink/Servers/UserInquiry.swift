/// The questions that find out the ``UserRights`` on one server, one after the other.
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
    private var questions: [(words: [[UInt8]], rule: String?)] = []
    private var next = 0
    private var missing: [String] = []

    /// The most rules for keys, and for channels, before one rule for the prefix takes their place.
    private static let namesMax = 3

    /// Makes the questions about a user.
    ///
    /// `prefix` is that of keys and channels. `keys` are not empty; `patterns` are those of channels. `isSharded` says
    /// that the server is a master of a Cluster, and `waits` that publishes wait for replicas.
    public init(
        user: String, prefix: String, keys: [Names], channels: [Names], patterns: [[UInt8]], isSharded: Bool,
        waits: Bool
    ) {
        self.user = Array(user.utf8)
        self.prefix = prefix
        let more = isSharded ? UserInquiry.clusterCommands : UserInquiry.serverCommands
        for line in UserInquiry.commands + more + (waits ? [["WAIT", "0", "1"]] : []) {
            questions.append((line.map { $0 == "KEY" ? keys[0].example : Array($0.utf8) }, nil))
        }
        for names in keys {
            // Of its keys a script may read and write each.
            questions.append((["EVAL", "s", "1"].map { Array($0.utf8) } + [names.example], "~" + names.pattern))
        }
        let letter = isSharded ? "S" : ""
        for names in channels {
            let rule = "&" + names.pattern
            questions.append(([Array((letter + "SUBSCRIBE").utf8), names.example], rule))
            questions.append(([Array((letter + "PUBLISH").utf8), names.example, Array("v".utf8)], rule))
        }
        for pattern in patterns {
            questions.append(([Array("PSUBSCRIBE".utf8), pattern], "&" + String(decoding: pattern, as: UTF8.self)))
        }
    }

    /// The first step for a server with these facts.
    public func begin(_ facts: ServerFacts) -> InquiryStep<UserRights> {
        facts.isAtLeast(major: 7, minor: 0) ? .ask(question) : .done(.unasked)
    }

    /// Takes the answer to the last question.
    public mutating func answered(_ result: Result<RESPValue, RedisFailure>) -> InquiryStep<UserRights> {
        switch result {
        case .failure(let failure): return .done(.unknown(failure))
        case .success(let value):
            guard let words = value.bytes else { return .done(.unknown(RedisFailure(.protocolViolation))) }
            if !words.elementsEqual("OK".utf8) { take(RedisFailure(reply: words).detail) }
        }
        next += 1
        guard next == questions.count else { return .ask(question) }
        return .done(missing.isEmpty ? .sufficient : .missing(rules))
    }

    /// The rights as far as they are known without an answer.
    public static func unknown(_ failure: RedisFailure) -> UserRights { .unknown(failure) }

    /// The missing rules, with one for all names of the prefix where many are missing.
    private var rules: [String] {
        ["+", "~", "&"].flatMap { kind in
            let found = missing.filter { $0.hasPrefix(kind) }
            guard kind != "+", found.count > UserInquiry.namesMax else { return found }
            return [kind + prefix + "*"] + found.filter { !$0.hasPrefix(kind + prefix) }
        }
    }

    private var question: RedisCall {
        var call = RedisCall("ACL", Array("DRYRUN".utf8), user)
        for word in questions[next].words { call.append(word) }
        return call
    }

    /// Takes a refusal: Redis looks at the command first, and only then at keys and channels.
    private mutating func take(_ refusal: String) {
        let words = refusal.split(separator: "'", maxSplits: 2)
        let isCommand = words.count == 3 && words[2].hasPrefix(" command")
        guard let rule = isCommand ? "+" + words[1] : questions[next].rule, !missing.contains(rule) else { return }
        missing.append(rule)
    }

    private static let commands = [
        // The link and its scripts.
        "PING", "INFO replication", "CLIENT SETNAME n", "SCRIPT EXISTS s", "SCRIPT LOAD s", "EVALSHA s 1 KEY", "TIME",
        // Keys of any kind; `EVAL` is asked for each of the names.
        "DEL KEY", "UNLINK KEY", "EXISTS KEY", "TYPE KEY", "RENAME KEY KEY", "EXPIRE KEY 1", "PEXPIRE KEY 1",
        "PEXPIREAT KEY 1", "PERSIST KEY", "TTL KEY", "PTTL KEY", "MEMORY USAGE KEY", "GET KEY", "SET KEY v", "MGET KEY",
        "HSET KEY f v", "HGET KEY f", "HMGET KEY f", "HGETALL KEY", "HDEL KEY f", "HEXISTS KEY f", "HINCRBY KEY f 1",
        "HKEYS KEY", "HVALS KEY", "HLEN KEY", "HSCAN KEY 0", "HRANDFIELD KEY", "LPUSH KEY v", "RPUSH KEY v",
        "LRANGE KEY 0 1", "LTRIM KEY 0 1", "LLEN KEY", "SADD KEY v", "SREM KEY v", "SCARD KEY", "SISMEMBER KEY v",
        "SMISMEMBER KEY v", "SMEMBERS KEY", "SRANDMEMBER KEY", "SDIFF KEY", "ZADD KEY 1 v", "ZREM KEY v", "ZCARD KEY",
        "ZCOUNT KEY 0 1", "ZINCRBY KEY 1 v", "ZSCORE KEY v", "ZMSCORE KEY v", "ZREVRANK KEY v", "ZRANGE KEY 0 1",
        "ZREVRANGE KEY 0 1", "ZRANGEBYSCORE KEY 0 1", "ZREVRANGEBYSCORE KEY 1 0", "ZREVRANGEBYLEX KEY + -",
        "ZREMRANGEBYRANK KEY 0 1", "ZREMRANGEBYSCORE KEY 0 1", "GEOPOS KEY v",
        "GEOSEARCH KEY FROMMEMBER v BYRADIUS 1 m",
        "XADD KEY * f v", "XDEL KEY 0", "XLEN KEY", "XRANGE KEY - +", "XREVRANGE KEY + -", "XTRIM KEY MAXLEN 1",
        "XINFO STREAM KEY", "XACK KEY g 0",
    ].map(words)
    private static let serverCommands = ["SUBSCRIBE c", "UNSUBSCRIBE c", "PUBLISH c v", "PUBSUB NUMSUB c"].map(words)
    private static let clusterCommands = [
        "SSUBSCRIBE c", "SUNSUBSCRIBE c", "SPUBLISH c v", "PUBSUB SHARDNUMSUB c", "CLUSTER MYID", "CLUSTER NODES",
        "ASKING",
    ].map(words)

    private static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
}
