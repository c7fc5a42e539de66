import Core
import HTTPCodec
import Rights

/// The routes of the gateway itself.
struct OpenAPIGateway {
    private let limits: Limits
    private let userData: OpenAPIUserData
    private let hasOperations: Bool

    init(_ limits: Limits, _ catalogue: Catalogue, hasOperations: Bool) {
        self.limits = limits
        userData = OpenAPIUserData(catalogue)
        self.hasOperations = hasOperations
    }

    /// Adds an operation for each route of this gateway.
    func add(to paths: inout OpenAPIPaths) {
        for route in GatewayRoutes.all {
            guard let operation = operation(of: route.name) else { continue }
            let path = route.path.description
            paths.add(route.method.rawValue.lowercased(), path, shape: path, .gateway(route)) { _ in
                operation.with("x-right", route.use.map { .text($0.rawValue) })
            }
        }
    }

    /// The description of a route; `nil` for one that this gateway does not have, or that the commands describe.
    private func operation(of name: GatewayRoute.Name) -> JSONNode? {
        switch name {
        case .broadcast: Self.broadcast(limits)
        case .realtimeBroadcast: Self.supabase(limits)
        case .realtimeBroadcastOne: Self.supabaseOne(limits)
        case .topic: Self.topic
        case .events: Self.events(limits)
        case .presence: OpenAPIPresence.presence(limits)
        case .audit: OpenAPIAudit.audit
        case .addMember: OpenAPIRights.member(takesIn: true)
        case .removeMember: OpenAPIRights.member(takesIn: false)
        case .revoke: OpenAPIRights.revocation
        case .exportUser: userData.export
        case .eraseUser: userData.erasure
        case .deadLetters: OpenAPIDeadLetters.list
        case .dropDeadLetters: OpenAPIDeadLetters.drop
        case .retryDeadLetters: OpenAPIDeadLetters.retry
        case .health: OpenAPIHealth.health
        case .openAPI: Self.description
        case .livez: hasOperations ? Self.liveness : nil
        case .readyz: hasOperations ? Self.readiness : nil
        case .metrics: hasOperations ? Self.metrics : nil
        case .command: nil
        }
    }

    static func operation(_ id: String, _ summary: String, security: JSONNode) -> JSONNode {
        [
            "operationId": .text("gateway-" + id), "summary": .text(summary), "tags": ["gateway"],
            "security": security,
        ]
    }

    static let services: JSONNode = [["apikey": []], ["bearer": []]]
    static let anyone: JSONNode = [["apikey": []], ["bearer": []], [:]]
    private static let open: JSONNode = []

    static func answer(_ description: String, _ schema: JSONNode) -> JSONNode {
        ["description": .text(description), "content": OpenAPIErrors.content(schema)]
    }

    // MARK: Broadcast

    /// The pattern of topic names of Supabase's clients: a topic of the namespace `phoenix` is named by its id alone.
    private static let channelName: JSONNode = [
        "type": "string",
        "pattern": "^([a-z][a-z0-9-]{0,31}:[A-Za-z0-9._~:-]{1,200}|[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,199})$",
    ]

    private static func message(_ limits: Limits, payload: String, isOpen: Bool) -> JSONNode {
        let members: JSONNode = [
            "topic": isOpen ? channelName : OpenAPISchemas.reference("Topic"),
            "event": OpenAPISchemas.reference("EventName"),
        ]
        let object: JSONNode = [
            "type": "object", "description": .text("At most \(limits.publishBytesMax) bytes of JSON."),
        ]
        let schema: JSONNode = [
            "type": "object", "required": ["topic", "event", .text(payload)],
            "properties": members.with(payload, object).with("id", OpenAPISchemas.reference("OperationId")),
        ]
        return isOpen ? schema : schema.with("additionalProperties", false)
    }

    private static func messages(_ item: JSONNode, _ limits: Limits) -> JSONNode {
        [
            "type": "object", "required": ["messages"],
            "properties": [
                "messages": ["type": "array", "minItems": 1, "maxItems": .int(limits.batchMax), "items": item]
            ],
        ]
    }

    /// A message, or anything else: a batch is checked message by message, so a wrong one does not affect the others.
    private static func orError(_ message: JSONNode) -> JSONNode {
        ["anyOf": [message, ["description": "Whatever is no message gets an error in its place."]]]
    }

