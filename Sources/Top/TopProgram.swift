public import Configuration
import Connections
import Core
import Reactors
import RedisLink
public import Service

/// `switchboard top`: shows all nodes and the load on them, again and again or once.
///
/// Thread: the caller's.
public final class TopProgram {
    private let settings: TopSettings
    private let reactor: Reactor
    private let asker: TopAsker
    /// The address of Redis without its password.
    private let source: String
    /// Whether frames replace each other on a terminal.
    private let isScreen: Bool
    private var terminal: TopTerminal?
    private var signals: TopSignals?
    private var timer: ReactorTimer?
    private var keys = TopKeyReader()
    private var view = TopView()
    private var report = TopReport()
    private var frame: TopFrame?
    private var isAsking = false
    /// Whether an operator waits for other rows than those that are being asked for.
    private var isStale = false
    private var exitCode: Int32 = 0
    private var isEnding = false
    /// The sentence for standard error, once the terminal is as it was.
    private var failure: String?
    private let beganMs: Int

    /// Pauses of a text that is printed once, milliseconds: before the next attempt, and between the two answers of
    /// which it shows the difference.
    private static let (retryMs, differenceMs) = (50, 1_000)
    /// The exit code after a signal is this plus its number, as a shell reports it.
    private static let signalled: Int32 = 128
    private static let (hangUp, interrupt, quit, terminate): (Int32, Int32, Int32, Int32) = (1, 2, 3, 15)
    private static let (stop, resize): (Int32, Int32) = (20, 28)

    /// Makes everything, and begins to dial.
    public init(_ settings: TopSettings) throws(StartProblem) {
        self.settings = settings
        TopSignals.ignoreBrokenPipes()
        isScreen = !settings.once && !settings.json && TopTerminal.isOutput
        // Without a screen there is nothing to restore, and signals end the process as usual.
        if isScreen { TopSignals.block() }
        let target = try RedisTarget.reading(settings.redis, limits: settings.limits)
        source = "\(target.url)"
        do {
            reactor = try Reactor(wake: try Wake())
            beganMs = reactor.nowMs
            asker = try TopAsker(settings, target, reactor)
        } catch {
            throw StartProblem("cannot start: \(error)")
        }
    }

    /// Runs until the operator ends it, or once; returns the exit code.
    public func run() throws(StartProblem) -> Int32 {
        let terminal = TopTerminal(
            reactor, isScreen: isScreen, onKeys: { [unowned self] in pressed($0) }, onLost: { [unowned self] in lost() }
        )
        self.terminal = terminal
        do {
            if isScreen { signals = try TopSignals(reactor) { [unowned self] in signalled($0) } }
            timer = try ReactorTimer(reactor) { [unowned self] in ask() }
        } catch {
            throw StartProblem("cannot start: \(error)")
        }
        terminal.enter()
        draw()
        timer?.set(atMs: reactor.nowMs)
        reactor.run()
        terminal.stop()
        signals?.stop()
        timer?.invalidate()
        asker.stop()
        if let failure { Terminal.error(failure) }
        return exitCode
    }

    /// Ends the loop; only the first cause counts.
    private func end(_ code: Int32, _ failure: String? = nil) {
        guard !isEnding else { return }
        isEnding = true
        (exitCode, self.failure) = (code, failure)
        reactor.stop()
    }

    // MARK: Rounds

    private func ask() {
        guard !isAsking, !view.isPaused else { return }
        (isAsking, isStale) = (true, false)
        let startMs = reactor.nowMs
        let questions = isScreen ? TopQuestions(view) : TopQuestions.all
        asker.ask(questions) { [weak self] in self?.took($0, startMs) }
    }

    private func took(_ answers: TopAnswers, _ startMs: Int) {
        isAsking = false
        if settings.once { return tookOnce(answers) }
        var nextMs = startMs + settings.intervalSeconds * 1_000
        if !view.isPaused {
            report.take(answers)
            show(answers)
        }
        // While there is no answer it tries more often: Redis may be there in a moment.
        if answers.trouble != nil { nextMs = min(nextMs, reactor.nowMs + 10 * TopProgram.retryMs) }
        timer?.set(atMs: isStale ? reactor.nowMs : max(nextMs, reactor.nowMs + 1))
    }

    private func show(_ answers: TopAnswers) {
        guard !isScreen else { return draw() }
        if settings.json {
            print(answers.json + [UInt8(ascii: "\n")])
        } else {
            print(text + [UInt8(ascii: "\n")])
        }
    }

    /// Takes a round of a program that prints once: the second one shows rates.
    private func tookOnce(_ answers: TopAnswers) {
        guard answers.trouble == nil else {
            let limits = settings.limits
            let lastMs = beganMs + 2 * limits.redisConnectMs + limits.redisCallMs
            // A name or a topology may take a few attempts; a refusal that Redis has given stays one.
            if answers.mayPass, reactor.nowMs < lastMs {
                timer?.set(atMs: reactor.nowMs + TopProgram.retryMs)
                return
            }
            return end(1, answers.trouble.map { "\(source): \($0)" })
        }
        let isFirst = report.time.isEmpty
        report.take(answers)
        guard report.gateways > 0 else {
            return end(1, "\(source): no gateway answers: " + report.missing.joined(separator: "; "))
        }
        guard !isFirst || settings.json else {
            timer?.set(atMs: reactor.nowMs + TopProgram.differenceMs)
            return
        }
        print(settings.json ? answers.json + [UInt8(ascii: "\n")] : text)
        end(0)
    }

    /// The report as a text that is as wide as it needs to be.
    private var text: [UInt8] {
        let lines = TopFrame.text(report, source: source, rowsMax: TopQuestions.textRows, width: 1_000)
        return Array(lines.map { (terminal?.screen.shown($0) ?? "") + "\n" }.joined().utf8)
    }

    private func print(_ bytes: [UInt8]) {
        if terminal?.print(bytes) == false { end(0) }
    }

    // MARK: The screen

    private func draw() {
        guard let terminal, isScreen else { return }
        let frame = TopFrame(report, view, source: source, size: terminal.size)
        self.frame = frame
        terminal.show(frame.lines)
    }

    private func pressed(_ bytes: [UInt8]) {
        for key in keys.read(bytes) {
            switch view.press(key, page: frame?.page ?? 0, scrollMax: frame?.scrollMax ?? 0) {
            case .quit: return end(0)
            case .ask:
                isStale = true
                timer?.set(atMs: reactor.nowMs)
                draw()
            case .draw: draw()
            case .none: break
            }
        }
    }

    /// The terminal has gone, or the reader of a pipe: nobody would see a sentence about it.
    private func lost() { end(isScreen ? TopProgram.signalled + TopProgram.hangUp : 0) }

    private func signalled(_ number: Int32) {
        switch number {
        case TopProgram.resize: draw()
        case TopProgram.stop:
            terminal?.leave()
            TopSignals.suspend()
            terminal?.enter()
            draw()
        case TopProgram.interrupt: end(TopProgram.signalled + TopProgram.interrupt)
        case TopProgram.hangUp, TopProgram.quit, TopProgram.terminate: end(TopProgram.signalled + number)
        default: break
        }
    }
}
