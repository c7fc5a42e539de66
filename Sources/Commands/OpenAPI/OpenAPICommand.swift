import Core
import HTTPCodec
import Rights

/// The operations of one command: `POST /v1/commands/NAME` and its own routes.
struct OpenAPICommand {
    private let descriptor: CommandDescriptor
    private let errors: [RouteErrors]

    init(_ descriptor: CommandDescriptor, _ errors: [RouteErrors]) {
        self.descriptor = descriptor
        self.errors = errors
    }

    func add(to paths: inout OpenAPIPaths) {
        let path = "/v1/commands/" + descriptor.name
        paths.add("post", path, shape: path, .command(descriptor)) { _ in operation(descriptor.name, nil, path) }
        var counts: [HTTPMethod: Int] = [:]
        for route in descriptor.routes {
            counts[route.method, default: 0] += 1
            let (method, count) = (route.method.rawValue.lowercased(), counts[route.method, default: 0])
            // No name of a command has a dash, so these ids are always free.
            let id = descriptor.name + "-" + method + (count > 1 ? "-\(count)" : "")
            paths.add(method, route.path.description, shape: route.path.shape, .command(descriptor)) {
                operation(id, route, $0)
            }
        }
    }

    /// The topic of the command's home, with the argument's name on the wire; `*` for an id that callers do not give.
    private var home: String? {
        descriptor.home.map { home in
            let argument = descriptor.arguments.first { $0.name == home.variable }?.wire
            return home.namespace + ":" + (argument.map { "{\($0)}" } ?? "*")
        }
    }

    private func operation(_ id: String, _ route: HTTPRoute?, _ path: String) -> JSONNode {
        let inPath = route?.path.arguments ?? []
        let others = descriptor.arguments.filter { !inPath.contains($0.wire) }
        let isGet = route?.method == .get
        let parameters =
            (route.map { pathParameters($0, path) } ?? []) + (isGet ? others.map { queryParameter($0) } : [])
            + (descriptor.isReadOnly ? [] : [OpenAPICommand.idempotencyKey])
        return
            ([
                "operationId": .text(id), "summary": .text(descriptor.summary), "description": .text(description),
                "tags": [.text(descriptor.file.name)], "security": security,
                "x-weight": .int(descriptor.weightMicroseconds),
                "x-right": .text((descriptor.isReadOnly ? CallerUse.read : .write).rawValue),
            ] as JSONNode)
            .with("x-home", home.map { .text($0) })
            .with("x-emits", events)
            .with("x-rate", descriptor.rates.isEmpty ? nil : .array(descriptor.rates.map { .text($0.description) }))
            .with("parameters", parameters.isEmpty ? nil : .array(parameters))
            .with("requestBody", isGet ? nil : body(others))
            .with("responses", responses(route))
    }

    /// The schemas of the events by name, each in the form of a script that emits it.
    private var events: JSONNode? {
        var members: [(name: String, value: JSONNode)] = []
        for event in descriptor.emits where !members.contains(where: { $0.name == event.name }) {
            members.append((event.name, OpenAPIValues.schema(event.data.type)))
        }
        return members.isEmpty ? nil : .object(members)
    }

    /// The header that names the operation, for requests without a body or with another meaning of `id`.
    private static let idempotencyKey: JSONNode = [
        "name": "Idempotency-Key", "in": "header", "schema": OpenAPISchemas.reference("OperationId"),
    ]

    private var description: String {
        var lines = ["Cost: " + descriptor.cost]
        for event in descriptor.emits {
            lines.append(
                "Emits \(event.name) \(event.data.type)" + (event.data.text.isEmpty ? "" : ": " + event.data.text))
        }
        if let via = descriptor.via {
            let kept = via.cacheSeconds > 0 ? " Answers are kept for \(via.cacheSeconds) s." : ""
            lines.append(
                "Answered by the service \(via.service), outside." + kept
                    + " While it cannot be asked, or takes too long, the answer is 503.")
        }
        return lines.joined(separator: "\n\n")
    }

