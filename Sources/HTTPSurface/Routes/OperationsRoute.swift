import Core
import HTTPCodec
import Operations
import Reactors
import Rights

/// `/livez`, `/readyz`, `/metrics`: for balancers, supervisors and Prometheus.
///
/// On a listener for clients, only `/livez` is public. The others reveal load and the state of Redis, and are answered
/// to this machine alone.
///
/// Thread: the shard's.
struct OperationsRoute {
    let context: HTTPContext
    let metrics: Metrics
    let pages: PageCheck

    private static let names = ["livez", "readyz", "metrics"]

    /// Whether the path is one of these.
    static func owns(_ path: [UInt8]) -> Bool {
        path.first == UInt8(ascii: "/") && names.contains { path.dropFirst().elementsEqual($0.utf8) }
    }

    /// Answers the request if it is one of these; false when it is not.
    ///
    /// `isPrivate`: it arrived on the listener of operations, where every caller may use all of them.
    func answers(_ request: HTTPRequest, isPrivate: Bool, _ respond: Respond) -> Bool {
        guard request.segments.count == 1, let name = request.segments.first,
            OperationsRoute.names.contains(name)
        else { return false }
        guard request.head.method == .get || request.head.method == .head else {
            respond(.methodNotAllowed([.get, .head], keepAlive: true))
            return true
        }
        guard isPrivate || name == "livez" || request.origin.isLocal || isOfInspector(request) else {
            let text = "served to this machine only; give the gateway --ops to serve it to others"
            respond(.refusal(Refusal(.forbidden, text), keepAlive: true))
            return true
        }
        if !isPrivate, name != "livez", let refusal = pages.refusalOfForeign(request.head, request.origin) {
            respond(.refusal(refusal, keepAlive: true))
            return true
        }
        switch name {
        case "livez": respond(.json(status: 200, body: Array("{\"status\":\"alive\"}".utf8), keepAlive: true))
        case "readyz": respond(readiness())
        default:
            let text = metrics.text()
            respond(.typed("text/plain; version=0.0.4; charset=utf-8", status: 200, body: text, keepAlive: true))
        }
        return true
    }

    /// Whether the inspector, served to clients' listeners too, asks for metrics with a key that may read.
    func isOfInspector(_ request: HTTPRequest) -> Bool {
        guard context.options.servesInspector, request.segments == ["metrics"], request.caller.isService else {
            return false
        }
        return request.caller.binding == nil && request.caller.refusal(of: .read) == nil
    }

    /// 200 only while no row of readiness is red.
    ///
    /// With `--ready-partial`, also while some masters of a cluster fail; they are listed. Otherwise 503 with the
    /// reasons, most important first.
    private func readiness() -> HTTPResponse {
        context.health.checkLoops(metrics.figures.shards.all)
        let health = context.health
        let conditions = health.conditions
        guard let first = conditions.first else {
            var body: [UInt8] = []
            let age = health.probeAgeMs(nowMs: Clock.monotonicMs()) ?? 0
            body.append(text: "{\"status\":\"ready\",\"probeAgeMs\":\(age)")
            appendWarnings(to: &body)
            body.append(text: "}")
            return .json(status: 200, body: body, keepAlive: true)
        }
        let isPartlyReady = health.isReady
        var body: [UInt8] = []
        body.append(text: "{\"status\":\"\(isPartlyReady ? "partly ready" : "not ready")\",\"reason\":")
        body.append(jsonString: first.reason.label)
        body.append(text: ",\"conditions\":[")
        for (index, condition) in conditions.enumerated() {
            body.append(text: index == 0 ? "{\"part\":" : ",{\"part\":")
            body.append(jsonString: condition.part.name)
            if let shard = condition.part.shard { body.append(text: ",\"shard\":\(shard)") }
            body.append(text: ",\"reason\":")
            body.append(jsonString: condition.reason.label)
            body.append(text: "}")
        }
        body.append(text: "],\"reasons\":[")
        for (index, row) in health.reasons.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body.append(jsonString: row.rawValue)
        }
        body.append(text: "]")
        appendWarnings(to: &body)
        body.append(text: "}")
        guard !isPartlyReady else { return .json(status: 200, body: body, keepAlive: true) }
        var response = HTTPResponse.json(status: 503, body: body, keepAlive: true)
        response.setRetryAfter(seconds: 1)
        return response
    }

    /// Adds the faults that all nodes share: name, start time and mend.
    private func appendWarnings(to body: inout [UInt8]) {
        let warnings = context.health.warnings
        guard !warnings.isEmpty else { return }
        body.append(text: ",\"warnings\":[")
        for (index, warning) in warnings.enumerated() {
            let since = Timestamp.text(wallMs: warning.sinceMs ?? 0)
            body.append(text: index == 0 ? "{\"name\":" : ",{\"name\":")
            body.append(jsonString: warning.row.rawValue)
            body.append(text: ",\"since\":\"\(since)\",\"mend\":")
            body.append(jsonString: warning.mend)
            body.append(text: "}")
        }
        body.append(text: "]")
    }
}
