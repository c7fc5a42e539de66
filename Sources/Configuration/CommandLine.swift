import Core

/// A command with its validated settings.
public enum Command: Sendable, Equatable {
    /// Runs everything on one machine.
    case dev(DevSettings)
    /// A gateway node.
    case gateway(GatewaySettings)
    /// Checks a gateway's configuration.
    case check(GatewaySettings)
    /// A worker.
    case worker(WorkerSettings)
    /// A courier.
    case courier(CourierSettings)
    /// Prints a token.
    case token(TokenSettings)
    /// Publishes one event.
    case publish(PublishSettings)
    /// Follows topics.
    case tail(TailSettings)
    /// Ends epochs after a restore.
    case resetEpochs(ResetEpochsSettings)
    /// Renames keys for another layout.
    case moveData(MoveDataSettings)
    /// Prints types.
    case types(TypesSettings)
    /// Plays the tests of a pack.
    case test(TestSettings)
    /// Shows all nodes.
    case top(TopSettings)
}

/// The result of reading a command line.
public enum CommandLineResult: Sendable, Equatable {
    /// Run this.
    case run(Command)
    /// Print this text on standard output and exit with success.
    case help(String)
    /// Print the version and exit with success.
    case version
    /// Print these on standard error, one on each line, and exit with a failure; never empty.
    case problems([SettingProblem])
}

/// Turns arguments, environment and config file into settings or problems.
///
/// Pure: it reads files only through the function that it receives.
public enum CommandLine {
    /// Reads a command line.
    ///
    /// Precedence: flags, then `SWITCHBOARD_*` variables, then the config file, then defaults. It reports all problems,
    /// not only the first.
    /// - Parameters:
    ///   - arguments: The words after the program's name.
    ///   - environment: All variables; those that do not begin with `SWITCHBOARD_` are ignored.
    ///   - packs: The text of each built-in pack's `pack.json`, by the pack's name.
    ///   - readFile: Returns a file's bytes, `nil` when it cannot be read; called for the config file and for the
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
        let directory = command == .test ? flags.operands.first : values.text("scripts")
        let own = directory.map { $0 + "/pack.json" }
        // `dev` is for trying things out, so it serves all packs.
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

    /// Builds the command's settings; `nil` only with a problem recorded.
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
        case .types: TypesSettings(&values, file, operands: operands).map { .types($0) }
        case .test: TestSettings(&values, file, operands: operands).map { .test($0) }
        case .top: .top(TopSettings(values))
        case .help, .version: nil
        }
    }
}
