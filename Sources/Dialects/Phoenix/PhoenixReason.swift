import Core

/// Refusals in the form of the clients' own server, `<Code>: <text>`, where clients act on the code.
enum PhoenixReason {
    /// The reason why a channel cannot be joined; Python's client waits longer after some of the codes.
    static func join(_ answer: PhoenixAnswer, _ code: String, _ text: String) -> String {
        switch (ErrorCode(rawValue: code), answer.kind) {
        case (.rateLimited, _): return "ClientJoinRateLimitReached: Too many joins per second"
        case (.unauthorized, .joinToken), (.forbidden, .joinToken): return "InvalidJWTToken: " + text
        case (.unauthorized, _), (.forbidden, _):
            return "Unauthorized: You do not have permissions to read from this Channel topic: " + name(answer)
        case (.tooLarge, _): return "ChannelRateLimitReached: Too many channels"
        default: return coded(code, text)
        }
    }

    /// The reason why a push was refused.
    static func push(_ answer: PhoenixAnswer, _ code: String, _ text: String) -> String {
        switch ErrorCode(rawValue: code) {
        case .unauthorized, .forbidden:
            "Unauthorized: You do not have permissions to write to this Channel topic: " + name(answer)
        case .tooLarge: "payload_size_exceeded"
        default: coded(code, text)
        }
    }

    /// The reason why a client is not listed.
    static func presence(_ answer: PhoenixAnswer, _ code: String, _ text: String) -> String {
        switch ErrorCode(rawValue: code) {
        case .notFound: "PresenceNotEnabled: this topic has no presence"
        case .tooLarge: "PresenceTooLarge: " + text
        default: push(answer, code, text)
        }
    }

    /// The reason why a channel ends.
    static func withdrawn(_ topic: Topic, _ code: String, _ text: String) -> String {
        guard code == ErrorCode.forbidden.rawValue || code == ErrorCode.unauthorized.rawValue else {
            return coded(code, text)
        }
        return "You no longer have permission to read from this Channel topic: "
            + String(decoding: PhoenixChannelName.name(of: topic), as: UTF8.self)
    }

    /// `not_found` becomes `NotFound: text`.
    private static func coded(_ code: String, _ text: String) -> String {
        let words = code.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return words.joined() + ": " + text
    }

    private static func name(_ answer: PhoenixAnswer) -> String {
        String(decoding: answer.topic.dropFirst(PhoenixChannelName.prefix.count), as: UTF8.self)
    }
}
