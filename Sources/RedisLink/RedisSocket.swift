internal import Connections
internal import Core
internal import Reactors

/// The callbacks of a socket for its link.
///
/// Thread: the reactor's.
protocol RedisSocketOwner: AnyObject {
    /// The connection is up, authenticated, and leads to a master.
    func socketReady(_ facts: ServerFacts)
    /// A reply or a push arrived.
    func socketReceived(_ value: RESPValue)
    /// The connection was lost; another is dialled after a pause.
    func socketDown(_ failure: RedisFailure)
}

/// One connection to Redis, which is dialled again after every loss.
///
/// Each dial asks the directory for the address, resolves the name anew, and sends the greeting. Only a master that is
/// not loading is accepted, so that the socket leaves a demoted or wrong server at once. Thread: the reactor's; its
/// link starts and stops it.
final class RedisSocket: ConnectionHandler {
    private enum State {
        case stopped
        case pausing
        /// The directory is asked where to dial.
        case asking
        case dialling
        /// The number of unanswered calls of the greeting; the last one is INFO.
        case greeting(Int)
        /// The layout of new data is being recorded.
        case marking(ServerFacts)
        /// Another process recorded a layout first: it is read again.
        case rereading(ServerFacts)
        case ready
    }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let directory: PrimaryDirectory
    private let name: String
    private unowned let owner: any RedisSocketOwner
    private var state = State.stopped
    private var connection: Connection?
    private var reader: RESPReaderBox?
    private var timer: ReactorTimer?
    private var backOff: BackOff
    private var failure = RedisFailure(.disconnected)
    private var isFailing = false
    /// The answer to the greeting's CONFIG GET.
    private var config: [[UInt8]: [UInt8]] = [:]
    /// The greeting's answers about the layout of the keys.
    private var layoutAnswers: [RESPValue] = []
    /// The server of the present dial or connection; `nil` while there is none.
    private(set) var master: ServerMap.Master?
    /// The number of dials; a resolver's answer to an earlier dial is recognised by it.
    private var dial = 0
    /// Storage for the replies of the next bytes, so that receiving them allocates none.
    private var spareValues: [RESPValue] = []

    /// Replies for which storage is kept.
    private static let spareValuesMax = 64

    /// Makes a stopped socket; `name` is shown in `CLIENT LIST`.
    init(
        _ context: ConnectionContext, _ target: RedisTarget, _ directory: PrimaryDirectory, name: String,
        owner: any RedisSocketOwner
    ) {
        self.context = context
        self.target = target
        self.directory = directory
        self.name = name
        self.owner = owner
        backOff = BackOff(minMs: target.backOffMinMs, maxMs: target.backOffMaxMs)
    }

    var isReady: Bool {
        if case .ready = state { return true }
        return false
    }

    /// Begins to dial.
    func start() throws(Errno) {
        guard case .stopped = state else { return }
        timer = try ReactorTimer(context.reactor) { [unowned self] in timerFired() }
        directory.join(self)
        dialNow()
    }

    /// Ends the connection and stops dialling.
    func stop() {
        state = .stopped
        directory.leave(self)
        timer?.invalidate()
        timer = nil
        connection?.close(.normal)
        connection = nil
    }

    /// Sends an encoded call; returns `false` when the socket is not ready or its queue is full.
    func send(_ bytes: [UInt8]) -> Bool {
        isReady && connection?.send(bytes) == true
    }

    /// Sends calls that the owner awaits replies to, together; on failure gives up the connection and returns `false`.
    @discardableResult
    func send(_ calls: [RedisCall]) -> Bool {
        var bytes: [UInt8] = []
        for call in calls {
            guard (try? call.encode(into: &bytes, limits: target.call)) != nil else {
                fail(RedisFailure(.tooLarge))
                return false
            }
        }
        guard send(bytes) else {
            fail(RedisFailure(.inFlightFull))
            return false
        }
        return true
    }

    /// Gives up the connection: replies can no longer be matched, or it leads to the wrong server.
    ///
    /// The first failure is reported as the reason; later ones on the same connection are its consequences.
    func fail(_ failure: RedisFailure) {
        guard let connection, !isFailing else { return }
        isFailing = true
        self.failure = failure
        connection.abort(.normal)
    }

    // MARK: Dialling

