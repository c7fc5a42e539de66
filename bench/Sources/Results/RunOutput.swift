import Core
import Glibc

/// The outputs of a run's result: the table on the terminal, and the files that the command line names.
struct RunOutput {
    /// The file that `--json` names: the result is appended to it; empty for none.
    var json = ""
    /// The page that `--html` names: of all runs of the JSON file, or of this one without such a file; empty for none.
    var html = ""
    private let startedAt = MachineFacts.currentTime()

    /// Must be created before the run: a file that cannot be appended to is reported now and not after an hour.
    init(json: String, html: String) throws(BenchFailure) {
        (self.json, self.html) = (json, html)
        if !json.isEmpty, ReportFile(json).exists { _ = try ReportFile(json).read() }
    }

    /// Prints and stores the result.
    func keep(_ result: BenchResult) throws(BenchFailure) {
        print(ResultTable([result]).text(.of(STDOUT_FILENO)), terminator: "")
        guard !json.isEmpty || !html.isEmpty else { return }
        let (machine, commit) = (MachineFacts.current(), MachineFacts.currentCommit())
        var report = BenchReport(machine: machine, commit: commit, startedAt: startedAt, runs: [result])
        if !json.isEmpty {
            let file = ReportFile(json)
            try file.append(result, machine: machine, commit: commit, startedAt: startedAt)
            report = try file.read()
        }
        if !html.isEmpty { try HTMLReport(reports: [report]).write(to: html) }
    }
}