    private var security: JSONNode {
        let schemes: [JSONNode] = [["apikey": []], ["bearer": []]]
        return .array(schemes + (descriptor.rights.roles.contains(.anonymous) ? [.object([])] : []))
    }

    private func responses(_ route: HTTPRoute?) -> JSONNode {
        let (status, returns) = (route?.status ?? 200, descriptor.returns.text)
        let parts = route.map { $0.path.description.split(separator: "/").map { String($0) } }
        let success: JSONNode =
            status == 204
            ? ["description": "Done; nothing is answered."]
            : [
                "description": .text(returns.isEmpty ? "The answer." : returns),
                "content": OpenAPIErrors.content(answer),
            ]
        return OpenAPIErrors.responses(
            status, success, errors: [401, 403, 429, 503] + (descriptor.isReadOnly ? [] : [409]),
            declared: descriptor.errors + (descriptor.via == nil ? [] : [DeclaredError(.unavailable)]),
            retold: parts.flatMap { parts in errors.owner(of: parts) })
    }

    /// The name of the component that is the schema of the answer; `nil` when a declared type is.
    static func component(_ descriptor: CommandDescriptor) -> String? {
        if case .named = descriptor.returns.type, descriptor.mint == nil { return nil }
        // No type of a pack has such a name: ``TypeTable`` refuses it.
        return descriptor.name + ".answer"
    }

    /// A reference to the schema of the answer.
    private var answer: JSONNode {
        OpenAPICommand.component(descriptor).map { OpenAPISchemas.reference($0) }
            ?? OpenAPIValues.schema(descriptor.returns.type)
    }

    /// The schema of the answer.
    ///
    /// The gateway adds the token that a command makes to the answer of its script.
    static func answer(_ descriptor: CommandDescriptor) -> JSONNode {
        guard let mint = descriptor.mint else { return OpenAPIValues.schema(descriptor.returns) }
        let token: JSONNode = [
            "type": "string",
            "description": .text(
                "Where the command makes one: a token of the gateway's own, for \(mint.topic) and nothing else. It ends "
                    + "after \(mint.seconds) seconds."),
        ]
        let added: JSONNode = ["type": "object", "properties": ["token": token]]
        return ["allOf": [OpenAPIValues.schema(descriptor.returns), added]]
    }

    // MARK: Arguments

    /// The parameters in the path; another command's route of the same shape may have named them.
    private func pathParameters(_ route: HTTPRoute, _ path: String) -> [JSONNode] {
        let names = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        return zip(names, route.path.arguments).compactMap { name, argument in
            descriptor.arguments.first { $0.wire == argument }.map { declaration in
                [
                    "name": .text(name), "in": "path", "required": true,
                    "schema": OpenAPISchemas.path(declaration),
                ]
            }
        }
    }

    private func queryParameter(_ argument: ArgumentDeclaration) -> JSONNode {
        let parameter: JSONNode = [
            "name": .text(argument.wire), "in": "query", "required": .bool(descriptor.needs(argument)),
        ]
        let schema = OpenAPISchemas.query(argument)
        switch argument.type {
        case .json: return parameter.with("content", OpenAPIErrors.content(schema))
        case .ids: return parameter.with("style", "form").with("explode", false).with("schema", schema)
        default: return parameter.with("schema", schema)
        }
    }

    private func body(_ arguments: [ArgumentDeclaration]) -> JSONNode {
        let needed = arguments.filter { descriptor.needs($0) }
        let members = arguments.map { ($0.wire, OpenAPISchemas.argument($0, isNeeded: descriptor.needs($0))) }
        let operation = OpenAPISchemas.orNull(OpenAPISchemas.reference("OperationId"))
        let schema: JSONNode = [
            "type": "object", "additionalProperties": false,
            "properties": .object(members + (descriptor.takesID ? [] : [("id", operation)])),
            "required": .array(needed.map { .text($0.wire) }),
        ]
        return ["required": .bool(!needed.isEmpty), "content": OpenAPIErrors.content(schema)]
    }
}
