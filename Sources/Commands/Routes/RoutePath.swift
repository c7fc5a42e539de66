/// The path of a route of the gateway's own, whose parts may be arguments: `/v1/topics/{topic}`.
public struct RoutePath: Hashable, Sendable, CustomStringConvertible {
    /// One part of the path.
    private enum Part: Hashable, Sendable {
        /// Exactly this text.
        case literal(String)
        /// Any text; the name is for readers.
        case argument(String)
    }

    private let parts: [Part]

    /// Reads a path that is written in the code.
    init(_ text: StaticString) {
        parts = text.description.split(separator: "/").map { part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .argument(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
    }

    /// The number of parts between slashes.
    var count: Int { parts.count }

    /// Whether the decoded parts of a request's path belong to this path.
    func fits(_ segments: [String]) -> Bool {
        guard segments.count == parts.count else { return false }
        for (part, segment) in zip(parts, segments) {
            if case .literal(let text) = part, text != segment { return false }
        }
        return true
    }

    /// Whether a request exists that both this path and a command's route of these parts match.
    func overlaps(_ segments: [HTTPRoute.Segment]) -> Bool {
        guard segments.count == parts.count else { return false }
        return zip(parts, segments).allSatisfy { part, segment in
            if case .literal(let own) = part, case .literal(let text) = segment { own == text } else { true }
        }
    }

    /// The text of the argument in a request's path; `nil` when the path has no argument of this name.
    func value(_ name: String, in segments: [String]) -> String? {
        guard let index = parts.firstIndex(of: .argument(name)), segments.indices.contains(index) else { return nil }
        return segments[index]
    }

    /// The parts before the first argument, between slashes; no command may lie under them.
    var literalStart: String {
        var text = ""
        for case .literal(let part) in parts.prefix(while: { if case .literal = $0 { true } else { false } }) {
            text += "/" + part
        }
        return text
    }

    /// The path as written.
    public var description: String {
        parts.map { part in
            switch part {
            case .literal(let text): "/" + text
            case .argument(let name): "/{" + name + "}"
            }
        }.joined()
    }
}
