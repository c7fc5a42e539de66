/// The path of a route, whose parts may be arguments: `/v1/topics/{topic}`.
public struct RoutePath: Hashable, Sendable, CustomStringConvertible {
    /// One part of the path.
    enum Segment: Hashable, Sendable {
        /// Exactly this text.
        case literal(String)
        /// Any text, by the argument's name: on the wire for a command, for readers in a route of the gateway's own.
        case argument(String)

        func fits(_ text: String) -> Bool {
            if case .literal(let own) = self { own == text } else { true }
        }
    }

    /// The parts between slashes.
    let segments: [Segment]

    init(_ segments: [Segment]) {
        self.segments = segments
    }

    /// Reads a path that is written in the code.
    init(_ text: StaticString) {
        segments = text.description.split(separator: "/").map { part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .argument(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
    }

    /// The arguments, in order.
    var arguments: [String] {
        segments.compactMap { segment in
            if case .argument(let name) = segment { name } else { nil }
        }
    }

    /// The path with other names for its arguments.
    func renamed(_ name: (String) -> String) -> RoutePath {
        RoutePath(
            segments.map { segment -> Segment in
                if case .argument(let old) = segment { .argument(name(old)) } else { segment }
            })
    }

    /// Whether the decoded parts of a request's path belong to this path.
    func fits(_ texts: [String]) -> Bool { segments.count == texts.count && mayBegin(with: texts) }

    /// Whether a request of this path may begin with these parts.
    func mayBegin(with texts: [String]) -> Bool {
        segments.count >= texts.count && zip(segments, texts).allSatisfy { $0.fits($1) }
    }

    /// Whether a request exists that both paths match.
    func overlaps(_ other: RoutePath) -> Bool {
        guard segments.count == other.segments.count else { return false }
        return zip(segments, other.segments).allSatisfy { own, other in
            if case .literal(let text) = other { own.fits(text) } else { true }
        }
    }

    /// The text of the argument in a request's path; `nil` when the path has no argument of this name.
    func value(_ name: String, in texts: [String]) -> String? {
        guard let index = segments.firstIndex(of: .argument(name)), texts.indices.contains(index) else { return nil }
        return texts[index]
    }

    /// The parts before the first argument, between slashes; no command may lie under them.
    var literalStart: String {
        var text = ""
        for case .literal(let part) in segments.prefix(while: { if case .literal = $0 { true } else { false } }) {
            text += "/" + part
        }
        return text
    }

    /// The path with `{}` for each argument; two routes with one shape and method are the same route.
    var shape: String { renamed { _ in "" }.description }

    /// The path as written.
    public var description: String {
        segments.map { segment in
            switch segment {
            case .literal(let text): "/" + text
            case .argument(let name): "/{" + name + "}"
            }
        }.joined()
    }
}
