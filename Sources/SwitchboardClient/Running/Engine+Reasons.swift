internal import Foundation

/// The system's log, for faults that a developer must see although the app has no log of its own.
enum SystemLog {
    /// Writes one line.
    @Sendable static func say(_ text: String) {
        NSLog("Switchboard: " + text.replacingOccurrences(of: "%", with: "%%"))
    }
}

extension Engine {
    /// The address with a WebSocket scheme: developers often write `https://` for `wss://`.
    static func address(_ url: URL) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        switch parts.scheme?.lowercased() {
        case "https", "wss": parts.scheme = "wss"
        case "http", "ws": parts.scheme = "ws"
        default: return url
        }
        return parts.url ?? url
    }

    /// Logs once why there is no connection, and again after there was one.
    ///
    /// The query is not logged: it may hold a secret.
    func warn(of status: ConnectionStatus) {
        let reason = status.reason
        let isNew = state.with { state in
            if reason == nil, !status.isReady { return false }
            defer { state.loggedReason = reason?.code }
            return reason != nil && state.loggedReason != reason?.code
        }
        guard isNew, let reason else { return }
        let advice = reason.isPermanent ? " This does not pass by waiting." : ""
        options.warn("\(place): \(reason.code.rawValue): \(reason.message)\(advice)")
    }

    private var place: String {
        "\(url.scheme ?? "")://\(url.host ?? "")\(url.port.map { ":\($0)" } ?? "")\(url.path)"
    }
}
