/// The tags a header may have; the raw value is the name after `@`.
public enum ScriptTag: String, CaseIterable, Sendable {
    /// The name of a command.
    case command
    /// One sentence that describes the script.
    case summary
    /// A method and a path.
    case http
    /// The roles that may call it.
    case allow
    /// An argument.
    case arg
    /// A key.
    case key
    /// A value that the gateway derives from arguments.
    case derive
    /// A value that the gateway reads before the script runs.
    case resolve
    /// The reason for keys and home topics of several ids.
    case span
    /// A topic it may emit on.
    case topic
    /// Commands it may call afterwards.
    case calls
    /// Commands that do the rest of it on a Redis Cluster.
    case steps
    /// An outside service that it may call, and the command that receives the answer.
    case callOut = "call_out"
    /// An event, with the type of its data.
    case emits
    /// The type of the answer, or of the state.
    case returns
    /// The codes it may fail with.
    case errors
    /// Its complexity.
    case cost
    /// The time that Redis needs for a call at its limits.
    case weight
    /// The rate at which one payer may call it.
    case rate
    /// It writes and emits nothing.
    case readonly
    /// Running it again changes nothing, so no answer is stored for a retry.
    case idempotent
    /// It receives randomness.
    case random
    /// A key whose change makes the worker run it.
    case refresh
    /// The time for which changes are gathered before a refresh runs.
    case coalesce
    /// It changes the members of its topics.
    case members
    /// It erases the data of a user.
    case erases
    /// It exports the data of a user.
    case exports
    /// A token that the gateway may sign for it.
    case mint
    /// The interval at which gateways run it for each user with a live connection.
    case heartbeat
    /// The namespace whose state it provides.
    case state
    /// The namespace whose topics it decides subscriptions for.
    case subscribe
    /// The name of a part, which other scripts may include.
    case part
    /// A part that stands before the body.
    case include
    /// A type that the headers of the pack may name.
    case type

    /// Whether a header may have the tag several times.
    var isRepeatable: Bool {
        switch self {
        case .http, .arg, .derive, .resolve, .key, .topic, .emits, .refresh, .include, .rate, .callOut, .type: true
        case .command, .summary, .allow, .calls, .steps, .returns, .errors, .cost, .weight, .readonly, .idempotent,
            .random,
            .span, .members, .mint, .erases, .exports, .coalesce, .heartbeat, .state, .subscribe, .part:
            false
        }
    }

    /// Whether the tag has no value.
    var isBare: Bool {
        switch self {
        case .readonly, .random, .idempotent, .members, .erases, .exports: true
        default: false
        }
    }

    /// Whether the value is a type, which may go on over several lines.
    var hasType: Bool { [.emits, .returns, .type].contains(self) }

    /// The most times a header may have a repeatable tag; no script needs more, and a call's size depends on it.
    static let repetitionsMax = 32
}
