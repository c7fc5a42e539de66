/// The commands of the binary; the raw value is the word on the command line.
public enum CommandName: String, CaseIterable, Sendable {
    /// Runs everything on one machine without configuration.
    case dev
    /// A gateway node.
    case gateway
    /// A worker: recomputes data when keys change, and relays the outbox.
    case worker
    /// A courier: asks outside services and sends webhooks. It is a program of its own, `switchboard-courier`.
    case courier
    /// Prints a signed token.
    case token
    /// Checks a configuration before it runs.
    case check
    /// Publishes one event.
    case publish
    /// Prints the events of topics as they arrive.
    case tail
    /// Shows all nodes in a terminal.
    case top
    /// Ends the epochs of topics after Redis was restored.
    case resetEpochs = "reset-epochs"
    /// Renames keys for another layout, or copies them to another Redis.
    case moveData = "move-data"
    /// Prints the types of commands for programs of apps.
    case types
    /// Plays the tests of a pack.
    case test
    /// Prints help.
    case help
    /// Prints the version.
    case version

    /// The operands after the command, as help shows them; empty for most.
    public var operands: String {
        switch self {
        case .publish: "TOPIC EVENT [JSON]"
        case .tail: "TOPIC..."
        case .resetEpochs: "[TOPIC...]"
        case .types: "typescript|swift"
        case .test: "DIR"
        case .help: "[COMMAND]"
        default: ""
        }
    }

    /// One sentence that describes the command, for the overview.
    public var summary: String {
        switch self {
        case .dev: "Run everything on this machine: Redis, a gateway and a demo shop."
        case .gateway: "Run a gateway node."
        case .worker: "Run a worker: recompute what follows from changed keys, pass on events and calls."
        case .courier: "Run a courier: ask services outside, send webhooks (the program switchboard-courier)."
        case .token: "Print a signed JWT for a user or a service."
        case .check: "Check a gateway's settings, files and Redis, and say how to mend them."
        case .publish: "Publish one event."
        case .tail: "Print the events of topics as they come."
        case .top: "Show all nodes, topics, slow sessions and callers in a terminal, or print them once."
        case .resetEpochs: "After Redis was restored from a copy: begin new epochs, so that clients are told."
        case .moveData: "While nothing runs: give keys the names of another layout, here or in another Redis."
        case .types: "Print the types of commands, events and states, for the client libraries."
        case .test: "Play the tests of a pack of scripts in a Redis of their own."
        case .help: "Print this text, or the settings of one command."
        case .version: "Print the version."
        }
    }
}
