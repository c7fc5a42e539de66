import Commands
import Configuration
import Core
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
        exit(run(result))
    }

    private static func run(_ result: CommandLineResult) -> Int32 {
        switch result {
        case .help(let text):
            Terminal.print(text)
            return 0
        case .version:
            Terminal.print("switchboard \(ProductVersion.text)")
            return 0
        case .problems(let problems):
            for problem in problems { Terminal.error(problem.description) }
            return 64
        case .run(let command):
            do {
                return try run(command)
            } catch {
                Terminal.error(error.description)
                return 1
            }
        }
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
        }
    }
}
