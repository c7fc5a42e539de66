import Connections
import Core
import Rights
import Service
import Sessions

/// Writes sessions as rows of an answer.
struct SessionRows {
    let nodeName: [UInt8]
    let clock: ShardClock

    /// Topics that a row names; their number is told in any case.
    private static let topicsMax = 32

    /// The row of an open session.
    func row(_ session: Session) -> FleetRow {
        let (id, load, topics) = (session.id, session.load, session.topicsHeld)
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.append(member: "id", string: id)
        text.append(member: "user", stringOrNull: SessionRows.user(session.caller))
        text.append(member: "key", stringOrNull: SessionRows.key(session.caller))
        text.append(member: "node", string: nodeName)
        text.append(member: "address", stringOrNull: session.address.map { "\($0)".utf8 })
        text.append(member: "dialect", string: session.dialectName)
        text.append(member: "since", string: time(session.openedMs))
        text.append(member: "topicCount", number: topics.count)
        text.append(member: "topics")
        text.append(arrayOf: topics.prefix(SessionRows.topicsMax)) { $0.append(jsonString: $1.bytes) }
        text.append(text: ",\"closed\":null,\"why\":null}" as StaticString)
        let waitingMs = load.oldestMs.map { max(0, clock.nowMs - $0) } ?? 0
        return FleetRow(key: id, figures: [load.bytes, waitingMs], content: text)
    }

    private func time(_ monotonicMs: Int) -> String {
        Timestamp.text(wallMs: clock.wallMs - (clock.nowMs - monotonicMs))
    }

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