    private static func broadcast(_ limits: Limits) -> JSONNode {
        let message = message(limits, payload: "data", isOpen: false)
        let item: JSONNode = [
            "oneOf": [OpenAPISchemas.reference("Receipt"), OpenAPISchemas.reference("Error")]
        ]
        let results: JSONNode = [
            "type": "object", "required": ["results"],
            "properties": ["results": ["type": "array", "items": item]],
        ]
        let success = answer(
            "Committed in Redis. A batch gets one result or error for each message, in order.",
            ["oneOf": [OpenAPISchemas.reference("Receipt"), results]])
        return operation("broadcast", "Publish an event, or a batch of events.", security: services)
            .with(
                "requestBody",
                [
                    "required": true,
                    "content": OpenAPIErrors.content([
                        "oneOf": [message, messages(orError(message), limits).with("additionalProperties", false)]
                    ]),
                ]
            )
            .with("responses", OpenAPIErrors.responses(200, success, errors: [401, 403, 404, 503]))
    }

    private static func supabase(_ limits: Limits) -> JSONNode {
        let message = message(limits, payload: "payload", isOpen: true)
        return operation("realtime-broadcast", "Publish events as Supabase's clients do.", security: services)
            .with(
                "requestBody",
                ["required": true, "content": OpenAPIErrors.content(messages(message, limits))]
            )
            .with("responses", supabaseResponses)
    }

    private static func supabaseOne(_ limits: Limits) -> JSONNode {
        let parameters: JSONNode = [
            ["name": "topic", "in": "path", "required": true, "schema": channelName],
            ["name": "event", "in": "path", "required": true, "schema": OpenAPISchemas.reference("EventName")],
        ]
        let payload: JSONNode = [
            "type": "object", "description": .text("At most \(limits.publishBytesMax) bytes of JSON."),
        ]
        return operation("realtime-broadcast-one", "Publish one event as Supabase's clients do.", security: services)
            .with("parameters", parameters)
            .with("requestBody", ["required": true, "content": OpenAPIErrors.content(payload)])
            .with("responses", supabaseResponses)
    }

    /// The responses in the form that Supabase's clients read; errors of the request itself have the usual form.
    private static var supabaseResponses: JSONNode {
        let text: JSONNode = [
            "type": "object", "required": ["message"], "properties": ["message": ["type": "string"]],
        ]
        let list: JSONNode = [
            "type": "object", "required": ["errors"],
            "properties": [
                "errors": [
                    "type": "object", "required": ["messages"], "properties": ["messages": ["type": "array"]],
                ]
            ],
        ]
        let success: JSONNode = ["description": "All messages are committed in Redis."]
        guard case .object(let shared) = OpenAPIErrors.responses(202, success, errors: []) else { return [:] }
        return JSONNode.object(shared.filter { $0.0 != "415" })
            .with("401", answer("The credentials are missing or not valid.", text))
            .with("403", answer("The credentials do not give the right to publish there.", text))
            .with("409", answer("An id was used for another event.", text))
            .with("415", answer("The body is neither JSON nor bytes.", ["type": "object"]))
            .with("422", answer("A message is wrong, and none was published.", list))
            .with("429", answer("Too many messages; Retry-After tells when to come back.", text))
            .with("503", answer("Redis cannot take it now; Retry-After tells when to come back.", text))
    }

    // MARK: Topics

    static let topicParameter: JSONNode = [
        "name": "topic", "in": "path", "required": true, "schema": OpenAPISchemas.reference("Topic"),
    ]

    /// `null` for a topic without events and subscribers so far.
    private static let epoch: JSONNode = ["type": ["string", "null"]]

    private static var topic: JSONNode {
        let subscribers: JSONNode = [
            "type": "object", "required": ["sessions", "nodes"],
            "properties": [
                "sessions": [
                    "type": "integer", "minimum": 0, "description": "Sessions of this gateway on the topic.",
                ],
                "nodes": ["type": "integer", "minimum": 0, "description": "Gateways subscribed to the topic."],
            ],
        ]
        let schema: JSONNode = [
            "type": "object", "required": ["topic", "epoch", "offset", "subscribers", "state"],
            "properties": [
                "topic": OpenAPISchemas.reference("Topic"), "epoch": epoch,
                "offset": OpenAPISchemas.reference("Offset"), "subscribers": subscribers,
                "state": ["type": ["object", "null"]],
            ],
        ]
        return operation("topic", "Where a topic stands, who is subscribed, and its state.", security: anyone)
            .with("parameters", [topicParameter])
            .with(
                "responses",
                OpenAPIErrors.responses(200, answer("The topic.", schema), errors: [401, 403, 404, 503]))
    }