    /// Takes the directory's present map, after a change or an answer to a question.
    func told(_ map: ServerMap) {
        switch state {
        case .asking:
            if let first = map.masters.first { dial(first) } else { refused(map.trouble ?? RedisFailure(.noMaster)) }
        case .dialling, .greeting, .marking, .rereading, .ready:
            // While no master is known, a working connection is kept.
            guard let first = map.masters.first else { return }
            if first.endpoint == master?.endpoint { master = first } else { leave() }
        case .stopped, .pausing: break
        }
    }

    /// Leaves the server, because another is the master now: writes here may be lost.
    private func leave() {
        backOff.succeeded()
        let failure = RedisFailure(.readOnly, detail: "another server is the master now")
        if connection == nil { refused(failure) } else { fail(failure) }
    }

    private func refused(_ failure: RedisFailure) {
        self.failure = failure
        pause()
        owner.socketDown(failure)
    }

    private func dialNow() {
        master = nil
        dial &+= 1
        failure = RedisFailure(.disconnected)
        isFailing = false
        timer?.set(atMs: context.reactor.nowMs + target.connectMs)
        if directory.asks {
            state = .asking
            directory.hint(.dialling)
        } else if let first = directory.map?.masters.first {
            dial(first)
        }
    }

    private func dial(_ master: ServerMap.Master) {
        state = .dialling
        self.master = master
        switch master.endpoint {
        case .unix(let path):
            connect(to: .unix(path: String(decoding: path, as: UTF8.self)), tls: nil, name: "")
        case .network(let host, let port, let tls):
            let current = dial
            do {
                try Resolver.resolve(host, on: context.reactor) { [weak self] addresses in
                    guard let self, current == dial, case .dialling = state else { return }
                    guard !addresses.isEmpty else { return pause() }
                    // Addresses are tried in turn: `localhost` may be ::1 first, where no server listens.
                    let address = addresses[current % addresses.count]
                    let port = UInt16(truncatingIfNeeded: port)
                    connect(to: .tcp(address, port: port), tls: tls ? target.tls : nil, name: host)
                }
            } catch {
                pause()
            }
        // The addresses of Sentinels and of a cluster are those of their watches.
        default: pause()
        }
    }

    private func connect(to endpoint: Endpoint, tls: TLSContext?, name: String) {
        do {
            connection = try Connection.connect(
                context, to: endpoint, tls: tls, name: name, outboundBytesMax: target.outboundBytesMax, handler: self)
        } catch {
            pause()
        }
    }

    private func pause() {
        guard timer != nil else { return }
        state = .pausing
        connection = nil
        reader = nil
        var random = SystemRandomNumberGenerator()
        timer?.set(atMs: context.reactor.nowMs + backOff.next(using: &random))
    }

    private func timerFired() {
        switch state {
        case .pausing: dialNow()
        case .asking: refused(directory.map?.trouble ?? RedisFailure(.timedOut, detail: "no Sentinel answered in time"))
        case .dialling, .greeting, .marking, .rereading:
            failure = RedisFailure(.timedOut)
            if let connection { connection.abort(.timeout) } else { pause() }
        case .ready, .stopped: break
        }
    }

    // MARK: ConnectionHandler

    func opened(_ connection: Connection) {
        guard let made = try? RESPReaderBox(limits: target.reply) else { return connection.abort(.internalError) }
        reader = made
        layoutAnswers = []
        var calls = target.url.greeting + (target.layout?.questions ?? [])
        calls.append(RedisCall("CLIENT", Array("SETNAME".utf8), Array(name.utf8)))
        calls.append(ServerFacts.persistenceQuestion)
        calls.append(RedisCall("INFO", Array("everything".utf8)))
        state = .greeting(calls.count)
        var bytes: [UInt8] = []
        for call in calls {
            guard (try? call.encode(into: &bytes, limits: target.call)) != nil else {
                return connection.abort(.internalError)
            }
        }
        _ = connection.send(bytes)
    }

