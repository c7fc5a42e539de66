/// The tags a header may have; the raw value is the name after `@`.
public enum ScriptTag: String, CaseIterable, Sendable {
    /// The name of a command.
    case command
    /// One sentence about what the script does.
    case summary
    /// A method and a path.
    case http
    /// The roles that may call it.
    case allow
    /// An argument.
    case arg
    /// A key.
    case key
    /// A value that the gateway makes of arguments.
    case derive
    /// A value that the gateway reads before the script runs.
    case resolve
    /// Why it has keys and home topics of several ids.
    case span
    /// A topic it may emit on.
    case topic
    /// Commands it may call afterwards.
    case calls
    /// A service outside that it may have called, and the command that gets the answer.
    case callOut = "call_out"
    /// An event, for the documentation.
    case emits
    /// The answer, for the documentation.
    case returns
    /// The codes it may fail with.
    case errors
    /// Its complexity.
    case cost
    /// How long Redis takes for a call at its limits.
    case weight
    /// How often one payer may call it.
    case rate
    /// It writes and emits nothing.
    case readonly
    /// To run it again changes nothing, so that no answer is remembered for a retry.
    case idempotent
    /// It is given randomness.
    case random
    /// A key whose change makes the worker run it.
    case refresh
    /// How long changes are gathered before a refresh runs.
    case coalesce
    /// It changes who the members of its topics are.
    case members
    /// It erases what belongs to a user.
    case erases
    /// It tells what belongs to a user.
    case exports
    /// A token that it may have the gateway sign.
    case mint
    /// How often gateways run it for each user with a live connection.
    case heartbeat
    /// The namespace whose state it provides.
    case state
    /// The namespace whose topics it lets callers join.
    case subscribe
    /// The name of a part, which other scripts may include.
    case part
    /// A part that is put before the body.
    case include

    /// Whether a header may have it several times.
    var isRepeatable: Bool {
        switch self {
        case .http, .arg, .derive, .resolve, .key, .topic, .emits, .refresh, .include, .rate, .callOut: true
        case .command, .summary, .allow, .calls, .returns, .errors, .cost, .weight, .readonly, .idempotent, .random,
            .span, .members, .mint, .erases, .exports, .coalesce, .heartbeat, .state, .subscribe, .part:
            false
        }
    }

    /// Whether it stands alone, without a value.
    var isBare: Bool {
        switch self {
        case .readonly, .random, .idempotent, .members, .erases, .exports: true
        default: false
        }
    }

    /// The most times a header may have a repeatable tag; no script needs more, and a call's size depends on it.
    static let repetitionsMax = 32
}
