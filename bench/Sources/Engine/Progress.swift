import Glibc
import Reactors

/// The progress of a run for a person: a line on standard error, once a second on a terminal, else every 5 s.
///
/// Thread: main.
final class Progress {
    private let style = TextStyle.of(STDERR_FILENO)
    private var phase = ""
    private var beganUs = 0
    private var endUs = 0
    private var plan: LoadPlan?
    private var nextUs = 0

    /// Sets the current phase, and its latest end.
    func say(_ phase: String, untilUs: Int) {
        self.phase = phase
        (beganUs, endUs, plan) = (Clock.monotonicUs(), untilUs, nil)
    }

    /// The measured part of a load begins.
    func begin(_ plan: LoadPlan) {
        self.plan = plan
        (phase, beganUs, endUs) = ("", plan.measureUs, plan.endUs)
    }

    func end() {
        plan = nil
        write(ProgressText.erased(style))
    }

    /// Shows the line when it is time.
    func show(_ run: Coordinator, nowUs: Int) {
        guard nowUs >= nextUs else { return }
        // The first line is written once there are figures.
        if nextUs > 0 { write(text(run, nowUs).drawn(style)) }
        nextUs = nowUs + (style.isTerminal ? 1_000_000 : 5_000_000)
    }

    private func text(_ run: Coordinator, _ nowUs: Int) -> ProgressText {
        var text = ProgressText(
            phase: phase, elapsedSeconds: Double(nowUs - beganUs) / 1_000_000,
            totalSeconds: Double(endUs - beganUs) / 1_000_000, connections: run.live)
        // The last whole second that all processes have reported.
        guard let plan, let last = run.seconds[plan.second(nowUs - 300_000) - 1] else { return text }
        text.publishedPerSecond = Double(last.published)
        text.deliveredPerSecond = Double(last.delivered)
        text.p50Us = last.latency.percentile(0.5)
        text.p99Us = last.latency.percentile(0.99)
        if let cores = run.lastCores {
            if !run.options.pids.isEmpty { text.serverCores = cores.server }
            text.toolCores = cores.tool
        }
        return text
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
