public import Core
import Rights

/// Reading questions from queries.
extension FleetQuestion {
    /// A name and a value of a query.
    public typealias Item = (name: [UInt8], value: [UInt8])

    /// The reasons that an operator may give for closing a session.
    static let closeReasons: [CloseReason] = [.restart, .tryLater, .policyViolation, .forbidden]

    /// The reason of that name, `restart` without one; `nil` for any other.
    static func closeReason(_ name: [UInt8]) -> CloseReason? {
        name.isEmpty ? .restart : closeReasons.first { name.elementsEqual($0.rawValue.utf8) }
    }

    /// Reads the query of a question of a kind; the refusal names the fault.
    public init(_ kind: Kind, query items: [Item]) throws(Refusal) {
        self.init(kind)
        var seen: Set<[UInt8]> = []
        for item in items {
            let name = String(decoding: item.name, as: UTF8.self)
            guard kind.queryNames.contains(name) else {
                let names = kind.queryNames.joined(separator: ", ")
                throw Refusal(
                    .badRequest, names.isEmpty ? "this takes no query" : "unknown name in the query; it has \(names)")
            }
            guard seen.insert(item.name).inserted else { throw Refusal(.badRequest, "'\(name)' is given twice") }
            try take(name, item.value)
        }
        // One row for each gateway, and no `limit` in the query.
        if kind == .nodes { limit = FleetQuestion.limits.upperBound }
        if kind == .talkers, parameters[.by] == nil { parameters[.by] = Array("user".utf8) }
    }

    /// Reads the id of a session, and the query of what the holder of a key does with it.
    public init(_ kind: Kind, ofSession id: [UInt8], query items: [Item], key: [UInt8]) throws(Refusal) {
        try self.init(kind, query: items)
        guard let (home, number) = ShardAddress.parts(ofID: id), ASCII.decimal(number) != nil else {
            throw Refusal(.badRequest, "the id of a session is NODE.SHARD.NUMBER, as in /v1/sessions")
        }
        parameters[.session] = id
        parameters[.by] = Array(key.prefix(FleetQuestion.parameterBytesMax))
        node = home.node
    }

    private mutating func take(_ name: String, _ value: [UInt8]) throws(Refusal) {
        switch name {
        case "limit":
            guard let number = ASCII.decimal(value), FleetQuestion.limits.contains(number) else {
                throw Refusal(.badRequest, "'limit' must be 1 to \(FleetQuestion.limits.upperBound)")
            }
            limit = number
        case "sort":
            guard let place = kind.sortNames.firstIndex(where: { value.elementsEqual($0.utf8) }) else {
                throw Refusal(.badRequest, "'sort' must be one of \(kind.sortNames.joined(separator: ", "))")
            }
            order = place
        case "node":
            guard ShardAddress.isNode(value) else {
                throw Refusal(.badRequest, "'node' must be the id of a node, as in /v1/nodes")
            }
            node = value
        default:
            guard let parameter = Parameter(rawValue: name) else { return }
            if let fault = parameter.fault(value) { throw Refusal(.badRequest, "'\(name)' must be \(fault)") }
            parameters[parameter] = value
        }
    }
}

extension FleetQuestion.Kind {
    /// The names of its query.
    fileprivate var queryNames: [String] {
        switch self {
        case .nodes: []
        case .topics: ["sort", "namespace", "limit"]
        case .sessions: ["user", "address", "topic", "node", "limit"]
        case .slow: ["limit"]
        case .talkers: ["by", "sort", "limit"]
        case .close: ["reason"]
        case .tap: ["seconds"]
        case .wire: ["after"]
        case .trace, .why, .forget, .untap: []
        }
    }

    /// The words of `sort`, in the order of the figures.
    fileprivate var sortNames: [String] {
        switch self {
        case .topics: ["members", "rate", "bytes"]
        case .talkers: ["events", "bytes", "refusals", "redisUs"]
        case .nodes, .sessions, .slow, .close, .trace, .why, .forget, .tap, .wire, .untap: []
        }
    }
}

extension FleetQuestion.Parameter {
    /// The description of a valid value when this is none; `nil` for a valid one.
    fileprivate func fault(_ value: [UInt8]) -> String? {
        switch self {
        case .user, .session: Identity.isUser(value) ? nil : "the id of a user"
        case .address: IPAddress(text: value) == nil ? "an IP address" : nil
        case .topic: Topic(value) == nil ? "a topic such as shop:42" : nil
        case .position: Position(value) == nil ? "a position" : nil
        case .published: ASCII.decimal(value) == nil ? "milliseconds since 1970" : nil
        case .namespace: Topic.isNamespace(value) ? nil : "the name of a namespace"
        case .by:
            ["user", "address", "namespace", "key"].contains { value.elementsEqual($0.utf8) }
                ? nil : "user, address, namespace or key"
        case .seconds:
            ASCII.decimal(value).map { WireTaps.seconds.contains($0) } == true
                ? nil : "1 to \(WireTaps.seconds.upperBound) seconds"
        case .after: ASCII.decimal(value) == nil ? "the number of a message" : nil
        case .reason:
            FleetQuestion.closeReason(value) == nil
                ? "one of " + FleetQuestion.closeReasons.map(\.rawValue).joined(separator: ", ") : nil
        }
    }
}
