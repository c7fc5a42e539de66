import APIDescription
import Core
import HTTPCodec
import Rights

/// The operations of the gateway's own routes, which `api/routes.json` describes.
struct OpenAPIGateway {
    private let operations: [String: JSONNode]
    private let absent: Set<GatewayRoute.Name>

    /// Reads the operation of each route.
    ///
    /// A route that is not described is a problem, and so is a description that no route has. Commands describe
    /// themselves.
    init(
        _ limits: Limits, _ catalogue: Catalogue, hasOperations: Bool, routes: [UInt8] = APIDescription.routes,
        parts: [UInt8] = APIDescription.parts
    ) throws(OpenAPITemplate.Problem) {
        let template = try OpenAPITemplate(OpenAPIGateway.values(limits, catalogue), parts: parts)
        operations = Dictionary(try template.members(of: routes).map { ($0.name, $0.value) }) { first, _ in first }
        let wanted = Set(GatewayRoute.Name.allCases.map(\.rawValue)).subtracting([GatewayRoute.Name.command.rawValue])
        if let name = wanted.symmetricDifference(operations.keys).min() {
            let text = wanted.contains(name) ? "the route \(name) is not described" : "there is no route \(name)"
            throw OpenAPITemplate.Problem(text: text)
        }
        absent = Set(
            (catalogue.exporters.isEmpty ? [.exportUser] : []) + (catalogue.erasers.isEmpty ? [.eraseUser] : [])
                + (hasOperations ? [] : GatewayRoutes.all.filter(\.isOfOperations).map(\.name)))
    }

    /// Adds an operation for each route of this gateway.
    func add(to paths: inout OpenAPIPaths) {
        for route in GatewayRoutes.all where !absent.contains(route.name) {
            guard let operation = operations[route.name.rawValue] else { continue }
            let path = route.path.description
            paths.add(route.method.rawValue.lowercased(), path, shape: path, .gateway(route)) { _ in
                operation.with("x-right", route.use.map { .text($0.rawValue) })
            }
        }
    }

    /// The values that the texts may name: each limit, and what the scripts decide.
    private static func values(_ limits: Limits, _ catalogue: Catalogue) -> [String: JSONNode] {
        let exporters = catalogue.exporters
        var values: [String: JSONNode] = [
            "presencePageDefault": .int(min(100, limits.presencePageMax)),
            "exportNames": .array(exporters.map { .text($0.exportName) }),
            "exportSchemas": .object(
                exporters.map {
                    let value = OpenAPIValues.schema(catalogue.writtenOut($0.returns.type))
                    return ($0.exportName, value.with("description", .text($0.summary)))
                }),
            "exportWeight": weight(exporters), "erasureWeight": weight(catalogue.erasers),
        ]
        for limit in Limits.table { values[limit.name] = .int(limits[keyPath: limit.path]) }
        return values
    }

    private static func weight(_ scripts: [CommandDescriptor]) -> JSONNode {
        .int(scripts.reduce(0) { $0 + $1.weightMicroseconds })
    }
}
