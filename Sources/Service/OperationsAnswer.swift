import Core
public import HTTPCodec

/// The answers of an ``OperationsPeer``: `/livez`, `/readyz`, `/metrics`.
public enum OperationsAnswer {
    /// The answer to a request; `trouble` is the reason for not being ready, `metrics` is one page.
    public static func response(
        to head: HTTPRequestHead, isReady: Bool, trouble: String, metrics: @autoclosure () -> [UInt8]
    ) -> HTTPResponse {
        switch String(decoding: head.path, as: UTF8.self) {
        case "/livez": .json(status: 200, body: Array("{\"status\":\"alive\"}".utf8), keepAlive: false)
        case "/readyz": readiness(isReady, trouble)
        case "/metrics":
            .typed("text/plain; version=0.0.4; charset=utf-8", status: 200, body: metrics(), keepAlive: false)
        default: .refusal(Refusal(.notFound, "there is no such path"), keepAlive: false)
        }
    }

    private static func readiness(_ isReady: Bool, _ trouble: String) -> HTTPResponse {
        if isReady { return .json(status: 200, body: Array("{\"status\":\"ready\"}".utf8), keepAlive: false) }
        var body: [UInt8] = []
        body.append(text: "{\"status\":\"not ready\",\"reason\":")
        body.append(jsonString: trouble.isEmpty ? "starting" : trouble)
        body.append(text: "}")
        var response = HTTPResponse.json(status: 503, body: body, keepAlive: false)
        response.setRetryAfter(seconds: 1)
        return response
    }
}
