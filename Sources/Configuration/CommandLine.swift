import Core

/// A command with its validated settings.
public enum Command: Sendable, Equatable {
    /// Everything on one machine.
    case dev(DevSettings)
    /// A gateway node.
    case gateway(GatewaySettings)
    /// Check a gateway's configuration.
    case check(GatewaySettings)
    /// A worker.
    case worker(WorkerSettings)
    /// A courier.
    case courier(CourierSettings)
    /// Print a token.
    case token(TokenSettings)
    /// Publish one event.
    case publish(PublishSettings)
    /// Follow topics.
    case tail(TailSettings)
    /// End epochs after a restore.
    case resetEpochs(ResetEpochsSettings)
    /// Give keys the names of another layout.
    case moveData(MoveDataSettings)
}

/// What the command line asks for.
public enum CommandLineResult: Sendable, Equatable {
    /// Run this.
    case run(Command)
    /// Print this text on standard output and end well.
    case help(String)
    /// Print the version and end well.
    case version
    /// Print these, one a line, on standard error and end with a failure; never empty.
    case problems([SettingProblem])
}

/// Turns arguments, environment and config file into settings or problems.
///
/// Pure: it reads files only through the
/// function it is given.
public enum CommandLine {
    /// Reads a command line.
    ///
    /// Precedence: flags, then `SWITCHBOARD_*` variables, then the config file, then defaults. All problems are found,
    /// not only the first.
    /// - Parameters:
    ///   - arguments: The words after the program's name.
    ///   - environment: All variables; those that do not begin with `SWITCHBOARD_` are ignored.
    ///   - packs: The text of each built-in pack's `pack.json`, by the pack's name.
    ///   - readFile: Gives a file's bytes, `nil` when it cannot be read; called for the config file and for the
    ///     `pack.json` of the operator's scripts.
    public static func parse(
        arguments: [String], environment: [String: String], packs: [String: [UInt8]] = [:],
        readFile: (String) -> [UInt8]?
    ) -> CommandLineResult {
        guard let first = arguments.first else { return .help(HelpText.overview()) }
        let rest = arguments.dropFirst()
        switch first {
        case "help", "-h", "--help": return help(rest.first)
        case "version", "--version": return .version
        default: break
        }
        guard let command = CommandName(rawValue: first) else {
            return .problems([SettingProblem(source: .command(""), message: unknownCommand(first))])
        }
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            return help(first)
        }
        return parse(command, words: rest, environment: environment, packs: packs, readFile: readFile)
    }

    private static func help(_ word: String?) -> CommandLineResult {
        guard let word, !word.hasPrefix("-") else { return .help(HelpText.overview()) }
        guard let command = CommandName(rawValue: word) else {
            return .problems([SettingProblem(source: .command("help"), message: unknownCommand(word))])
        }
        return .help(HelpText.of(command))
    }

    private static func unknownCommand(_ word: String) -> String {
        if word.hasPrefix("-") { return "name a command before the flags; `switchboard help` lists them" }
        let hint = NearestName.hint(CommandName.allCases.map(\.rawValue), to: word)
        let next = hint.isEmpty ? "; `switchboard help` lists them" : hint
        return "unknown command " + PrintableText.quoted(word) + next
    }

    private static func parse(
        _ command: CommandName, words: ArraySlice<String>, environment: [String: String],
        packs: [String: [UInt8]], readFile: (String) -> [UInt8]?
    ) -> CommandLineResult {
        let flags = FlagReader(command: command, words: words)
        let variables = EnvironmentReader(command: command, environment: environment)
        var file = FileReader(command: command)
        let named = (variables.given + flags.given).last { $0.setting.name == "config" }
        if let path = named?.texts.first, !path.isEmpty, !PrintableText.hasControl(path) {
            file = FileReader(command: command, path: path, bytes: readFile(path))
        }
        var values = SettingValues(command: command)
        values.problems = file.problems + variables.problems + flags.problems
        values.add(file.given)
        values.add(variables.given)
        values.add(flags.given)
        let own = values.text("scripts").map { $0 + "/pack.json" }
        // Who tries things out sees all there is.
        let standard = command == .dev && !packs.isEmpty ? "all" : nil
        let chosen = PackReader(
            values.text("packs") ?? standard, source: values.source("packs"), embedded: packs,
            own: own.flatMap { path in readFile(path).map { (path: path, bytes: $0) } })
        values.problems.insert(contentsOf: file.readPolicies(over: chosen), at: file.problems.count)
        values = CrossChecks.checked(values)
        if command.operands.isEmpty {
            for word in flags.operands {
                values.problem(.command(command.rawValue), "unexpected word " + PrintableText.quoted(word))
            }
        }
        if flags.operandsUncertain { return .problems(values.problems) }
        let result = build(&values, file, flags.operands)
        guard values.problems.isEmpty, let result else { return .problems(values.problems) }
        return .run(result)
    }

    /// The command's settings; `nil` only with a problem recorded.
    private static func build(_ values: inout SettingValues, _ file: FileReader, _ operands: [String]) -> Command? {
        switch values.command {
        case .dev: .dev(DevSettings(values, file))
        case .gateway: .gateway(GatewaySettings(values, file))
        case .check: .check(GatewaySettings(values, file))
        case .worker: .worker(WorkerSettings(values, file))
        case .courier: .courier(CourierSettings(values, file))
        case .token: .token(TokenSettings(&values))
        case .publish: PublishSettings(&values, operands: operands).map { .publish($0) }
        case .tail: .tail(TailSettings(&values, operands: operands))
        case .resetEpochs: .resetEpochs(ResetEpochsSettings(&values, operands: operands))
        case .moveData: .moveData(MoveDataSettings(values))
        case .help, .version: nil
        }
    }
}
