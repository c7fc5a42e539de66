/// Whether a server could load its own append-only file after a restart.
///
/// Redis 7 replays the file as the user `default`, even while that user is off. It skips every transaction with a
/// command that this user may not run, and the writes of a script are a transaction.
public enum LoadRights: Equatable, Sendable {
    /// The server has no append-only file, or is older than 7.0 and checks no rights while it loads.
    case notNeeded
    /// The user `default` may run every command in the file.
    case sufficient
    /// A right is missing; the text is the server's message, at most 200 printable ASCII bytes.
    case missing(String)
    /// Our own user may not ask, or no answer arrived.
    case unknown(RedisFailure)

    /// The rules that give the user `default` its rights when no client logs in as it: words of `ACL SETUSER`.
    ///
    /// `off` and `resetpass` keep the user closed, since it may run every command from then on.
    public static let closedRules = "default off resetpass ~* &* +@all"
    /// The same when a client logs in as `default`, for example this process: its passwords stay.
    public static let openRules = "default ~* &* +@all"
    /// The rule of `ACL SETUSER` that lets our own user ask.
    public static let askingRule = "+acl|dryrun"
}

/// The questions that find out the ``LoadRights`` of one server; the first refusal is told.
///
/// Pure.
public struct LoadInquiry: RightsInquiry {
    private let key: [UInt8]

    /// Makes the questions for keys that begin with a prefix.
    ///
    /// A key has a `?` behind the prefix, which none of our names has: patterns for some of the names do not match it.
    public init(prefix: [UInt8]) {
        key = prefix + Array("?load".utf8)
    }

    /// The questions for a server with these facts; none where it loads no such file, or checks no rights.
    public func questions(_ facts: ServerFacts) -> [RedisCall] {
        guard facts.hasAppendOnlyFile, facts.isAtLeast(major: 7, minor: 0) else { return [] }
        return LoadInquiry.commands.map { words in
            var call = RedisCall("ACL", Array("DRYRUN".utf8), Array("default".utf8))
            for word in words { call.append(word == LoadInquiry.keyPlace ? key : Array(word.utf8)) }
            return call
        }
    }

    /// The rights by the answers to all questions.
    public func rights(_ answers: [Result<RESPValue, RedisFailure>]) -> LoadRights {
        for answer in answers {
            switch answer {
            case .failure(let failure): return .unknown(failure)
            case .success(let value):
                guard let words = value.bytes else { return .unknown(RedisFailure(.protocolViolation)) }
                guard words.elementsEqual("OK".utf8) else { return .missing(RedisFailure(reply: words).detail) }
            }
        }
        return answers.isEmpty ? .notNeeded : .sufficient
    }

    private static let keyPlace = "KEY"
    /// The transaction itself, and a write of each kind that scripts make, each with as many words as it needs.
    private static let commands: [[String]] = [
        "MULTI", "SET KEY v", "DEL KEY", "PEXPIREAT KEY 1", "HSET KEY f v", "HDEL KEY f", "RPUSH KEY v", "SADD KEY v",
        "SREM KEY v", "ZADD KEY 1 v", "ZREM KEY v", "XADD KEY * f v", "XTRIM KEY MAXLEN 1", "XGROUP CREATE KEY g 0",
    ].map { $0.split(separator: " ").map(String.init) }
}
