internal import Foundation

/// Holds the machine under one lock, performs its actions in order, and wakes it in time.
///
/// Nothing is called while the lock is held. The thread that finds no other at work performs all pending actions. So
/// outputs keep their order on whatever thread an input arrives.
final class Engine: Sendable {
    /// The values that the lock guards.
    struct State: Sendable {
        /// The machine that makes all decisions.
        var machine: ClientMachine
        /// The pending actions, in this order.
        var pending: [ClientOutput] = []
        /// Whether a thread is performing them.
        var isWorking = false
        /// Whether the app stopped the client, so that its use does not start it.
        var isHalted = false
        /// Whether the storage was read, which is done once.
        var hasLoaded = false
        /// The app's tokens.
        var source: TokenSource
        /// The present socket, with its number for the machine.
        var socket: (generation: Int, socket: any SwitchboardSocket)?
        /// The task that waits for the machine's next time.
        var timer: Task<Void, Never>?
        /// The time at which the timer fires.
        var alarm = Alarm()
        /// The reason that was logged last; `nil` after there was a connection.
        var loggedReason: ConnectionStatus.Reason.Code?
        /// The last number that was issued.
        var numbers = 0
        /// The app's scenes that are not in the background.
        var scenes: Set<UUID> = []
        /// The pause that a return of the app cancels.
        var pausing: Task<Void, Never>?
        /// Waiting callers, by ticket.
        var waiters: [Int: CheckedContinuation<Result<JSONValue, SwitchboardError>, Never>] = [:]
        /// The iterators of topics, by listener.
        var readers: [Int: Inbox<TopicUpdate>] = [:]
        /// The iterators of the status.
        var statusReaders: [Int: Inbox<ConnectionStatus>] = [:]
        /// The iterators of the outbox's results.
        var resultReaders: [Int: Inbox<OutboxResult>] = [:]
    }

    /// All mutable state.
    let state: Locked<State>
    /// The app's options.
    let options: SwitchboardClient.Options
    /// The address of the gateway.
    let url: URL
    private let transport: any SwitchboardTransport
    private let origin = ContinuousClock.now

    /// Makes an engine that waits for its first input; it does not dial yet.
    init(_ url: URL, _ source: TokenSource, _ options: SwitchboardClient.Options, _ transport: any SwitchboardTransport)
    {
        self.url = Engine.address(url)
        self.options = options
        self.transport = transport
        let machine = ClientMachine(
            times: options.times, seed: UInt64.random(in: .min ... .max), credentials: source.credentials,
            showsTokenInUpgrade: options.showsTokenInUpgrade)
        state = Locked(State(machine: machine, source: source))
    }

