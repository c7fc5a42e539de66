import Core
import EventLogs
import Fleet
import Traces

/// The event in question, as Redis knows it.
struct TracedEvent {
    let query: TraceQuery
    let traced: EventLog.Traced

    /// The position in question; `nil` while the topic has none and the question names no epoch.
    var position: Position? {
        (query.epoch ?? traced.top?.epoch).flatMap { Position(epoch: $0, offset: query.offset) }
    }

    /// Whether the question is about the topic's present epoch.
    private var isPresent: Bool { query.epoch.map { $0 == traced.top?.epoch } ?? true }

    /// The event, when it is in the log.
    var logged: ChannelMessage? { isPresent ? traced.event : nil }

    var fact: WhyFacts.Event {
        guard let top = traced.top else { return .noTopic }
        guard isPresent else { return .otherEpoch(top: top) }
        if let event = traced.event {
            return .logged(name: "\(event.event)", bytes: event.data.count, atMs: traced.atMs)
        }
        return query.offset > top.offset ? .notReached(top: top) : .gone(first: traced.first)
    }

    /// Adds the event to a question to the gateways.
    func mark(_ question: inout FleetQuestion) {
        question.parameters[.position] = position?.text
        guard logged != nil, let atMs = traced.atMs, atMs > 0 else { return }
        question.parameters[.published] = Array("\(atMs)".utf8)
    }

    /// Appends a JSON object.
    func append(to text: inout [UInt8], kind: String? = nil) {
        text.append(UInt8(ascii: "{"))
        if let kind { text.append(member: "kind", string: kind) }
        let isPublished = isPresent && query.offset <= traced.top?.offset ?? 0
        text.append(member: "published", json: "\(isPublished)".utf8)
        text.append(member: "logged", json: "\(logged != nil)".utf8)
        if let logged {
            text.append(member: "name", string: logged.event.bytes)
            text.append(member: "bytes", number: logged.data.count)
            text.append(member: "id", stringOrNull: logged.id?.bytes)
            text.append(member: "at", stringOrNull: traced.atMs.map { Timestamp.text(wallMs: $0).utf8 })
        }
        text.append(member: "newest", stringOrNull: traced.top?.text)
        text.append(member: "firstLogged", number: traced.first)
        text.append(UInt8(ascii: "}"))
    }
}
