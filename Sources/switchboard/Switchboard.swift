import Commands
import Configuration
import Gateway
import Glibc
import Service

/// The command line: reads settings, runs one command, ends with its exit code.
@main
struct Switchboard {
    static func main() {
        let arguments = Array(ProcessEnvironment.arguments.dropFirst())
        let result = Configuration.CommandLine.parse(
            arguments: arguments, environment: ProcessEnvironment.all, packs: ScriptLibrary.packs,
            readFile: { try? Files.read($0, bytesMax: 1 << 20) })
        exit(result.exitCode(run))
    }

    private static func run(_ command: Command) throws(StartProblem) -> Int32 {
        switch command {
        case .gateway(let settings): try GatewayCommand.run(settings)
        case .dev(let settings): try DevCommand(settings).run()
        case .check(let settings): CheckCommand.run(settings)
        case .token(let settings): try TokenCommand.run(settings)
        case .publish(let settings): try PublishCommand.run(settings)
        case .tail(let settings): try TailCommand.run(settings)
        case .worker(let settings): try WorkerCommand.run(settings)
        case .courier: try CourierProgram.replace(with: ProcessEnvironment.arguments.dropFirst(2))
        case .resetEpochs(let settings): try ResetEpochsCommand.run(settings)
        case .moveData(let settings): try MoveDataCommand.run(settings)
        case .types(let settings): try TypesCommand.run(settings)
        case .top(let settings): try TopCommand.run(settings)
        }
    }
}
