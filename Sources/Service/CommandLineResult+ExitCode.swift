public import Configuration
import Core

extension CommandLineResult {
    /// Executes the result of the command line, and returns the process's exit code.
    ///
    /// It is that of `run`, and 0 after help. It is `usage` for a command line that cannot be read (64 is EX_USAGE of
    /// sysexits.h), and 1 when the command could not start.
    public func exitCode(usage: Int32 = 64, _ run: (Command) throws(StartProblem) -> Int32) -> Int32 {
        switch self {
        case .help(let text):
            Terminal.print(text)
            return 0
        case .version:
            Terminal.print("switchboard \(ProductVersion.text)")
            return 0
        case .problems(let problems):
            for problem in problems { Terminal.error(problem.description) }
            return usage
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
