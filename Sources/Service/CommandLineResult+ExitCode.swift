public import Configuration
import Core

extension CommandLineResult {
    /// Does what the command line asks for; the process's exit code: of `run`, 0 after help, 64 for a command line that
    /// cannot be read (EX_USAGE of sysexits.h), 1 when the command could not start.
    public func exitCode(_ run: (Command) throws(StartProblem) -> Int32) -> Int32 {
        switch self {
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
}
