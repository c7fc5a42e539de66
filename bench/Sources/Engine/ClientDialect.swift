/// The protocol that a client speaks to the gateway (`--dialect`).
enum ClientDialect: String, CaseIterable, Codable {
    case native
    case phoenixV1 = "phoenix-v1"
    case phoenixV2 = "phoenix-v2"
    /// Socket.IO over a WebSocket, in the namespace `/`.
    case socketio
    /// An event stream, which is an endless HTTP response.
    case stream

    /// Its place among all cases.
    var number: Int {
        switch self {
        case .native: 0
        case .phoenixV1: 1
        case .phoenixV2: 2
        case .socketio: 3
        case .stream: 4
        }
    }

    /// Parses a list with commas; `nil` when one of its dialects is unknown.
    static func list(_ text: String) -> [ClientDialect]? {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let dialects = words.compactMap { ClientDialect(rawValue: String($0)) }
        return dialects.count == words.count ? dialects : nil
    }

    /// The request target.
    func path(topic: String) -> String {
        switch self {
        case .native: "/ws"
        case .phoenixV1: "/realtime/v1/websocket?vsn=1.0.0"
        case .phoenixV2: "/realtime/v1/websocket?vsn=2.0.0"
        case .socketio: "/socket.io/?EIO=4&transport=websocket"
        case .stream: "/v1/stream?topic=" + topic
        }
    }

    /// Whether its clients must send a key: a service's, which must not be in a URL.
    var needsKey: Bool { self == .phoenixV1 || self == .phoenixV2 }

    /// The first step of a client whose WebSocket, or stream, is open.
    func upgraded(topic: String) -> Target.Step {
        switch self {
        case .native: .say("{\"event\":\"subscribe\",\"data\":{\"topic\":\"\(topic)\"}}")
        case .phoenixV1:
            .say("{\"topic\":\"realtime:\(topic)\",\"event\":\"phx_join\",\"payload\":{\"config\":{}},\"ref\":\"1\"}")
        case .phoenixV2: .say("[\"1\",\"1\",\"realtime:\(topic)\",\"phx_join\",{\"config\":{}}]")
        case .socketio, .stream: .wait
        }
    }

    /// The next step after a message before the client is live; of a stream, the message is one record.
    func answered(_ text: Span<UInt8>, topic: String) -> Target.Step {
        switch self {
        case .native: return Target.begins(text, "{\"event\":\"error\"") ? .refused : .live
        case .phoenixV1, .phoenixV2:
            guard Target.holds(text, "\"phx_reply\"") else { return .wait }
            return Target.holds(text, "\"status\":\"ok\"") ? .live : .refused
        case .socketio:
            if Target.begins(text, "0{") { return .say("40") }
            if Target.begins(text, "40{") { return .say("420[\"subscribe\",{\"topic\":\"\(topic)\"}]") }
            if Target.begins(text, "430[{\"error\"") || Target.begins(text, "44") { return .refused }
            return Target.begins(text, "430[{") ? .live : .wait
        case .stream:
            if Target.holds(text, "event: refused\n") || Target.holds(text, "event: closed\n") { return .refused }
            return Target.holds(text, "event: subscribed\n") ? .live : .wait
        }
    }

    /// Whether a message is Engine.IO's ping, to be answered with `3`.
    func isPing(_ text: Span<UInt8>) -> Bool {
        self == .socketio && text.count == 1 && text[0] == UInt8(ascii: "2")
    }
}