    private var nowMs: Int64 {
        let (seconds, attoseconds) = origin.duration(to: .now).components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    /// The date in milliseconds since 1970.
    static var wallMs: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// A number for a ticket or a listener.
    func number() -> Int {
        state.with { state in
            state.numbers += 1
            return state.numbers
        }
    }

    /// Starts the client at its first use; a stopped client stays stopped.
    func startOnUse() {
        if !state.with({ $0.isHalted }) { start() }
    }

    /// Connects; the first time it reads the storage before.
    func start() {
        let mustLoad = state.with { state in
            state.isHalted = false
            defer { state.hasLoaded = true }
            return !state.hasLoaded
        }
        if mustLoad, let storage = options.storage {
            do {
                take(.loaded(try storage.load()))
                if let damage = (storage as? any ReportsDamage)?.damage { options.fault(damage) }
            } catch {
                options.fault("The outbox cannot be read: \(error)")
            }
        }
        take(.start)
    }

    /// Ends everything; only `start` resumes.
    func stop() {
        state.with { $0.isHalted = true }
        take(.stop)
    }

    /// Takes an input, and performs the resulting actions.
    func take(_ input: ClientInput) {
        let isFirst = state.with { state in
            state.pending += state.machine.take(input, nowMs: nowMs, wallMs: Engine.wallMs)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard isFirst else { return }
        while true {
            let batch = state.with { state -> [ClientOutput] in
                if state.pending.isEmpty { state.isWorking = false }
                defer { state.pending = [] }
                return state.pending
            }
            if batch.isEmpty { break }
            perform(batch)
        }
        setTimer()
    }

    private func setTimer() {
        state.with { state in
            switch state.alarm.want(state.machine.wakeAtMs) {
            case .keep: break
            case .stop: state.timer?.cancel()
            case .set(let wake):
                state.timer?.cancel()
                state.timer = timer(wake)
            }
        }
    }

    private func timer(_ wake: Int64) -> Task<Void, Never> {
        let deadline = origin.advanced(by: .milliseconds(wake))
        return Task { [weak self] in
            // lint:allow This waits for a time that the machine chose.
            do { try await ContinuousClock().sleep(until: deadline) } catch { return }  // lint:allow
            self?.rang(wake)
        }
    }

    private func rang(_ wake: Int64) {
        state.with { $0.alarm.rang(wake) }
        take(.tick)
    }

    private func perform(_ batch: [ClientOutput]) {
        var unmarked: String?
        for output in batch {
            switch output {
            case .store(let entry):
                do {
                    try options.storage?.store(entry)
                } catch {
                    // An entry that could not be marked as sent must not be sent: a restart would send it again.
                    unmarked = entry.message
                    take(.unstored(id: entry.id, "\(error)", isLeft: !isRemoved(entry.id)))
                }
            case .send(_, let text) where text == unmarked: unmarked = nil
            default: perform(output)
            }
        }
    }

    /// Removes an entry from a storage that has just failed: a later process would send an entry left there.
    private func isRemoved(_ id: String) -> Bool {
        do {
            try options.storage?.remove(id)
            return true
        } catch {
            options.fault("The outbox cannot be written: \(error)")
            return false
        }
    }

    private func perform(_ output: ClientOutput) {
        switch output {
        case .open(let generation, let token): open(generation, token)
        case .send(let generation, let text):
            state.with { $0.socket?.generation == generation ? $0.socket?.socket : nil }?.send(text)
        case .close(let generation, let code):
            let socket = state.with { state -> (any SwitchboardSocket)? in
                guard state.socket?.generation == generation else { return nil }
                defer { state.socket = nil }
                return state.socket?.socket
            }
            socket?.close(code: code)
        case .askToken(let fetch, let reason): askToken(fetch, reason)
        case .tell(let listener, let update): state.with { $0.readers[listener] }?.push(update)
        case .end(let listener, let error): state.with { $0.readers.removeValue(forKey: listener) }?.finish(error)
        case .finish(let ticket, let result):
            state.with { $0.waiters.removeValue(forKey: ticket) }?.resume(returning: result)
        case .result(let result):
            for reader in state.with({ $0.resultReaders.values.map { $0 } }) { reader.push(result) }
        case .store: break
        case .forget(let id):
            do { try options.storage?.remove(id) } catch { options.fault("The outbox cannot be written: \(error)") }
        case .status(let status):
            warn(of: status)
            for reader in state.with({ $0.statusReaders.values.map { $0 } }) { reader.push(status) }
        }
    }

    private func open(_ generation: Int, _ token: String?) {
        let protocols = token.map { ["switchboard.v1", "bearer." + $0] } ?? []
        let socket = transport.open(SocketRequest(url: url, protocols: protocols)) { [weak self] event in
            switch event {
            case .opened: self?.take(.opened(generation: generation))
            case .text(let text): self?.take(.text(generation: generation, text))
            case .closed(let code, let httpStatus, let message):
                self?.options.log("closed: \(code) \(httpStatus.map(String.init) ?? "") \(message)")
                self?.take(.closed(generation: generation, code: code, httpStatus: httpStatus, message: message))
            }
        }
        // An event may meanwhile have dropped the present socket; its `close` follows this output.
        let old = state.with { state in
            defer { state.socket = (generation, socket) }
            return state.socket?.socket
        }
        old?.close(code: 1_000)
    }

    private func askToken(_ fetch: Int, _ reason: TokenReason) {
        let source = state.with { $0.source }
        Task { [weak self] in
            let token = try? await source.fetch(reason)
            self?.take(.token(fetch: fetch, token))
        }
    }
}
