import Configuration
import Service
import Top

/// `switchboard top`: shows all nodes in a terminal.
enum TopCommand {
    /// 0 when the operator ended it, or when a gateway has answered to `--once`; 1 without an answer.
    static func run(_ settings: TopSettings) throws(StartProblem) -> Int32 { try TopProgram(settings).run() }
}
