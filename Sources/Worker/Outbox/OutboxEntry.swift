import Commands
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
        /// Take a user into the members of a topic, or out of them, or tell that it was taken out.
        case member(Topic, user: [UInt8], MembersCall.Kind)
        /// Put a call of a service outside where couriers find it: its fields and values in turn.
        case callOut(service: String, [[UInt8]])
        /// Nothing can be; the reason is for the log.
        case unreadable(String)
    }

    /// One thing to do of an entry.
    struct Part {
        /// The entry.
        let entry: OutboxEntry
        /// Which of its ``OutboxEntry/items``.
        let index: Int

        /// What is to be done.
        var item: Item { entry.items[index] }

        /// The id that makes a second run of the part harmless.
        ///
        /// The only part of an entry has the entry's, so that a worker of an earlier version finds what it has done.
        var operation: MessageID? {
            var text = OutboxEntry.prefix + entry.streamLabel + entry.id
            if entry.items.count > 1 { text.append(text: ":\(index)") }
            return MessageID(text)
        }

        /// What the dead entries keep of it, fields and values in turn.
        var fields: [[UInt8]] {
            guard entry.items.count > 1, case .event(let topic, let event, let data) = item else { return entry.fields }
            return [Array("t".utf8), topic.bytes, Array("e".utf8), event.bytes, Array("d".utf8), data]
        }
    }

    /// Its stream.
    let stream: OutboxStream
    /// Tells streams apart in the ids of operations, since two may have entries of one id.
    ///
    /// Empty for the first lane on plain names, which an earlier version had alone.
    private let streamLabel: [UInt8]
    /// Its id in the stream, and as Redis writes it.
    let place: StreamID
    let id: [UInt8]
    /// The payer, who answers for it; empty when nobody is known.
    let payer: [UInt8]
    /// Its fields and values in turn, as they were found.
    let fields: [[UInt8]]
    /// What they mean: at least one item; several are events, each on its own topic.
    let items: [Item]

    /// The most topics of one entry; scripts name no more.
    static let topicsMax = 1_000

    /// Reads one element of a reply to XRANGE; `nil` when it is no such element.
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

    /// What the id of the event or operation begins with, before the entry's id.
    static let prefix = Array("o:".utf8)

    /// How large it is, bytes of all fields and values.
    var byteCount: Int { fields.reduce(0) { $0 + $1.count } }

    /// What is to be done, in its order.
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

    /// The events of an entry for several topics: the same data for each, or of each so many bytes as `lengths` says.
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

    /// Whether it may be the name of a service outside: 1...64 of a-z 0-9 _ -.
    private static func isService(_ name: [UInt8]) -> Bool {
        (1...64).contains(name.count)
            && name.allSatisfy {
                ASCII.isLower($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }

    private static func event(_ topic: Topic, _ name: [UInt8]?, data: [UInt8]?) -> Item {
        guard let event = name.flatMap({ EventName($0) }) else { return .unreadable("no event name") }
        // Gateways pass none of their own words on: in the log it would be a hole for every subscriber.
        guard !event.isReserved else { return .unreadable("an event name that the gateway keeps for itself") }
        guard let data else { return .unreadable("no data") }
        return .event(topic, event, data: data)
    }
}

extension OutboxEntry.Part {
    /// What it is for, for the log: the topic or the command, printable, at most 200 bytes.
    ///
    /// Never what it carries: that is the users'.
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

    /// How large it is, bytes of all fields and values.
    var byteCount: Int { fields.reduce(0) { $0 + $1.count } }
}
