import Core

/// Reads `namespaces` of the config file or of a pack: an object of policies; `null` removes a namespace.
///
/// Each policy is merged field by field over the existing one.
struct NamespaceReader {
    /// All policies after the merge.
    private(set) var policies: [String: NamespacePolicy]
    /// The namespaces that the file names.
    private(set) var changed: Set<String> = []
    /// The problems.
    private(set) var problems: [SettingProblem] = []

    private let path: String
    private let unserved: [String: String]

    /// The fields of a policy.
    private static let fields = ["subscribe", "publish", "log", "slow", "conflate", "follows", "presence", "flatten"]
    /// The most events a log may keep.
    static let logEventsMax = 100_000
    /// The byte limits that a log may have: the least holds one event of the usual largest size.
    static let logBytes = 131_072...1_099_511_627_776
    /// The most seconds that a log may outlive its last event: 366 days.
    static let logSecondsMax = DurationText.secondsMax
    /// The policy of a namespace of the operator's own, except for the fields that the file gives.
    private static let fresh = NamespacePolicy(
        subscribe: .service, publish: .service, logEventsMax: 200, logSeconds: 300, slow: .disconnect)

    /// Reads the value; `base` are the existing policies, and `unserved` the packs that would bring others.
    init(
        path: String, key: String, value: JSON.Value, over base: [String: NamespacePolicy],
        unserved: [String: String] = [:]
    ) {
        self.path = path
        self.unserved = unserved
        policies = base
        read(value, key)
    }

    private mutating func read(_ value: JSON.Value, _ key: String) {
        guard value.kind == .object else {
            return problem(key, "expected an object of namespaces; got " + FileReader.nameOfKind(value))
        }
        for member in value.members {
            let name = member.name
            let place = key + "." + name
            guard Topic.isNamespace(Array(name.utf8)) else {
                problem(place, "expected a namespace: a lower-case letter, then at most 31 of a-z 0-9 -")
                continue
            }
            changed.insert(name)
            switch member.kind {
            case .null: policies[name] = nil
            case .object: read(member, name, place)
            default: problem(place, "expected an object, or null to remove it; got " + FileReader.nameOfKind(member))
            }
        }
    }

    private mutating func problem(_ key: String, _ message: String) {
        problems.append(SettingProblem(source: .file(path: path, key: key), message: message))
    }

    private mutating func read(_ value: JSON.Value, _ name: String, _ place: String) {
        let standard = policies[name]
        var policy = standard ?? NamespaceReader.fresh
        if standard == nil {
            for field in ["subscribe", "publish"] where value[field] == nil {
                problem(place, "a new namespace must say who may " + field + PackReader.hint(unserved[name]))
            }
        }
        for member in value.members {
            let field = place + "." + member.name
            switch member.name {
            case "subscribe": choice(member, field).map { policy.subscribe = $0 }
            case "publish": choice(member, field).map { policy.publish = $0 }
            case "slow": choice(member, field).map { policy.slow = $0 }
            case "log": log(member, field, &policy)
            case "conflate": conflate(member, field).map { policy.conflate = $0 }
            case "follows": flag(member, field).map { policy.follows = $0 }
            case "presence": flag(member, field).map { policy.presence = $0 }
            case "flatten": flag(member, field).map { policy.flatten = $0 }
            default: problem(field, "unknown key" + NearestName.hint(NamespaceReader.fields, to: member.name))
            }
        }
        policies[name] = policy
    }

    private mutating func flag(_ value: JSON.Value, _ place: String) -> Bool? {
        if let given = value.bool { return given }
        problem(place, "expected true or false; got " + FileReader.nameOfKind(value))
        return nil
    }

    private mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ value: JSON.Value, _ place: String
    ) -> Choice? where Choice.RawValue == String {
        if let text = value.string, let choice = Choice(rawValue: text) { return choice }
        let words = Choice.allCases.map(\.rawValue)
        let got = value.string.map { PrintableText.quoted($0) } ?? FileReader.nameOfKind(value)
        let hint = value.string.map { NearestName.hint(words, to: $0) } ?? ""
        problem(place, "expected one of " + words.joined(separator: ", ") + "; got " + got + hint)
        return nil
    }

    /// Reads an object from event names to `null`, or to the member that distinguishes the events of that name.
    private mutating func conflate(_ value: JSON.Value, _ place: String) -> [EventName: NamespacePolicy.ConflateBy]? {
        guard value.kind == .object else {
            problem(place, "expected an object of event names; got " + FileReader.nameOfKind(value))
            return nil
        }
        var keys: [EventName: NamespacePolicy.ConflateBy] = [:]
        for member in value.members {
            let field = place + "." + member.name
            guard let name = EventName(member.name) else {
                problem(field, "expected the name of an event: 1 to 64 of A-Z a-z 0-9 . _ : / -")
                continue
            }
            if member.kind == .null {
                keys[name] = .name
            } else if let text = member.string, !text.isEmpty {
                keys[name] = .member(text)
            } else {
                problem(field, "expected null or the name of a member; got " + FileReader.nameOfKind(member))
            }
        }
        return keys
    }

    private mutating func log(_ value: JSON.Value, _ place: String, _ policy: inout NamespacePolicy) {
        guard value.kind == .object else {
            return problem(
                place,
                "expected {\"events\": N, \"seconds\": N, \"bytes\": N}; got " + FileReader.nameOfKind(value))
        }
        for member in value.members {
            let field = place + "." + member.name
            switch member.name {
            case "events":
                number(member, field, 0...NamespaceReader.logEventsMax).map { policy.logEventsMax = $0 }
            case "seconds":
                number(member, field, 1...NamespaceReader.logSecondsMax).map { policy.logSeconds = $0 }
            case "bytes" where member.kind == .null: policy.logBytesMax = nil
            case "bytes": number(member, field, NamespaceReader.logBytes).map { policy.logBytesMax = $0 }
            default:
                let hint = NearestName.hint(["events", "seconds", "bytes"], to: member.name)
                problem(field, "unknown key" + (hint.isEmpty ? "; there are events, seconds and bytes" : hint))
            }
        }
    }

    private mutating func number(_ value: JSON.Value, _ place: String, _ range: ClosedRange<Int>) -> Int? {
        if let number = value.int, range.contains(number) { return number }
        problem(place, "expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }
}
