import Core

/// The errors the gateway answers with, by status.
enum OpenAPIErrors {
    /// The meaning of each status in the shared responses.
    private static let meanings: [(status: Int, meaning: String)] = [
        (400, "The request is malformed; repeating it is useless."),
        (401, "The credentials are missing or not valid."),
        (403, "The credentials do not give the right."),
        (404, "There is no such thing."),
        (408, "The request did not arrive in time."),
        (409, "The state does not allow it, or the id was used for another request."),
        (413, "The body is too large."),
        (414, "The request line is too long."),
        (415, "The body has a content coding, and none is taken."),
        (417, "The request expects what this server does not do."),
        (429, "Too many requests; try later."),
        (431, "The header fields are too large."),
        (500, "A fault of the gateway or a script."),
        (501, "The method or transfer coding is not known."),
        (503, "Redis cannot take it now; Retry-After tells when to come back."),
        (505, "The HTTP version is not 1.0 or 1.1."),
    ]

    /// The statuses that any request may receive, whatever it asks for.
    static let everywhere = [400, 408, 413, 414, 415, 417, 431, 500, 501, 505]

    /// The shared responses.
    static var shared: JSONNode {
        .object(meanings.map { ("Error\($0.status)", response($0.meaning)) })
    }

    private static func response(
        _ description: String, _ schema: JSONNode = OpenAPISchemas.reference("Error")
    ) -> JSONNode {
        ["description": .text(description), "content": content(schema)]
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
        let all = Set(errors + everywhere + declared.map(\.status)).sorted()
        if let retold { return self.retold(status, success, all, declared, retold) }
        return .object(
            [("\(status)", success)]
                + all.map { status in
                    let codes = declared.filter { $0.status == status }.map(\.code)
                    let meaning = meanings.first { $0.status == status }?.meaning
                    guard !codes.isEmpty || meaning == nil else {
                        return ("\(status)", ["$ref": .text("#/components/responses/Error\(status)")])
                    }
                    let words = [meaning, "Codes: " + codes.joined(separator: ", ") + "."].compactMap(\.self)
                    return ("\(status)", response(words.joined(separator: " ")))
                })
    }

    private static func retold(
        _ status: Int, _ success: JSONNode, _ all: [Int], _ declared: [DeclaredError], _ errors: RouteErrors
    ) -> JSONNode {
        let others = errors.statuses.filter { all.contains($0.key.httpStatus) }.map(\.value)
        let shapes = [errors.body] + errors.bodies.sorted { $0.key < $1.key }.map(\.value)
        return .object(
            [("\(status)", success)]
                + Set(all + others).sorted().map { status in
                    let codes = declared.filter { $0.status == status }.map(\.code)
                    let meaning = meanings.first { $0.status == status }?.meaning ?? "The request cannot be done."
                    let own = beforeThePath.contains(status) ? [OpenAPISchemas.reference("Error")] : []
                    let text = codes.isEmpty ? meaning : meaning + " Codes: " + codes.joined(separator: ", ") + "."
                    return ("\(status)", response(text, ["anyOf": .array(shapes.map(\.schema) + own)]))
                })
    }
}
