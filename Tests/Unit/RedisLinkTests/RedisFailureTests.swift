import Core
import RedisLink
import Testing

@Suite struct RedisFailureTests {
    struct Row: Sendable {
        let line: String
        let kind: RedisFailure.Kind
        let reaction: RedisFailure.Reaction
        let code: ErrorCode
    }

    static let rows: [Row] = [
        Row(
            line: "READONLY You can't write against a read only replica.", kind: .readOnly, reaction: .reconnect,
            code: .unavailable),
        Row(
            line: "LOADING Redis is loading the dataset in memory", kind: .loading, reaction: .retrySame(afterMs: 250),
            code: .unavailable),
        Row(
            line: "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", kind: .masterDown,
            reaction: .reconnect, code: .unavailable),
        Row(
            line: "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", kind: .busy,
            reaction: .retrySame(afterMs: 100), code: .unavailable),
        Row(
            line: "NOREPLICAS Not enough good replicas to write.", kind: .noReplicas,
            reaction: .retrySame(afterMs: 500), code: .unavailable),
        Row(
            line: "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
            kind: .misconfigured, reaction: .failFast, code: .unavailable),
        Row(
            line: "OOM command not allowed when used memory > 'maxmemory'.", kind: .outOfMemory, reaction: .failFast,
            code: .unavailable),
        Row(
            line: "NOAUTH Authentication required.", kind: .noAuthentication, reaction: .reconnect, code: .unavailable),
        Row(
            line: "WRONGPASS invalid username-password pair or user is disabled.", kind: .wrongPassword,
            reaction: .reconnect, code: .unavailable),
        Row(
            line: "NOPERM this user has no permissions to run the 'set' command", kind: .noPermission,
            reaction: .failFast, code: .internalError),
        Row(
            line: "NOSCRIPT No matching script. Please use EVAL.", kind: .noScript, reaction: .retrySame(afterMs: 0),
            code: .unavailable),
        Row(
            line: "WRONGTYPE Operation against a key holding the wrong kind of value", kind: .wrongType,
            reaction: .failFast, code: .internalError),
        Row(
            line: "WRONGTYPE Operation against a key script: d3bc, on @user_script:1.", kind: .wrongType,
            reaction: .failFast, code: .internalError),
        Row(
            line: "CLUSTERDOWN The cluster is down", kind: .clusterDown, reaction: .retrySame(afterMs: 500),
            code: .unavailable),
        Row(line: "MOVED 3999 127.0.0.1:6381", kind: .moved, reaction: .failFast, code: .unavailable),
        Row(line: "ASK 3999 127.0.0.1:6381", kind: .moved, reaction: .failFast, code: .unavailable),
        Row(
            line: "TRYAGAIN Multiple keys request during rehashing of slot", kind: .tryAgain,
            reaction: .retrySame(afterMs: 50), code: .unavailable),
        Row(
            line: "CROSSSLOT Keys in request don't hash to the same slot", kind: .crossSlot, reaction: .failFast,
            code: .internalError),
        Row(
            line: "EXECABORT Transaction discarded because of previous errors.", kind: .aborted, reaction: .failFast,
            code: .internalError),
        Row(line: "ERR max number of clients reached", kind: .maxClients, reaction: .reconnect, code: .unavailable),
        Row(line: "SWB_CONFLICT no", kind: .script, reaction: .failFast, code: .internalError),
        Row(
            line: "ERR user_script:1: x script: ada89932, on @user_script:1.", kind: .script, reaction: .failFast,
            code: .internalError),
        Row(line: "ERR unknown command 'NOSUCH'", kind: .other, reaction: .failFast, code: .internalError),
        Row(line: "READONLYX no such code", kind: .other, reaction: .failFast, code: .internalError),
        Row(line: "readonly in small letters", kind: .other, reaction: .failFast, code: .internalError),
        Row(
            line: "BUSYGROUP Consumer Group name already exists", kind: .other, reaction: .failFast,
            code: .internalError),
        Row(line: "OOM", kind: .outOfMemory, reaction: .failFast, code: .unavailable),
        Row(line: "", kind: .other, reaction: .failFast, code: .internalError),
        Row(line: " ", kind: .other, reaction: .failFast, code: .internalError),
    ]

    @Test(arguments: rows)
    func anErrorLineHasItsClass(_ row: Row) {
        let failure = RedisFailure(reply: bytes(row.line))
        #expect(failure.kind == row.kind)
        #expect(failure.reaction == row.reaction)
        #expect(failure.refusal.code == row.code)
        #expect(failure.detail == row.line)
        #expect(RESPValue.error(bytes(row.line)).failure == failure)
    }

    @Test func noFailureIsRetriedAtOnceExceptAFlushedScript() {
        for kind in RedisFailure.Kind.allCases where kind != .noScript {
            if case .retrySame(let pause) = RedisFailure(kind).reaction { #expect(pause >= 50) }
        }
    }

    @Test func aLostReplyMayHaveBeenExecuted() {
        #expect(RedisFailure(.timedOut).mayHaveExecuted)
        #expect(RedisFailure(.disconnected).mayHaveExecuted)
        #expect(!RedisFailure(.inFlightFull).mayHaveExecuted)
        #expect(!RedisFailure(.noScript).mayHaveExecuted)
    }

    @Test func theServersWordsAreBoundedAndNeverReachTheClient() {
        let failure = RedisFailure(reply: bytes("ERR \u{1b}[31m\n\u{e9}" + String(repeating: "s", count: 500)))
        #expect(failure.detail.utf8.count == RedisFailure.detailBytesMax)
        #expect(failure.detail.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
        for kind in RedisFailure.Kind.allCases {
            #expect(!RedisFailure(kind, detail: "secret").refusal.message.utf8.isEmpty)
            #expect(RedisFailure(kind, detail: "secret").refusal == RedisFailure(kind).refusal)
        }
    }

    @Test func metricLabelsAreDistinctAndPlain() {
        let labels = RedisFailure.Kind.allCases.map { RedisFailure($0).metricLabel }
        #expect(Set(labels).count == labels.count)
        #expect(labels.allSatisfy { $0.utf8.allSatisfy { ASCII.isLower($0) || $0 == UInt8(ascii: "_") } })
    }

    @Test(arguments: [
        RESPError.malformed("x"), .tooManyElements, .replyTooLarge, .lineTooLong, .outOfMemory, .unusable,
    ])
    func aBrokenStreamIsAProtocolViolation(_ error: RESPError) {
        let failure = RedisFailure(error)
        #expect(failure.kind == .protocolViolation)
        #expect(failure.reaction == .reconnect)
        #expect(!failure.detail.utf8.isEmpty)
    }
}
