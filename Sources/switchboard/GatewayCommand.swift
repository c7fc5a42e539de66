import Configuration
import Core
import Gateway
import Operations
import Reactors
import Service

/// `switchboard gateway`: one node, until a signal ends it.
enum GatewayCommand {
    /// Runs until SIGTERM or SIGINT has been served; 0 after an orderly drain.
    static func run(_ settings: GatewaySettings) throws(StartProblem) -> Int32 {
        try ProcessSetUp.run()
        let log = try Log.make(settings.log, settings.logLevel, linesMax: settings.limits.logLinesMax)
        defer { log.close() }
        log.started(.gateway)
        let node = try GatewayNode(settings, log: log)
        let ready = { () throws(StartProblem) in
            try writeReadyFile(settings.readyFile, node)
            Supervisor.ready()
        }
        return try serve(node, settings, onListening: ready, onReady: {}) ?? 0
    }

    /// Writes the addresses at which the node listens, for tests and supervisors.
    static func writeReadyFile(_ path: String?, _ node: GatewayNode) throws(StartProblem) {
        guard let path else { return }
        try StartFile.write(node.addresses.json, to: path, isSecret: false)
    }

    /// Waits for signals: SIGHUP reloads; SIGTERM or SIGINT drains; a second one, or the deadline, ends at once.
    ///
    /// `onListening` runs once clients can connect, `onReady` once the node is ready for the first time. `isDone` is
    /// asked every `lookMs` at least: once it holds, the node drains and the result is `nil`.
    static func serve(
        _ node: GatewayNode, _ settings: GatewaySettings, onListening: () throws(StartProblem) -> Void,
        onReady: () -> Void, lookMs: Int = Int.max, isDone: () -> Bool = { false }
    ) throws(StartProblem) -> Int32? {
        var wasReady = false
        var watch = node.stuckExit()
        while true {
            let signal = Signals.wait(
                timeoutMs: wasReady ? min(watch.lookMs, lookMs) : node.isListening ? 100 : 10)
            watch.look(node.turns, nowMs: Clock.monotonicMs())
            if node.isListening { node.watch() } else if try node.listenIfDue() { try onListening() }
            if !wasReady && node.isListening && node.notReadyBecause == nil {
                wasReady = true
                onReady()
            }
            switch signal {
            case 1: reload(node)
            case nil:
                // An end that was requested meanwhile counts.
                if isDone() { return stop(node, settings.limits) ? 0 : nil }
            default:
                Supervisor.stopping()
                // The exit code is the same for an end at once, since that was requested as well.
                _ = stop(node, settings.limits)
                return 0
            }
        }
    }

    /// Reads the files again; `systemctl status` shows why they were refused.
    ///
    /// A node that does not listen yet is not reported, since systemd would take it for ready.
    private static func reload(_ node: GatewayNode) {
        guard node.isListening else { return node.reload() }
        Supervisor.reloading()
        node.reload()
        Supervisor.status(node.reloadRefusal.map { "reload refused, nothing changed: " + $0 } ?? "")
        Supervisor.ready()
    }

    /// Drains the node, or ends it at once when a signal asks for that; returns whether one did.
    private static func stop(_ node: GatewayNode, _ limits: Limits) -> Bool {
        node.announceDrain()
        if Signals.waitForSecondTermination(timeoutMs: limits.drainGraceMs, until: { false }) {
            stopNow(node)
            return true
        }
        node.drain()
        let hardStopMs = limits.drainMs + 2 * limits.closeMs
        let wasHurried = Signals.waitForSecondTermination(timeoutMs: hardStopMs, until: { node.hasEnded })
        if wasHurried || !node.hasEnded { stopNow(node) } else { node.join() }
        return wasHurried
    }

    private static func stopNow(_ node: GatewayNode) {
        node.stopNow()
        node.join()
    }
}

extension Signals {
    /// Waits until the condition holds, the time has passed, or a second SIGTERM or SIGINT arrives: `true` for that.
    static func waitForSecondTermination(timeoutMs: Int, until condition: () -> Bool) -> Bool {
        let endMs = Clock.monotonicMs() + timeoutMs
        while !condition() {
            let leftMs = endMs - Clock.monotonicMs()
            guard leftMs > 0 else { return false }
            if let signal = wait(timeoutMs: min(leftMs, 50)), signal != 1 { return true }
        }
        return false
    }
}
