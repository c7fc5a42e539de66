import Commands
import Core
import RedisLink

/// An entry of the outbox stream, written by a script or by anything else.
struct OutboxEntry: Equatable {
    /// The action of the entry.
    enum Item: Equatable {
        /// Publish an event.
        case event(Topic, EventName, data: [UInt8])
        /// Call a command.
        case call(command: String, arguments: [UInt8])
        /// Add a user to the members of a topic, remove it, or report that it was removed.
        case member(Topic, user: [UInt8], MembersCall.Kind)
        /// Put a call of an outside service into the couriers' stream: its fields and values in turn.
        case callOut(service: String, [[UInt8]])
        /// An invalid entry; the reason is for the log.
        case unreadable(String)
    }

    /// One action of an entry.
    struct Part {
        /// The entry.
        let entry: OutboxEntry
        /// The index in ``OutboxEntry/items``.
        let index: Int

        /// The action.
        var item: Item { entry.items[index] }

        /// The id that makes a second run of the part harmless.
        ///
        /// The only part of an entry has the entry's id, so that a worker of an earlier version recognises it as done.
        var operation: MessageID? {
            var text = OutboxEntry.prefix + entry.streamLabel + entry.id
            if entry.items.count > 1 { text.append(text: ":\(index)") }
            return MessageID(text)
        }

        /// The fields and values that the dead entries store of it, in turn.
        var fields: [[UInt8]] {
            guard entry.items.count > 1, case .event(let topic, let event, let data) = item else { return entry.fields }
            return [Array("t".utf8), topic.bytes, Array("e".utf8), event.bytes, Array("d".utf8), data]
        }
    }

    /// The stream of the entry.
    let stream: OutboxStream
    /// A label that distinguishes streams in the ids of operations, since two may have entries of one id.
    ///
    /// Empty for the first lane on plain names, the only one in an earlier version.
    private let streamLabel: [UInt8]
    /// The entry's id in the stream, and its text in Redis.
    let place: StreamID
    let id: [UInt8]
    /// The payer that is charged for the entry; empty when unknown.
    let payer: [UInt8]
    /// The fields and values in turn, unchanged.
    let fields: [[UInt8]]
    /// The actions: at least one; several are events, each on its own topic.
    let items: [Item]

    /// The most topics of one entry; scripts name no more.
    static let topicsMax = 1_000

    /// Reads one element of a reply to XRANGE; `nil` when it is malformed.
    init?(_ value: RESPValue, stream: OutboxStream, isTagged: Bool) {
        guard let parts = value.elements, parts.count == 2, let id = parts[0].bytes,
            let fields = parts[1].elements?.map(\.bytes), let place = StreamID(id)
        else { return nil }
        (self.stream, self.place, self.id) = (stream, place, place.text)
        streamLabel = OutboxEntry.label(of: stream, isTagged: isTagged)
        self.fields = fields.compactMap(\.self)
        payer = Array((OutboxEntry.value("p", of: self.fields) ?? []).prefix(OutboxEntry.payerBytesMax))
        items = OutboxEntry.items(self.fields)
    }

    private static func label(of stream: OutboxStream, isTagged: Bool) -> [UInt8] {
        var text = ""
        if isTagged { text += "\(stream.slot)." }
        if stream.lane > 0 { text += "\(stream.lane)." }
        if stream.isFollowUp { text += "n." }
        return Array(text.utf8)
    }

    private static let payerBytesMax = 256

    /// The prefix of the id of an event or operation, before the entry's id.
    static let prefix = Array("o:".utf8)

    /// The size of the entry: bytes of all fields and values.
    var byteCount: Int { fields.reduce(0) { $0 + $1.count } }

    /// The parts of the entry, in their order.
    var parts: [Part] { items.indices.map { Part(entry: self, index: $0) } }

    private static func value(_ name: StaticString, of fields: [[UInt8]]) -> [UInt8]? {
        for index in stride(from: 0, to: fields.count - 1, by: 2)
        where fields[index].elementsEqual(String(describing: name).utf8) {
            return fields[index + 1]
        }
        return nil
    }

