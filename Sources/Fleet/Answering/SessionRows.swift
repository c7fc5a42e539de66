import Connections
import Core
import Rights
import Service
import Sessions
import Traces

/// Writes sessions as rows of an answer.
struct SessionRows {
    let address: ShardAddress
    let clock: ShardClock

    /// Topics that a row names; `topicCount` has the number of all.
    private static let topicsMax = 32
    /// An open session stands before every one that has ended: the rank of those is the time of their end.
    private static let rankOfOpen = 1 << 48

    /// The row of an open session.
    func row(_ session: Session) -> FleetRow {
        let (id, load, topics) = (session.id, session.load, session.topicsHeld)
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.append(member: "id", string: id)
        text.append(member: "user", stringOrNull: SessionRows.user(session.caller))
        text.append(member: "key", stringOrNull: SessionRows.key(session.caller))
        text.append(member: "node", string: address.node)
        text.append(member: "address", stringOrNull: session.address.map { "\($0)".utf8 })
        text.append(member: "dialect", string: session.dialectName)
        text.append(member: "since", string: time(session.openedMs))
        text.append(member: "topicCount", number: topics.count)
        text.append(member: "topics")
        text.append(arrayOf: topics.prefix(SessionRows.topicsMax)) { $0.append(jsonString: $1.bytes) }
        text.append(text: ",\"closed\":null,\"why\":null}" as StaticString)
        let waitingMs = load.oldestMs.map { max(0, clock.nowMs - $0) } ?? 0
        return FleetRow(key: id, figures: [SessionRows.rankOfOpen + load.bytes, load.bytes, waitingMs], content: text)
    }

    /// The row of a session that has ended.
    func row(_ session: TracedSession) -> FleetRow {
        let id = address.id(ofSession: session.number)
        var topics: [[UInt8]] = []
        for stay in session.stays where !topics.contains(stay.topic.bytes) { topics.append(stay.topic.bytes) }
        let isUser = session.caller == .user
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.append(member: "id", string: id)
        text.append(member: "user", stringOrNull: isUser ? session.name : nil)
        text.append(member: "key", stringOrNull: isUser || session.name.isEmpty ? nil : session.name)
        text.append(member: "node", string: address.node)
        text.append(member: "address", stringOrNull: session.address.map { "\($0)".utf8 })
        text.append(member: "dialect", string: session.dialect)
        text.append(member: "since", stringOrNull: session.openedMs.map { time($0).utf8 })
        text.append(member: "topicCount", number: topics.count)
        text.append(member: "topics")
        text.append(arrayOf: topics.prefix(SessionRows.topicsMax)) { $0.append(jsonString: $1) }
        text.append(member: "closed", stringOrNull: session.closed.map { time($0.atMs).utf8 })
        text.append(member: "why", stringOrNull: session.closed.map { $0.reason.rawValue.utf8 })
        text.append(UInt8(ascii: "}"))
        let endMs = session.closed.map { max(0, wallMs($0.atMs)) } ?? 0
        return FleetRow(key: id, figures: [min(endMs, SessionRows.rankOfOpen - 1), 0, 0], content: text)
    }

    private func wallMs(_ monotonicMs: Int) -> Int { clock.wallMs - (clock.nowMs - monotonicMs) }

    private func time(_ monotonicMs: Int) -> String { Timestamp.text(wallMs: wallMs(monotonicMs)) }

    static func user(_ caller: Caller) -> [UInt8]? {
        if case .user(let identity) = caller { identity.user } else { nil }
    }

    private static func key(_ caller: Caller) -> String.UTF8View? {
        switch caller {
        case .service(let holder), .publishable(let holder): holder.name.utf8
        case .anonymous, .user: nil
        }
    }
}
