import Core

/// Reads `sockets` of the config file or of a pack: an object of rules by path; `null` closes a path.
///
/// Each entry replaces the existing rules of its path.
struct SocketReader {
    /// All rules after the merge, by path.
    private(set) var rules: [String: SocketRules]
    /// The paths that the file names.
    private(set) var changed: Set<String> = []
    /// The paths that are namespaces of Socket.IO, too, in the file's order.
    private(set) var socketIO: [String] = []
    /// The problems.
    private(set) var problems: [SettingProblem] = []

    private let path: String

    private static let fields = ["join", "alias", "fill", "fold", "socketio", "first"]
    /// The most paths that may have rules.
    static let pathsMax = 64
    /// The paths at which the gateway speaks another dialect.
    private static let taken = ["/realtime/v1/websocket", "/socket/websocket", "/echo"]

    /// Reads the value; `base` are the existing rules.
    init(path: String, key: String, value: JSON.Value, over base: [String: SocketRules]) {
        self.path = path
        rules = base
        read(value, key)
    }

    private mutating func problem(_ key: String, _ message: String) {
        problems.append(SettingProblem(source: .file(path: path, key: key), message: message))
    }

    private mutating func read(_ value: JSON.Value, _ key: String) {
        guard value.kind == .object else {
            return problem(key, "expected an object of paths; got " + FileReader.nameOfKind(value))
        }
        var patterns = rules.keys.compactMap { PathPattern($0) }
        for member in value.members {
            let name = member.name
            let place = key + "." + name
            guard let pattern = PathPattern(name) else {
                problem(
                    place,
                    "expected a path such as /dj or /shops/{shopId}: a word first, then up to "
                        + "\(PathPattern.segmentsMax - 1) words or {arguments}, no slash at the end")
                continue
            }
            guard !SocketReader.taken.contains(name) else {
                problem(place, "another protocol is spoken at this path; choose another")
                continue
            }
            if let other = patterns.first(where: { $0 != pattern && $0.isAlike(pattern) }) {
                problem(place, "takes the same paths as \(other)")
                continue
            }
            guard !pattern.arguments.contains(TopicTemplate.user) else {
                problem(place, "{\(TopicTemplate.user)} is the client's user, and no part of a path")
                continue
            }
            patterns.append(pattern)
            changed.insert(name)
            switch member.kind {
            case .null: rules[name] = nil
            case .object: rules[name] = rules(member, pattern, place)
            default: problem(place, "expected an object, or null to close it; got " + FileReader.nameOfKind(member))
            }
        }
        if rules.count > SocketReader.pathsMax { problem(key, "more than \(SocketReader.pathsMax) paths") }
    }

    private mutating func rules(_ value: JSON.Value, _ pattern: PathPattern, _ place: String) -> SocketRules {
        var rules = SocketRules()
        for member in value.members {
            let field = place + "." + member.name
            switch member.name {
            case "join": rules.join = texts(member, field).compactMap { template($0, pattern, field) }
            case "alias": rules.alias = aliases(member, field)
            case "fill": rules.fill = texts(member, field).filter { isFiller($0, field) }
            case "fold":
                if member.string == "lower" {
                    rules.foldsPath = true
                } else {
                    problem(field, "expected \"lower\", or leave it out")
                }
            case "first": rules.first = firsts(member, field)
            case "socketio": if isNamespace(member, pattern, field) { socketIO.append(pattern.description) }
            default: problem(field, "unknown key" + NearestName.hint(SocketReader.fields, to: member.name))
            }
        }
        if rules.join.count > SocketRules.joinMax {
            problem(place + ".join", "a socket joins at most \(SocketRules.joinMax) topics by itself")
        }
        return rules
    }

    private mutating func template(_ text: String, _ pattern: PathPattern, _ place: String) -> TopicTemplate? {
        guard let template = TopicTemplate(text) else {
            problem(place, "expected a topic such as shop:42 or session:{id}; got " + PrintableText.quoted(text))
            return nil
        }
        let known = pattern.arguments + [TopicTemplate.user]
        for name in template.arguments where !known.contains(name) {
            problem(place, "{\(name)} is no part of the path" + NearestName.hint(known, to: name))
            return nil
        }
        return template
    }