    func received(_ bytes: Span<UInt8>) {
        guard let reader else { return }
        var values: [RESPValue] = []
        swap(&values, &spareValues)
        defer {
            values.removeAll(keepingCapacity: values.capacity <= RedisSocket.spareValuesMax)
            spareValues = values
        }
        do throws(RESPError) {
            try reader.reader.read(bytes, into: &values)
        } catch {
            return fail(RedisFailure(error))
        }
        for value in values where !isFailing {
            switch state {
            case .greeting(let left): greeted(value, left: left)
            case .marking(let facts): marked(value, facts)
            case .rereading(let facts): reread(value, facts)
            case .ready: owner.socketReceived(value)
            case .stopped, .pausing, .asking, .dialling: return
            }
        }
    }

    private func greeted(_ value: RESPValue, left: Int) {
        let asked = target.layout?.questions.count ?? 0
        if left > 3 && left <= 3 + asked {
            layoutAnswers.append(value)
            state = .greeting(left - 1)
            return
        }
        if let refused = value.failure {
            // An ACL may forbid CLIENT SETNAME, which is optional. Some hosts rename or remove CONFIG; then no write is
            // known to be synced. The last reply, INFO's, is required.
            guard left == 2 || left == 3 && refused.kind == .noPermission else { return fail(refused) }
        }
        guard left == 1 else {
            if left == 2 { config = ServerFacts.config(value) ?? [:] }
            state = .greeting(left - 1)
            return
        }
        guard let text = value.bytes, var facts = ServerFacts(info: text) else {
            return fail(RedisFailure(.protocolViolation, detail: "INFO was not understood"))
        }
        facts.apply(config: config)
        if let failure = refusal(of: facts) { return fail(failure) }
        judge(facts)
    }

    /// Becomes ready when the keys have the expected layout; the layout of new data is recorded first.
    private func judge(_ facts: ServerFacts) {
        switch target.layout?.verdict(layoutAnswers) ?? .fits {
        case .fits: begin(facts)
        case .refused(let failure): fail(failure)
        case .isNew:
            var bytes: [UInt8] = []
            guard (try? target.layout?.mark.encode(into: &bytes, limits: target.call)) != nil,
                connection?.send(bytes) == true
            else { return fail(RedisFailure(.disconnected)) }
            state = .marking(facts)
        }
    }

    /// Takes the answer to recording the layout; null means that another process recorded one first, which is read.
    private func marked(_ value: RESPValue, _ facts: ServerFacts) {
        guard case .null = value, let layout = target.layout else { return begin(facts) }
        var bytes: [UInt8] = []
        for call in layout.questions {
            guard (try? call.encode(into: &bytes, limits: target.call)) != nil else { return fail(.init(.tooLarge)) }
        }
        guard connection?.send(bytes) == true else { return fail(RedisFailure(.disconnected)) }
        layoutAnswers = []
        state = .rereading(facts)
    }

    private func reread(_ value: RESPValue, _ facts: ServerFacts) {
        layoutAnswers.append(value)
        if layoutAnswers.count == target.layout?.questions.count { judge(facts) }
    }

    private func begin(_ facts: ServerFacts) {
        backOff.succeeded()
        timer?.clear()
        state = .ready
        owner.socketReady(facts)
    }

    /// The reason why this server cannot be used; `nil` when it can.
    private func refusal(of facts: ServerFacts) -> RedisFailure? {
        guard let role = target.role else { return nil }
        guard facts.role == role else {
            switch facts.role {
            case .master: return RedisFailure(.protocolViolation, detail: "the server is no Sentinel")
            case .replica: return RedisFailure(.readOnly, detail: "the server is a replica")
            case .sentinel:
                return RedisFailure(.protocolViolation, detail: "the server is a Sentinel: write redis+sentinel://")
            }
        }
        if facts.isLoading { return RedisFailure(.loading) }
        // The history has changed since the directory's owner looked: it looks again before the next dial.
        guard let told = master?.history, !told.isEmpty, told != facts.history else { return nil }
        return RedisFailure(.readOnly, detail: "the server's history has changed since it was looked at")
    }

    /// Does nothing: the socket's own timer keeps every deadline.
    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        guard timer != nil else { return }
        if !isFailing, let text = connection?.failureText, !text.isEmpty {
            failure = RedisFailure(.disconnected, text: text)
        }
        pause()
        owner.socketDown(failure)
    }
}

/// A box in which a noncopyable reader can be replaced and mutated.
final class RESPReaderBox {
    var reader: RESPReader

    init(limits: RESPLimits) throws(RESPError) {
        reader = try RESPReader(limits: limits)
    }
}
