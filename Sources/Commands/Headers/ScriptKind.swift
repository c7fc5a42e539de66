/// The purpose of a script, which the tags of its header decide: the first kind here whose tag is among them.
public enum ScriptKind: String, CaseIterable, Sendable {
    /// `@command`: called by clients, services or the worker.
    case command
    /// `@refresh`: run by the worker when a key changes.
    case refresh
    /// `@part`: Lua that other scripts include.
    case part
    /// `@subscribe`: decides which callers may subscribe to a topic of a namespace, and sends each caller its own
    /// state.
    case subscribe
    /// `@state`: provides the state that a new subscriber of a namespace receives.
    case state
    /// None of these: the gateway calls it itself, with keys and arguments of its own.
    case plain

    /// The kind of a header with these tags.
    init(_ tags: Set<ScriptTag>) {
        let names = Set(tags.map(\.rawValue))
        self = ScriptKind.allCases.first { names.contains($0.rawValue) } ?? .plain
    }

    /// The tags without which a script of the kind is incomplete.
    var needed: [ScriptTag] {
        switch self {
        case .command: [.summary, .allow, .returns, .cost]
        case .refresh: [.summary, .arg, .cost]
        case .state: [.summary, .cost]
        case .subscribe: [.summary, .cost]
        case .part: [.summary]
        case .plain: []
        }
    }

    /// The tags that make no sense in a script of the kind.
    var foreign: Set<ScriptTag> {
        switch self {
        case .command: [.refresh, .coalesce, .state, .subscribe, .part]
        case .refresh:
            [
                .http, .mint, .erases, .exports, .allow, .rate, .readonly, .idempotent, .heartbeat, .derive, .resolve,
                .span, .callOut, .state, .subscribe, .part,
            ]
        case .part: Set(ScriptTag.allCases).subtracting([.part, .summary, .type])
        case .state:
            Set(ScriptTag.allCases)
                .subtracting([.state, .summary, .key, .returns, .errors, .cost, .weight, .include, .type])
        case .subscribe:
            Set(ScriptTag.allCases)
                .subtracting([.subscribe, .summary, .key, .returns, .errors, .cost, .weight, .include, .type])
        case .plain: Set(ScriptTag.allCases).subtracting([.summary, .key, .returns, .errors, .cost, .weight])
        }
    }
}
