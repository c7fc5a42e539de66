import Commands
import Configuration
import Gateway
import Glibc
import Service

/// The command line: reads settings, runs one command, ends with its exit code.
@main
struct Switchboard {
    static func main() {
        let result = read()
        // A script that runs tests tells a failed one from a mistake of its own.
        exit(result.exitCode(usage: arguments.first == CommandName.test.rawValue ? 2 : 64, run))
    }

    private static var arguments: [String] { Array(ProcessEnvironment.arguments.dropFirst()) }

    /// Reads the command line, the environment and the files that they name.
    private static func read() -> CommandLineResult {
        Configuration.CommandLine.parse(
            arguments: arguments, environment: ProcessEnvironment.all, packs: ScriptLibrary.packs,
            readFile: { try? Files.read($0, bytesMax: 1 << 20) })
    }

    private static func run(_ command: Command) throws(StartProblem) -> Int32 {
        switch command {
        case .gateway(let settings): try GatewayCommand.run(settings)
        case .dev(let settings): try DevCommand(settings, reread: read).run()
        case .check(let settings): CheckCommand.run(settings)
        case .token(let settings): try TokenCommand.run(settings)
        case .publish(let settings): try PublishCommand.run(settings)
        case .tail(let settings): try TailCommand.run(settings)
        case .worker(let settings): try WorkerCommand.run(settings)
        case .courier: try CourierProgram.replace(with: ProcessEnvironment.arguments.dropFirst(2))
        case .resetEpochs(let settings): try ResetEpochsCommand.run(settings)
        case .moveData(let settings): try MoveDataCommand.run(settings)
        case .types(let settings): try TypesCommand.run(settings)
        case .test(let settings): TestCommand.run(settings)
        case .top(let settings): try TopCommand.run(settings)
        }
    }
}
