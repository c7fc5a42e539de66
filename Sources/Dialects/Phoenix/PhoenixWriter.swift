import Core

/// Writes the messages to one client, replies and pushes, in its version.
///
/// References are JSON text that was read before; an empty one is written as `null`.
struct PhoenixWriter {
    let version: PhoenixVersion

    /// Any message; v1 has no `join_ref`, and always has the four members.
    func message(
        joinRef: [UInt8] = [], ref: [UInt8] = [], _ topic: [UInt8], _ event: StaticString, _ payload: [UInt8]
    ) -> WireUnit {
        var text: [UInt8] = []
        text.reserveCapacity(64 + joinRef.count + ref.count + topic.count + payload.count)
        switch version {
        case .v1:
            text.append(text: "{\"topic\":")
            text.append(jsonString: topic)
            text.append(text: ",\"event\":\"")
            text.append(text: event)
            text.append(text: "\",\"payload\":")
            text.append(contentsOf: payload)
            text.append(text: ",\"ref\":")
            append(ref, to: &text)
            text.append(text: "}")
        case .v2:
            text.append(text: "[")
            append(joinRef, to: &text)
            text.append(text: ",")
            append(ref, to: &text)
            text.append(text: ",")
            text.append(jsonString: topic)
            text.append(text: ",\"")
            text.append(text: event)
            text.append(text: "\",")
            text.append(contentsOf: payload)
            text.append(text: "]")
        }
        return WireUnit(.text, text)
    }

    private func append(_ reference: [UInt8], to text: inout [UInt8]) {
        if reference.isEmpty { text.append(text: "null") } else { text.append(contentsOf: reference) }
    }

    // MARK: Replies

    /// A `phx_reply` that grants; `response` is one JSON object.
    func granted(_ answer: PhoenixAnswer, response: [UInt8] = PhoenixWriter.emptyObject) -> WireUnit {
        reply(answer, "ok", response)
    }

    /// A `phx_reply` that refuses; the response is an object, since Python's client takes nothing else.
    func refused(_ answer: PhoenixAnswer, reason: String) -> WireUnit {
        var response = [UInt8(ascii: "{")]
        response.append(member: "reason", string: reason)
        response.append(UInt8(ascii: "}"))
        return reply(answer, "error", response)
    }

    private func reply(_ answer: PhoenixAnswer, _ status: String, _ response: [UInt8]) -> WireUnit {
        var payload = [UInt8(ascii: "{")]
        payload.append(member: "status", string: status)
        payload.append(member: "response", json: response)
        payload.append(UInt8(ascii: "}"))
        return message(joinRef: answer.joinRef, ref: answer.ref, answer.topic, "phx_reply", payload)
    }

    // MARK: Pushes

    /// `phx_close`: the channel of that join has ended.
    func closed(_ topic: [UInt8], joinRef: [UInt8]) -> WireUnit {
        message(joinRef: joinRef, ref: joinRef, topic, "phx_close", PhoenixWriter.emptyObject)
    }

    /// `presence_state`: the presence list; `state` is one JSON object.
    func presenceState(_ topic: [UInt8], joinRef: [UInt8], state: [UInt8]) -> WireUnit {
        message(joinRef: joinRef, topic, "presence_state", state)
    }

    /// `system`: a notice for people; one with `isError` means that the channel has stopped working.
    ///
    /// `members` are further members of the payload, each after a comma.
    func system(
        _ topic: Topic, joinRef: [UInt8], isError: Bool, extension: String = "system", _ text: String,
        members: [UInt8] = []
    ) -> WireUnit {
        var payload = [UInt8(ascii: "{")]
        payload.append(member: "extension", string: `extension`)
        payload.append(member: "status", string: isError ? "error" : "ok")
        payload.append(member: "message", string: text)
        payload.append(member: "channel", string: PhoenixChannelName.name(of: topic))
        payload.append(contentsOf: members)
        payload.append(UInt8(ascii: "}"))
        return message(joinRef: joinRef, PhoenixChannelName.channel(of: topic), "system", payload)
    }

    /// `system`: events are missing before the next message.
    func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> WireUnit {
        var text = "gap: events are missing (\(reason.rawValue))"
        var members: [UInt8] = []
        members.append(text: ",\"reason\":\"\(reason.rawValue)\"")
        if let position {
            let epoch = String(decoding: position.epoch, as: UTF8.self)
            text = "gap: events up to \(epoch):\(position.offset) are missing (\(reason.rawValue))"
            members.append(text: ",\"epoch\":\"\(epoch)\",\"offset\":\(position.offset)")
        }
        return system(topic, joinRef: [], isError: false, extension: "gap", text, members: members)
    }

    static let emptyObject = Array("{}".utf8)
}
