import Configuration
public import RedisLink
import Service

/// Each master's rights to load its own append-only file, and the changes to log.
///
/// Pure.
public struct LoadBook: Sendable {
    private struct Entry {
        var rights: LoadRights
        var sinceMs: Int
    }

    private var entries: [String: Entry] = [:]
    /// The user as which this process logs in; `default` where the URL names none.
    private let user: String

    init(user: String) {
        self.user = user
    }

    /// Takes a master's answer at `wallMs`, milliseconds since 1970; returns a line to log when it has changed.
    mutating func learned(_ rights: LoadRights, of server: String, wallMs: Int) -> LogEntry? {
        // The text of a refusal names the first command that was refused, which an operator may change step by step.
        let before = entries[server]
        guard before?.rights != rights else { return nil }
        let wasWrong = before.map { mend($0.rights) != nil } ?? false
        let isSame = wasWrong && mend(rights) != nil
        entries[server] = Entry(rights: rights, sinceMs: isSame ? before?.sinceMs ?? wallMs : wallMs)
        guard let mend = mend(rights) else {
            guard wasWrong else { return nil }
            return LogEntry(.info, "redis can load its own file again", [("server", server)])
        }
        switch rights {
        case .missing(let words):
            return LogEntry(
                .warn, "redis could not load its own file: a restart of it would lose what scripts wrote",
                [("server", server), ("detail", words), ("mend", mend)])
        default:
            return LogEntry(
                .warn, "redis does not say whether it could load its own file",
                [("server", server), ("detail", LoadBook.detail(rights)), ("mend", mend)])
        }
    }

    private static func detail(_ rights: LoadRights) -> String {
        if case .unknown(let failure) = rights { return failure.metricLabel }
        return ""
    }

    /// Forgets servers that are no longer masters.
    mutating func keep(only servers: Set<String>) {
        for server in entries.keys where !servers.contains(server) { entries[server] = nil }
    }

    /// The state of the row: the oldest fault; a missing right has precedence over an unanswered question.
    var state: RowState {
        let wrong = entries.values.filter { mend($0.rights) != nil }.sorted { $0.sinceMs < $1.sinceMs }
        let isMissing = wrong.filter { if case .missing = $0.rights { true } else { false } }
        guard let first = isMissing.first ?? wrong.first, let mend = mend(first.rights) else { return .fine() }
        var state = RowState.warned(mend: mend)
        state.sinceMs = first.sinceMs
        return state
    }

    /// 1 for a master that could load its file, 0 for one that could not; none for others.
    ///
    /// By address, in order.
    var figures: [(server: String, canLoad: Int)] {
        entries.sorted { $0.key < $1.key }.compactMap { server, entry in
            switch entry.rights {
            case .sufficient: (server, 1)
            case .missing: (server, 0)
            case .notNeeded, .unknown: nil
            }
        }
    }

    private func mend(_ rights: LoadRights) -> String? { rights.mend(for: user) }
}

extension LoadRights {
    /// The commands that an operator enters at the server, for the log, `/readyz` and `check`.
    ///
    /// `nil` where nothing is wrong. `user` is the user as which this process logs in; its passwords stay when it is
    /// `default`.
    public func mend(for user: String) -> String? {
        switch self {
        case .notNeeded, .sufficient: nil
        case .missing: "ACL SETUSER \(LoadRights.rules(for: user)), then ACL SAVE"
        case .unknown(let failure) where failure.kind == .noPermission:
            "ACL SETUSER \(user) \(LoadRights.askingRule), then ACL SAVE"
        case .unknown: "ask as an operator: ACL DRYRUN default MULTI must answer OK"
        }
    }

    /// The rules that give the user `default` its rights, where this process logs in as `user`.
    public static func rules(for user: String) -> String {
        user == "default" ? LoadRights.openRules : LoadRights.closedRules
    }
}
