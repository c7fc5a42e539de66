import Core

/// The one topic that a native message names: `topic` at the top or inside an object, or an alias such as `shopId`.
///
/// Several spellings may occur together as long as they name the same topic.
struct NativeTarget {
    /// The message's own `topic` member.
    let top: JSON.Value?
    /// `data`, or an element of `topics`.
    let object: JSON.Value?
    /// The meaning of members such as `shopId`.
    let socket: NativeSocket

    /// Reads the topic; `nil` when the message names none.
    func topic() throws(Refusal) -> Topic? {
        var named: Topic?
        for value in [top, object?["topic"]] {
            guard let value = NativeDecoder.present(value) else { continue }
            let topic = try NativeTarget.topic(value)
            if let named, named != topic { throw conflict }
            named = topic
        }
        guard let object else { return named }
        return try aliased(in: object, named: named)
    }

    /// Compares the aliases with the topic that is named in full, or takes the topic from them.
    ///
    /// Beside a topic named in full, only its own alias matters: `requestId` may be anything there.
    private func aliased(in object: JSON.Value, named: Topic?) throws(Refusal) -> Topic? {
        var result = named
        for member in object.members {
            guard member.kind != .null, let namespace = socket.namespace(ofMember: member.nameBytes) else {
                continue
            }
            if let named, !named.namespace.elementsEqual(namespace) { continue }
            let topic = try aliasedTopic(namespace, member)
            if let result, result != topic { throw conflict }
            result = topic
        }
        return result
    }

    private func aliasedTopic(_ namespace: [UInt8], _ member: JSON.Value) throws(Refusal) -> Topic {
        let id = member.int == nil ? member.stringBytes : Array(member.raw)
        guard let id, let topic = Topic(namespace: namespace, id: id) else {
            // The name has passed the grammar of aliases: it is safe to repeat.
            throw Refusal(
                .badRequest,
                "\"\(member.name)\" must be a whole number or a string of 1 to \(Topic.idBytesMax) of "
                    + "A-Z a-z 0-9 . _ ~ : -.")
        }
        return topic
    }

    /// Reads a topic that is written in full.
    static func topic(_ value: JSON.Value?) throws(Refusal) -> Topic {
        guard let text = value?.stringBytes, let topic = Topic(text) else {
            throw Refusal(
                .badRequest,
                "A topic must be a string \"namespace:id\", e.g. \"shop:42\": the namespace a-z 0-9 -, the id 1 to "
                    + "\(Topic.idBytesMax) of A-Z a-z 0-9 . _ ~ : -.")
        }
        return topic
    }

    private var conflict: Refusal {
        Refusal(.badRequest, "The message names more than one topic; send one \"topic\", or \"topics\" for several.")
    }
}
