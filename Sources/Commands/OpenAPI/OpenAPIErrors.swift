import Core

/// The errors the gateway answers with, by status.
enum OpenAPIErrors {
    /// The statuses that any request may receive, whatever it asks for.
    static let everywhere = [400, 408, 413, 414, 415, 417, 431, 500, 501, 505]

    /// A reference to the shared response of a status.
    static func reference(_ status: Int) -> JSONNode {
        ["$ref": .text("#/components/responses/Error\(status)")]
    }

    /// The statuses that are sent before the path is known, and so in the gateway's own form on every route.
    private static let beforeThePath = [400, 408, 414, 431, 501, 505]

    /// A body of JSON.
    static func content(_ schema: JSONNode) -> JSONNode {
        ["application/json": ["schema": schema]]
    }

    /// The responses of an operation: the success, then the errors by status.
    ///
    /// `declared` are errors beyond the shared ones; the description lists their codes. `retold` is the form of errors
    /// on a pack's routes.
    static func responses(
        _ status: Int, _ success: JSONNode, errors: [Int], declared: [DeclaredError] = [], retold: RouteErrors? = nil
    ) -> JSONNode {
        let all = Set(errors + everywhere + declared.map(\.status))
        let others = retold?.statuses.filter { all.contains($0.key.httpStatus) }.map(\.value) ?? []
        return .object(
            [("\(status)", success)]
                + all.union(others).sorted().map { status in
                    let codes = declared.filter { $0.status == status }.map(\.code)
                    return ("\(status)", error(status, codes, retold))
                })
    }

    private static func error(_ status: Int, _ codes: [String], _ retold: RouteErrors?) -> JSONNode {
        let meaning = OpenAPIComponents.errors[status] ?? retold.map { _ in "The request cannot be done." }
        if retold == nil, meaning != nil, codes.isEmpty { return reference(status) }
        let words = [meaning, codes.isEmpty ? nil : "Codes: " + codes.joined(separator: ", ") + "."]
        var schema = OpenAPISchemas.reference("Error")
        if let retold {
            let shapes = [retold.body] + retold.bodies.sorted { $0.key < $1.key }.map(\.value)
            schema = ["anyOf": .array(shapes.map(\.schema) + (beforeThePath.contains(status) ? [schema] : []))]
        }
        return ["description": .text(words.compactMap(\.self).joined(separator: " ")), "content": content(schema)]
    }
}
