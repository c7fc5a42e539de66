public import Core

/// The names by which packs keep blocks between users, as their `pack.json` says under `blocks`.
///
/// Immutable.
public struct BlockNames: Equatable, Sendable {
    /// A set of users, in the form `NAMESPACE:{user}#FACET`, or `NAMESPACE:{user}SEPARATOR{other}#FACET` for two users.
    public struct Key: Equatable, Sendable {
        let namespace: [UInt8]
        /// The text between two users; `nil` for the set of one user.
        let separator: [UInt8]?
        /// The part of the name behind the id.
        public let facet: String

        /// Reads the form; `nil` for any other text.
        init?(_ text: String) {
            let parts = text.split(separator: "#", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[1].isEmpty, let colon = parts[0].firstIndex(of: ":") else { return nil }
            let id = parts[0][parts[0].index(after: colon)...]
            guard id.hasPrefix("{user}"), Topic.isNamespace(Array(parts[0][..<colon].utf8)) else { return nil }
            let rest = id.dropFirst("{user}".count)
            guard rest.isEmpty || rest.hasSuffix("{other}") && rest.utf8.count == "{other}".utf8.count + 1 else {
                return nil
            }
            namespace = Array(parts[0][..<colon].utf8)
            separator = rest.isEmpty ? nil : Array(rest.utf8.prefix(1))
            facet = String(parts[1])
        }

        /// The home of the set of one user.
        public func home(of user: [UInt8]) -> Topic? { Topic(namespace: namespace, id: user) }

        /// The home of the set of two users and the second of them, when a topic's id names the user as one of two.
        public func home(of user: [UInt8], on topic: Topic) -> (home: Topic, other: [UInt8])? {
            guard let separator = separator?.first else { return nil }
            let users = topic.id.split(separator: separator, omittingEmptySubsequences: false)
            guard users.count == 2, let place = users.firstIndex(where: { $0.elementsEqual(user) }),
                let home = Topic(namespace: namespace, id: topic.id)
            else { return nil }
            let other = Array(users[1 - place])
            return other == user ? nil : (home, other)
        }
    }

    /// The set of the users whom a user blocks; `nil` when no pack keeps blocks.
    public private(set) var blocks: Key?
    /// The set of the users who block a user.
    public private(set) var blockers: Key?
    /// The set of those of two users who block the other.
    public private(set) var pair: Key?
    /// The events that are sent in place of others while a block holds.
    public private(set) var standIns: Set<String> = []

    private static let fields = ["blocks", "blockers", "pair", "standIns"]
    private static let limits = JSON.Limits(depthMax: 16, elementsMax: 10_000)

    /// No pack keeps blocks.
    public init() {}

    /// Adds what a pack's file says; `path` is its name in messages.
    ///
    /// Text that is no JSON object is ignored here; ``RouteErrorsReader`` reports it.
    mutating func add(_ bytes: [UInt8], path: String, _ problems: inout [ScriptProblem]) {
        guard let json = try? JSON(parsing: bytes, limits: BlockNames.limits), json.root.kind == .object,
            let names = json.root["blocks"]
        else { return }
        func problem(_ value: JSON.Value, _ text: String) {
            problems.append(ScriptProblem(file: path, line: value.line, message: "blocks: " + text))
        }
        guard names.kind == .object else { return problem(names, "expected an object") }
        for member in names.members {
            let key = member.string.flatMap { Key($0) }
            switch member.name {
            case "blocks" where key?.separator == nil && key != nil: blocks = key
            case "blockers" where key?.separator == nil && key != nil: blockers = key
            case "pair" where key?.separator != nil: pair = key
            case "standIns" where member.kind == .array && member.members.allSatisfy({ $0.string != nil }):
                standIns.formUnion(member.members.compactMap(\.string))
            case "standIns": problem(member, "standIns: expected a list of names of events")
            case let name where BlockNames.fields.contains(name):
                problem(member, "\(name): expected NAMESPACE:{user}#FACET, for a pair NAMESPACE:{user}_{other}#FACET")
            default: problem(member, "unknown key" + NearestName.hint(BlockNames.fields, to: member.name))
            }
        }
    }
}
