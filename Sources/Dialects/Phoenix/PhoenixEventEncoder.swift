public import Core

/// Writes events as Phoenix broadcasts, once for all members of a version.
///
/// `meta` is an addition to Supabase's protocol: the event's position in the topic's log.
public struct PhoenixEventEncoder: EventEncoder {
    private let version: PhoenixVersion
    private let flattened: Set<[UInt8]>

    /// `flattened` are the namespaces whose payloads repeat the members of the event's data beside the wrapper's own.
    ///
    /// It is for clients that read the whole payload.
    public init(_ version: PhoenixVersion, flattened: Set<[UInt8]> = []) {
        self.version = version
        self.flattened = flattened
    }

    /// Whether payloads of the topic repeat the members of the event's data beside the wrapper's own.
    func flattens(_ topic: Topic) -> Bool { !flattened.isEmpty && flattened.contains(Array(topic.namespace)) }

    /// `phoenix-v1` or `phoenix-v2`.
    public var name: String { "phoenix-" + version.rawValue }

    /// Writes a broadcast: text, or a binary frame (kind 4) when the event holds only bytes and the clients use v2.
    public func event(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit] {
        [write(topic, message, joinRef: [], isReplay: false)]
    }

    /// Writes a replayed broadcast for one join: its `meta` marks it as replayed, and always has an `id`.
    func replayed(_ topic: Topic, _ message: ChannelMessage, joinRef: [UInt8]) -> WireUnit {
        write(topic, message, joinRef: joinRef, isReplay: true)
    }

    private func write(_ topic: Topic, _ message: ChannelMessage, joinRef: [UInt8], isReplay: Bool) -> WireUnit {
        if version == .v2, let bytes = BytesObject.bytes(in: message.data),
            let unit = binary(topic, message, bytes, isReplay: isReplay)
        {
            return unit
        }
        var text: [UInt8] = []
        text.reserveCapacity(
            160 + joinRef.count + topic.bytes.count + message.event.bytes.count + message.data.count
                + Position.epochBytesMax + (message.id?.bytes.count ?? 0))
        switch version {
        case .v1: text.append(text: "{\"topic\":\"")
        case .v2 where joinRef.isEmpty: text.append(text: "[null,null,\"")
        case .v2:
            text.append(text: "[")
            text.append(contentsOf: joinRef)
            text.append(text: ",null,\"")
        }
        text.append(contentsOf: PhoenixChannelName.prefix)
        text.append(contentsOf: PhoenixChannelName.name(of: topic))
        text.append(text: version == .v1 ? "\",\"event\":\"broadcast\",\"payload\":" : "\",\"broadcast\",")
        text.append(text: "{\"type\":\"broadcast\",\"event\":\"")
        text.append(contentsOf: message.event.bytes)
        text.append(text: "\",\"payload\":")
        text.append(contentsOf: message.data)
        append(metaOf: message, isReplay: isReplay, after: ",\"meta\":", to: &text)
        if flattens(topic) { append(membersOf: message.data, to: &text) }
        text.append(text: version == .v1 ? "},\"ref\":null}" : "}]")
        return WireUnit(.text, text)
    }

    /// Writes a `system` notice; publishers cannot send one, so nobody can fake a gap.
    public func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [WireUnit] {
        [PhoenixWriter(version: version).gap(topic, position, reason)]
    }

    /// Writes the payload of `presence_state`.
    public func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]? { PhoenixPresence.list(members) }

    /// Writes `presence_diff`.
    public func presence(_ topic: Topic, _ change: PresenceChange) -> [WireUnit] {
        let (channel, payload) = (PhoenixChannelName.channel(of: topic), PhoenixPresence.change(change))
        return [PhoenixWriter(version: version).message(channel, "presence_diff", payload)]
    }

    /// Writes kind 4; `nil` when a field is longer than its length byte allows.
    private func binary(
        _ topic: Topic, _ message: ChannelMessage, _ payload: [UInt8], isReplay: Bool
    ) -> WireUnit? {
        let channel = PhoenixChannelName.channel(of: topic)
        var meta: [UInt8] = []
        append(metaOf: message, isReplay: isReplay, after: "", to: &meta)
        guard let topicCount = UInt8(exactly: channel.count), let metaCount = UInt8(exactly: meta.count),
            let eventCount = UInt8(exactly: message.event.bytes.count)
        else { return nil }
        return WireUnit(
            .binary, [4, topicCount, eventCount, metaCount, 0] + channel + message.event.bytes + meta + payload)
    }

    /// Appends those of `{"id":"op-1","epoch":"k3x9","offset":18}` that exist; nothing when none does.
    ///
    /// A replay begins with `"replayed":true`, and the position replaces an `id` that the publisher has not given: the
    /// clients expect one.
    private func append(
        metaOf message: ChannelMessage, isReplay: Bool, after label: StaticString, to text: inout [UInt8]
    ) {
        guard message.id != nil || message.position != nil else { return }
        text.append(text: label)
        var comma: StaticString = "{"
        if isReplay {
            text.append(text: "{\"replayed\":true")
            comma = ","
        }
        if let id = message.id {
            text.append(text: comma)
            text.append(text: "\"id\":\"")
            text.append(contentsOf: id.bytes)
            text.append(text: "\"")
            comma = ","
        } else if isReplay, let position = message.position {
            text.append(text: ",\"id\":\"")
            text.append(contentsOf: position.epoch)
            text.append(text: ":")
            text.append(decimal: position.offset)
            text.append(text: "\"")
        }
        if let position = message.position {
            text.append(text: comma)
            text.append(text: "\"epoch\":\"")
            text.append(contentsOf: position.epoch)
            text.append(text: "\",\"offset\":")
            text.append(decimal: position.offset)
        }
        text.append(text: "}")
    }

    /// Appends the members of the data, except for names that the wrapper has itself.
    private func append(membersOf data: [UInt8], to text: inout [UInt8]) {
        // The data was validated within these bounds, or narrower ones, on arrival.
        guard let root = try? JSON(parsing: data, limits: JSON.Limits(depthMax: 64, elementsMax: 400_000)).root else {
            return
        }
        for member in root.members {
            let name = member.nameBytes
            if ["type", "event", "payload", "meta"].contains(where: { name.elementsEqual($0.utf8) }) { continue }
            text.append(text: ",")
            text.append(jsonString: name)
            text.append(text: ":")
            text.append(contentsOf: member.raw)
        }
    }
}