    private static func items(_ fields: [[UInt8]]) -> [Item] {
        func value(_ name: StaticString) -> [UInt8]? { OutboxEntry.value(name, of: fields) }
        if let service = value("o") {
            guard isService(service), let id = value("i"), let request = value("r"), let command = value("c"),
                let arguments = value("a")
            else { return [.unreadable("a call of a service outside that is none")] }
            let names = ["i", "r", "c", "a"].map { Array($0.utf8) }
            let call = zip(names, [id, request, command, arguments]).flatMap { [$0, $1] }
            return [.callOut(service: String(decoding: service, as: UTF8.self), call)]
        }
        if let command = value("c") {
            guard let arguments = value("a") else { return [.unreadable("a call without arguments")] }
            return [.call(command: String(decoding: command, as: UTF8.self), arguments: arguments)]
        }
        if let topics = value("m") {
            return events(topics, event: value("e"), data: value("d"), lengths: value("l"))
        }
        guard let topic = value("t").flatMap({ Topic($0) }) else { return [.unreadable("neither a call nor a topic")] }
        if let user = value("u") {
            switch value("x") {
            case Array("add".utf8)?: return [.member(topic, user: user, .add)]
            case Array("remove".utf8)?: return [.member(topic, user: user, .remove)]
            case Array("removed".utf8)?: return [.member(topic, user: user, .note)]
            default: return [.unreadable("a change of members that is none")]
            }
        }
        return [event(topic, value("e"), data: value("d"))]
    }

    /// The events of an entry for several topics: the same data for each, or a slice for each, cut by `lengths`.
    private static func events(_ topics: [UInt8], event name: [UInt8]?, data: [UInt8]?, lengths: [UInt8]?) -> [Item] {
        let space = UInt8(ascii: " ")
        let topics = topics.split(separator: space).map { Topic($0) }
        guard !topics.isEmpty, topics.count <= topicsMax else { return [.unreadable("no topics, or too many")] }
        var all = topics.map { _ in data }
        if let lengths, let data {
            let counts = lengths.split(separator: space).map { ASCII.decimal($0) ?? data.count + 1 }
            var rest = data[...]
            guard counts.count == topics.count, counts.allSatisfy({ $0 <= data.count }),
                counts.reduce(0, +) == data.count
            else { return [.unreadable("data of other lengths than it says")] }
            for (index, count) in counts.enumerated() {
                all[index] = Array(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
        }
        return zip(topics, all).map { topic, data in
            guard let topic else { return .unreadable("an event for no topic") }
            return event(topic, name, data: data)
        }
    }

    /// Whether it may be the name of an outside service: 1...64 of a-z 0-9 _ -.
    private static func isService(_ name: [UInt8]) -> Bool {
        (1...64).contains(name.count)
            && name.allSatisfy {
                ASCII.isLower($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }

    private static func event(_ topic: Topic, _ name: [UInt8]?, data: [UInt8]?) -> Item {
        guard let event = name.flatMap({ EventName($0) }) else { return .unreadable("no event name") }
        // Gateways deliver no event with a reserved name: in the log it would be a hole for every subscriber.
        guard !event.isReserved else { return .unreadable("an event name that the gateway keeps for itself") }
        guard let data else { return .unreadable("no data") }
        return .event(topic, event, data: data)
    }
}

extension OutboxEntry.Part {
    /// The subject for the log: the topic or the command, printable, at most 200 bytes.
    ///
    /// Never the data, which belong to users.
    var subject: String {
        let text: [UInt8] =
            switch item {
            case .event(let topic, _, _), .member(let topic, _, _): topic.bytes
            case .call(let command, _): Array(command.utf8)
            case .callOut(let service, _): Array(service.utf8)
            case .unreadable: Array("unreadable".utf8)
            }
        return String(
            decoding: text.prefix(200).map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// The size of the part: bytes of all fields and values.
    var byteCount: Int { fields.reduce(0) { $0 + $1.count } }
}