    private mutating func aliases(_ value: JSON.Value, _ place: String) -> [String: String] {
        guard value.kind == .object else {
            problem(place, "expected an object such as {\"shopId\": \"dj\"}; got " + FileReader.nameOfKind(value))
            return [:]
        }
        var aliases: [String: String] = [:]
        for member in value.members {
            let field = place + "." + member.name
            guard SocketRules.isMember(member.name) else {
                problem(field, "expected a name that ends in Id, e.g. shopId")
                continue
            }
            guard let namespace = member.string, Topic.isNamespace(Array(namespace.utf8)) else {
                problem(field, "expected a namespace: a lower-case letter, then at most 31 of a-z 0-9 -")
                continue
            }
            aliases[member.name] = namespace
        }
        return aliases
    }

    private mutating func firsts(_ value: JSON.Value, _ place: String) -> [String: EventName] {
        guard value.kind == .object else {
            problem(
                place, "expected an object such as {\"shop\": \"queue:update\"}; got " + FileReader.nameOfKind(value))
            return [:]
        }
        var firsts: [String: EventName] = [:]
        for member in value.members {
            let field = place + "." + member.name
            guard Topic.isNamespace(Array(member.name.utf8)) else {
                problem(field, "expected a namespace: a lower-case letter, then at most 31 of a-z 0-9 -")
                continue
            }
            guard let event = member.string.flatMap({ EventName($0) }), !event.isReserved else {
                problem(field, "expected the name of an event such as queue:update, and no word of the gateway")
                continue
            }
            firsts[member.name] = event
        }
        return firsts
    }

    private mutating func isFiller(_ name: String, _ place: String) -> Bool {
        if SocketRules.isMember(name) && name != "userId" { return true }
        problem(
            place, "expected a name that ends in Id, e.g. shopId, and not userId; got " + PrintableText.quoted(name))
        return false
    }

    /// Whether the path is to be a namespace of Socket.IO, which every name of `--socketio-namespace` may be.
    private mutating func isNamespace(_ value: JSON.Value, _ pattern: PathPattern, _ place: String) -> Bool {
        guard value.bool == true else {
            problem(place, "expected true, or leave it out")
            return false
        }
        do {
            try ValueKind.webPath.check(pattern.description)
            return true
        } catch {
            problem(place, "the path cannot be a Socket.IO namespace: expected " + error.expected)
            return false
        }
    }

    private mutating func texts(_ value: JSON.Value, _ place: String) -> [String] {
        guard value.kind == .array else {
            problem(place, "expected an array of strings; got " + FileReader.nameOfKind(value))
            return []
        }
        return value.members.compactMap { member in
            if let text = member.string { return text }
            problem(place, "expected strings in the array; got " + FileReader.nameOfKind(member))
            return nil
        }
    }

    /// The problems of rules that name missing namespaces: no client could ever subscribe to such a topic.
    ///
    /// `paths` are the paths to check; those with default rules are not among them. `unserved` are the packs that
    /// would bring other namespaces.
    static func strangers(
        _ paths: Set<String>, _ rules: [String: SocketRules], _ namespaces: [String: NamespacePolicy],
        unserved: [String: String], path file: String
    ) -> [SettingProblem] {
        var problems: [SettingProblem] = []
        func problem(_ key: String, _ namespace: String) {
            problems.append(
                SettingProblem(
                    source: .file(path: file, key: key),
                    message: "there is no namespace \(namespace)" + PackReader.hint(unserved[namespace])))
        }
        for path in paths.sorted() {
            guard let rules = rules[path] else { continue }
            for template in rules.join where namespaces[template.namespace] == nil {
                problem("sockets.\(path).join", template.namespace)
            }
            for (member, namespace) in rules.alias.sorted(by: { $0.key < $1.key }) where namespaces[namespace] == nil {
                problem("sockets.\(path).alias.\(member)", namespace)
            }
        }
        return problems
    }
}
