import Core

/// A server's dialect: the messages of a client until it is live, and the request that publishes an event.
enum Target: String, CaseIterable, Codable {
    case switchboard
    case floor
    case nchan
    case ws
    case socketio

    /// The next step of a client that is not live yet.
    enum Step: Equatable {
        case wait
        case say(String)
        case live
        /// The server refused the client.
        case refused
    }

    /// The request target of the upgrade; for the gateway it is the dialect's.
    func path(topic: String, _ dialect: ClientDialect) -> String {
        switch self {
        case .switchboard: dialect.path(topic: topic)
        case .floor, .nchan, .ws: "/sub/" + topic
        case .socketio: "/socket.io/?EIO=4&transport=websocket"
        }
    }

    /// The first step of a client whose WebSocket is open.
    func upgraded(topic: String, _ dialect: ClientDialect) -> Step {
        switch self {
        case .switchboard: dialect.upgraded(topic: topic)
        case .floor, .nchan, .ws: .live
        case .socketio: .wait
        }
    }

    /// The next step after a message before the client is live.
    func answered(_ text: Span<UInt8>, topic: String, _ dialect: ClientDialect) -> Step {
        switch self {
        case .switchboard: return dialect.answered(text, topic: topic)
        case .floor, .nchan, .ws: return .live
        case .socketio:
            if Target.begins(text, "0{") { return .say("40") }
            if Target.begins(text, "40") { return .say("42[\"subscribe\",\"\(topic)\"]") }
            if Target.begins(text, "42[\"subscribed\"") { return .live }
            return Target.begins(text, "44") ? .refused : .wait
        }
    }

    /// Whether a message is Engine.IO's ping, to be answered with `3`.
    func isPing(_ text: Span<UInt8>, _ dialect: ClientDialect) -> Bool {
        self == .switchboard
            ? dialect.isPing(text) : self == .socketio && text.count == 1 && text[0] == UInt8(ascii: "2")
    }

    /// The HTTP request that publishes `data`.
    func request(topic: String, data: [UInt8], apiKey: String) -> [UInt8] {
        var request: [UInt8] = []
        request.reserveCapacity(data.count + 256)
        guard self == .switchboard else {
            request.append(
                text: "POST /pub/\(topic) HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(data.count)\r\n\r\n")
            return request + data
        }
        let start = "{\"topic\":\"\(topic)\",\"event\":\"e\",\"data\":"
        request.append(
            text: "POST /v1/broadcast HTTP/1.1\r\nHost: bench\r\napikey: \(apiKey)\r\n"
                + "Content-Length: \(start.utf8.count + data.count + 1)\r\n\r\n")
        request.append(text: start)
        request += data
        request.append(UInt8(ascii: "}"))
        return request
    }

    /// Whether a text contains a word; for the few messages before a client is live.
    static func holds(_ text: Span<UInt8>, _ word: String) -> Bool {
        let word = Array(word.utf8)
        guard text.count >= word.count else { return false }
        return (0...text.count - word.count).contains { start in
            word.indices.allSatisfy { text[start + $0] == word[$0] }
        }
    }

    /// Whether a text begins with a word.
    static func begins(_ text: Span<UInt8>, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard text.count >= count else { return false }
        let bytes = unsafe UnsafeBufferPointer(start: word.utf8Start, count: count)
        for index in 0..<count where unsafe bytes[index] != text[index] { return false }
        return true
    }
}