    private static func events(_ limits: Limits) -> JSONNode {
        let event: JSONNode = [
            "type": "object", "required": ["event", "offset", "data"],
            "properties": [
                "event": OpenAPISchemas.reference("EventName"), "offset": OpenAPISchemas.reference("Offset"),
                "id": ["type": "string"], "data": ["type": "object"],
            ],
        ]
        let schema: JSONNode = [
            "type": "object", "required": ["topic", "epoch", "offset", "first", "events", "next"],
            "properties": [
                "topic": OpenAPISchemas.reference("Topic"), "epoch": epoch,
                "offset": OpenAPISchemas.reference("Offset"),
                "first": ["type": "integer", "minimum": 0, "description": "The oldest offset kept; 0: none is."],
                "events": ["type": "array", "items": event],
                "next": [
                    "type": ["integer", "null"], "description": "The `after` of the next page; null: this is the last.",
                ],
            ],
        ]
        let after: JSONNode = [
            "name": "after", "in": "query",
            "schema": ["type": "integer", "minimum": 0, "default": 0],
        ]
        let limit: JSONNode = [
            "name": "limit", "in": "query",
            "schema": [
                "type": "integer", "minimum": 1, "maximum": .int(limits.historyPageMax),
                "default": 100,
            ],
        ]
        return operation("topic-events", "A page of a topic's log.", security: anyone)
            .with("parameters", [topicParameter, after, limit])
            .with(
                "responses",
                OpenAPIErrors.responses(200, answer("The events.", schema), errors: [401, 403, 404, 503]))
    }

    // MARK: Operations

    private static func status(_ word: String, _ more: String, _ schema: JSONNode) -> JSONNode {
        [
            "type": "object", "required": ["status", .text(more)],
            "properties": (["status": ["const": .text(word)]] as JSONNode).with(more, schema),
        ]
    }

    private static var metrics: JSONNode {
        let text: JSONNode = ["text/plain": ["schema": ["type": "string"]]]
        return operation("metrics", "Figures for Prometheus.", security: open)
            .with(
                "responses",
                OpenAPIErrors.responses(200, ["description": "The figures.", "content": text], errors: [403]))
    }

    private static var description: JSONNode {
        let schema: JSONNode = [
            "type": "object", "required": ["openapi"], "properties": ["openapi": ["const": "3.1.0"]],
        ]
        return operation("openapi", "This document: what its reader may call.", security: anyone)
            .with(
                "responses",
                OpenAPIErrors.responses(200, answer("OpenAPI 3.1.", schema), errors: [401, 429, 503])
                    .with("304", ["description": "It is the one that If-None-Match names."]))
    }

    private static var liveness: JSONNode {
        let schema: JSONNode = [
            "type": "object", "required": ["status"], "properties": ["status": ["const": "alive"]],
        ]
        return operation("livez", "Whether the process runs.", security: open)
            .with("responses", OpenAPIErrors.responses(200, answer("It runs.", schema), errors: []))
    }

    private static var readiness: JSONNode {
        let ready = answer(
            "Events published through Redis come back.",
            status("ready", "probeAgeMs", ["type": "integer", "minimum": 0]))
        let condition: JSONNode = [
            "type": "object", "required": ["part", "reason"],
            "properties": ["part": ["type": "string"], "reason": ["type": "string"]],
        ]
        let schema: JSONNode = [
            "type": "object", "required": ["status", "reason", "reasons", "conditions"],
            "properties": [
                "status": ["const": "not ready"], "reason": ["type": "string"],
                "reasons": ["type": "array", "items": ["type": "string"], "minItems": 1],
                "conditions": ["type": "array", "items": condition, "minItems": 1],
            ],
        ]
        let notReady = answer("Not now; the reasons are told, what matters most first.", schema)
        return operation("readyz", "Whether the gateway can serve.", security: open)
            .with("responses", OpenAPIErrors.responses(200, ready, errors: []).with("503", notReady))
    }
}
