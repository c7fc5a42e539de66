import HTTPCodec

/// The commands' own routes, and the choice among them.
///
/// When several paths fit, the one with the earliest literal part wins: `/v1/shops/nearby` before `/v1/shops/{shopId}`.
struct RouteTable: Sendable {
    private struct Entry: Sendable {
        let route: HTTPRoute
        let descriptor: CommandDescriptor
    }

    /// The routes by number of parts; those of one number in order of preference.
    private var entries: [Int: [Entry]] = [:]

    init(_ commands: [CommandDescriptor]) {
        for descriptor in commands {
            for route in descriptor.routes {
                entries[route.path.segments.count, default: []].append(Entry(route: route, descriptor: descriptor))
            }
        }
        for count in entries.keys {
            entries[count]?.sort { RouteTable.rank($0.route) < RouteTable.rank($1.route) }
        }
    }

    /// Sorts literals before arguments, part by part from the left, then by text so that the order is always the same.
    private static func rank(_ route: HTTPRoute) -> String {
        route.path.segments.map { segment in
            if case .literal = segment { return "0" }
            return "1"
        }.joined() + route.description
    }

    func match(_ method: HTTPMethod, _ segments: [String]) -> RouteMatch {
        let fitting = (entries[segments.count] ?? []).filter { $0.route.path.fits(segments) }
        guard !fitting.isEmpty else { return .none }
        let wanted = method == .head ? .get : method
        guard let found = fitting.first(where: { $0.route.method == wanted }) else {
            let methods = Set(fitting.map(\.route.method))
            return .methodNotAllowed(
                HTTPMethod.allCases.filter { methods.contains($0) || ($0 == .head && methods.contains(.get)) })
        }
        return .command(
            found.descriptor, found.route,
            zip(found.route.path.segments, segments).compactMap { segment, text in
                guard case .argument(let name) = segment else { return nil }
                return TextArgument(name: name, value: Array(text.utf8))
            })
    }
}
