public import Core

/// The template of a key's or a topic's name, which a script's arguments complete.
///
/// A key is `namespace:{id}`, `namespace:{id}#facet` or `namespace:{id}#facet#{member}`. A topic is `namespace:{id}`,
/// or `namespace:*` for any id. ``Keys`` and ``Topic`` make the names themselves.
public struct Template: Hashable, Sendable, CustomStringConvertible {
    /// The part before the colon, in the grammar of ``Topic``.
    public let namespace: String
    /// The argument that is the id; `nil` for `*`.
    public let variable: String?
    /// The part after the first `#`; `nil` when there is none.
    public let facet: String?
    /// The argument that is the part after the second `#`; `nil` when there is none.
    public let memberVariable: String?

    /// Facets that the gateway writes itself.
    private static let ownFacets: Set<String> = ["log", "meta", "seen", "done", "fence"]

    /// Reads the template of a topic.
    init(topic text: String) throws(HeaderFault) {
        let template = try Template(text, "shop:{shopId} or user:*")
        guard template.facet == nil else { throw HeaderFault("a topic has no #") }
        self = template
    }

    /// Reads the template of a key; with `orLog` it may be a topic's log, which no other template may name.
    init(key text: String, orLog: Bool = false) throws(HeaderFault) {
        let template = try Template(text, "dj:{shopId}#tracks or dj:{shopId}#votes#{trackId}", orLog: orLog)
        guard template.variable != nil else { throw HeaderFault("a key needs an argument in braces, not *") }
        self = template
    }

    private init(_ text: String, _ example: String, orLog: Bool = false) throws(HeaderFault) {
        guard let (namespace, rest) = HeaderText.cut(text, at: ":"), Topic.isNamespace(Array(namespace.utf8)) else {
            throw HeaderFault("expected a template such as \(example)")
        }
        let parts = rest.utf8.split(separator: UInt8(ascii: "#"), omittingEmptySubsequences: false)
            .map { String($0) ?? "" }
        guard let id = parts.first, parts.count <= 3 else {
            throw HeaderFault("expected a template such as \(example)")
        }
        self.namespace = namespace
        variable = id == "*" ? nil : try Template.variable(id, example)
        facet = parts.count > 1 ? parts[1] : nil
        memberVariable = parts.count > 2 ? try Template.variable(parts[2], example) : nil
        guard let facet else { return }
        guard HeaderText.isName(facet) else { throw HeaderFault("a facet is a lower-case letter, then a-z 0-9 _") }
        guard !Template.ownFacets.contains(facet) || orLog && isLog else {
            throw HeaderFault("#\(facet) is written by the gateway itself; choose another facet")
        }
    }

    /// Whether it names the log of a topic.
    var isLog: Bool { facet == "log" && memberVariable == nil }

    /// Reads `{name}`.
    private static func variable(_ text: String, _ example: String) throws(HeaderFault) -> String {
        let name = String(text.dropFirst().dropLast())
        guard text.hasPrefix("{"), text.hasSuffix("}"), HeaderText.isName(name, capitals: true) else {
            throw HeaderFault("expected an argument in braces, as in \(example)")
        }
        return name
    }

    /// The arguments that it names; the id's is first.
    public var variables: [String] { [variable, memberVariable].compactMap(\.self) }

    /// The topic of the id, which is also the part of a key before its facet; `nil` when the value is missing or no id.
    public func topic(_ value: (String) -> [UInt8]?) -> Topic? {
        guard let variable, let id = value(variable) else { return nil }
        return Topic(namespace: Array(namespace.utf8), id: id)
    }

    /// The key in Redis; `nil` when a value is missing, no id, or an empty member.
    public func key(_ keys: Keys, _ value: (String) -> [UInt8]?) -> [UInt8]? {
        guard let topic = topic(value) else { return nil }
        guard let memberVariable else { return keys.domain(topic, facet: facet, member: nil) }
        guard let member = value(memberVariable), !member.isEmpty else { return nil }
        return keys.domain(topic, facet: facet, member: member)
    }

    /// The id in a key that this template makes; `nil` for any other key.
    ///
    /// The worker uses it on the names of changed keys that it receives.
    public func id(inKey key: [UInt8], _ keys: Keys) -> [UInt8]? {
        guard key.starts(with: keys.prefix) else { return nil }
        let parts = key.dropFirst(keys.prefix.count)
            .split(separator: UInt8(ascii: "#"), maxSplits: 2, omittingEmptySubsequences: false)
        guard let topic = parts.first.flatMap({ keys.topic(named: $0) }), topic.namespace.elementsEqual(namespace.utf8),
            parts.count == 1 + (facet == nil ? 0 : 1) + (memberVariable == nil ? 0 : 1),
            facet.map({ parts[1].elementsEqual($0.utf8) }) ?? true,
            memberVariable == nil || !parts[2].isEmpty
        else { return nil }
        return Array(topic.id)
    }

    /// The template as written.
    public var description: String {
        namespace + ":" + (variable.map { "{\($0)}" } ?? "*") + (facet.map { "#" + $0 } ?? "")
            + (memberVariable.map { "#{\($0)}" } ?? "")
    }
}
