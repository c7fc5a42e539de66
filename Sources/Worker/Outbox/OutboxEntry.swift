import Core
import RedisLink

/// An entry of the outbox stream as a script wrote it, or as anybody else may have.
struct OutboxEntry: Equatable {
    /// What is to be done with it.
    enum Item: Equatable {
        /// Publish an event.
        case event(Topic, EventName, data: [UInt8])
        /// Call a command.
        case call(command: String, arguments: [UInt8])
        /// Nothing can be; the reason is for the log.
        case unreadable(String)
    }

    /// Its id in the stream.
    let id: [UInt8]
    /// Its fields and values in turn, as they were found.
    let fields: [[UInt8]]
    /// What they mean.
    let item: Item

    /// Reads one element of a reply to XRANGE; `nil` when it is no such element.
    init?(_ value: RESPValue) {
        guard let parts = value.elements, parts.count == 2, let id = parts[0].bytes,
            let fields = parts[1].elements?.map(\.bytes), !id.isEmpty, MessageID(OutboxEntry.prefix + id) != nil
        else { return nil }
        self.id = id
        self.fields = fields.compactMap(\.self)
        item = OutboxEntry.item(self.fields)
    }

    /// What the id of the event or operation begins with, before the entry's id.
    static let prefix = Array("o:".utf8)

    /// The id that makes a second run of the entry harmless.
    var operation: MessageID? { MessageID(OutboxEntry.prefix + id) }

    private static func item(_ fields: [[UInt8]]) -> Item {
        func value(_ name: StaticString) -> [UInt8]? {
            for index in stride(from: 0, to: fields.count - 1, by: 2)
            where fields[index].elementsEqual(String(describing: name).utf8) {
                return fields[index + 1]
            }
            return nil
        }
        if let command = value("c") {
            guard let arguments = value("a") else { return .unreadable("a call without arguments") }
            return .call(command: String(decoding: command, as: UTF8.self), arguments: arguments)
        }
        guard let topic = value("t").flatMap({ Topic($0) }) else { return .unreadable("neither a call nor a topic") }
        guard let event = value("e").flatMap({ EventName($0) }) else { return .unreadable("no event name") }
        // Gateways pass none of their own words on: in the log it would be a hole for every subscriber.
        guard !event.isReserved else { return .unreadable("an event name that the gateway keeps for itself") }
        guard let data = value("d") else { return .unreadable("no data") }
        return .event(topic, event, data: data)
    }

    /// What it is for, for the log: the topic or the command, printable, at most 200 bytes.
    ///
    /// Never what it carries: that is the users'.
    var subject: String {
        let text: [UInt8] =
            switch item {
            case .event(let topic, _, _): topic.bytes
            case .call(let command, _): Array(command.utf8)
            case .unreadable: Array("unreadable".utf8)
            }
        return String(
            decoding: text.prefix(200).map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// How large it is, bytes of all fields and values.
    var byteCount: Int { fields.reduce(0) { $0 + $1.count } }
}
