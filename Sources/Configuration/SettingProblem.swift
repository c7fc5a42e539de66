import Core

/// The place where a value or a mistake was written.
public enum SettingSource: Hashable, Sendable, CustomStringConvertible {
    /// No source: the default.
    case defaults
    /// The command as a whole, e.g. a missing operand; empty: before any command.
    case command(String)
    /// A flag, by its name without dashes.
    case flag(String)
    /// An environment variable, by its full name.
    case environment(String)
    /// A place in the config file: its path, and the key with dots between levels (empty: the file itself).
    case file(path: String, key: String)

    /// The place in the author's notation: `--listen`, `SWITCHBOARD_LISTEN`, `gateway.json: listen`.
    public var description: String {
        switch self {
        case .defaults: "default"
        case .command(""): "switchboard"
        case .command(let name): "switchboard " + name
        case .flag(let name): "--" + name
        case .environment(let name): name
        case .file(let path, ""): path
        case .file(let path, let key): path + ": " + key
        }
    }

    /// ``description`` for a terminal: each part is cut by itself, so behind a long path the key is still to be read.
    var printable: String {
        guard case .file(let path, let key) = self else { return PrintableText.clean(description) }
        let file = PrintableText.path(path)
        return key.isEmpty ? file : file + ": " + PrintableText.clean(key)
    }

    /// The rank of the source, of which the greatest wins: flags 3, environment 2, file 1, defaults 0.
    var precedence: Int {
        switch self {
        case .defaults: 0
        case .file: 1
        case .environment: 2
        case .flag, .command: 3
        }
    }
}

/// One mistake in the configuration, reported to the operator.
public struct SettingProblem: Hashable, Sendable, CustomStringConvertible {
    /// The place of the mistake.
    public let source: SettingSource
    /// The mistake and its remedy; it never contains a secret's value, nor control bytes of the input.
    public let message: String

    /// One line such as `--lisen: unknown flag; did you mean --listen?`.
    public var description: String { source.printable + ": " + message }
}

/// The reason why one value was refused; every reader of a value in this target throws it.
public struct ValueFault: Error, Equatable, Sendable {
    /// The expectation, a phrase for the text after "expected"; it does not repeat the value.
    public let expected: String
}
