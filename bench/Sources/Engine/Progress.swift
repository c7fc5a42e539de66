import Glibc
import Reactors

/// What a person sees while a run goes on: a line on standard error, once a second on a terminal, else every 5 s.
///
/// Thread: main.
final class Progress {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var stage = ""
    private var plan: LoadPlan?
    private var nextUs = 0

    /// What is done from now on.
    func say(_ stage: String) {
        self.stage = stage
        plan = nil
    }

    /// The measured part of a load begins.
    func begin(_ plan: LoadPlan) {
        stage = "measuring"
        self.plan = plan
    }

    func end() {
        plan = nil
        if isTerminal { write("\r\u{1b}[K") }
    }

    /// Shows the line when it is time.
    func show(_ run: Coordinator, nowUs: Int) {
        guard nowUs >= nextUs else { return }
        // The first line comes when there is something to tell.
        if nextUs > 0 { show(run, second: plan.map { min($0.second(nowUs), $0.seconds) }) }
        nextUs = nowUs + (isTerminal ? 1_000_000 : 5_000_000)
    }

    private func show(_ run: Coordinator, second: Int?) {
        var line = "\(run.options.scenario.rawValue) \(stage): \(run.live) of \(run.options.connections) live"
        if let second, let plan {
            line +=
                ", \(second)/\(plan.seconds) s, published \(run.figures.published), "
                + "delivered \(run.figures.delivered) of \(run.figures.expected)"
            if let p99 = run.seconds[max(second - 1, 0)]?.latency.percentile(0.99) { line += ", p99 \(p99) us" }
        }
        write(isTerminal ? "\r" + line + "\u{1b}[K" : line + "\n")
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
