import Core
import Testing

@testable import Traces

/// Topics, positions and a clock for the tests of records.
enum Fixture {
    static func topic(_ text: String = "shop:42") throws -> Topic { try #require(Topic(text)) }

    /// A position such as `a:7`.
    static func position(_ text: String) throws -> Position { try #require(Position(Array(text.utf8))) }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}

/// A record with a clock that the test sets.
final class Recorder {
    var nowMs = 1_000
    private(set) var trace = SessionTrace(bytesMax: 0, nowMs: { 0 })
    private var counts: [UInt32: UInt8] = [:]

    init(bytesMax: Int = 65_536, keepMs: Int = 60_000) {
        trace = SessionTrace(bytesMax: bytesMax, keepMs: keepMs) { [unowned self] in nowMs }
    }

    func open(_ user: String, address: IPAddress? = IPAddress(192, 0, 2, 1)) -> UInt32 {
        trace.opened(.user, name: Array(user.utf8), address: address, dialect: Array("native".utf8))
    }

    func note(_ change: TraceEntry.Change, of session: UInt32) {
        trace.note(change, of: session, &counts[session, default: 0])
    }

    /// All entries that are left.
    var entries: [TraceEntry] {
        var entries: [TraceEntry] = []
        for block in 0..<trace.ring.blockCount {
            trace.ring.scan(block, nowMs: nowMs) { head, bytes in
                guard let change = TraceEntry.Change(head.kind, bytes[head.content]) else { return }
                entries.append(TraceEntry(session: head.session, atMs: head.atMs, change))
            }
        }
        return entries
    }
}
