import Commands
public import Configuration
import Connections
import Core
import Reactors
import RedisLink
public import Service

/// Renames keys for another layout, in their Redis or into another, while no gateway and no worker runs.
///
/// Either Redis may be a cluster: each key is then copied to or from the master of its slot. Renaming is one step of
/// Redis for each key. A missing copy is made, an existing one is compared. So a move that was killed and starts again
/// repeats nothing. It goes through all keys until nothing is left to do: the last pass is the verification. Thread:
/// the caller's.
public final class DataMove {
    /// The result of a move.
    public struct Outcome: Sendable {
        /// Keys that got their new name, or would get one.
        public internal(set) var moved = 0
        /// Keys that were found complete under their new name afterwards.
        public internal(set) var verified = 0
        /// Keys of other owners, which were left unchanged.
        public internal(set) var foreign = 0
        /// Keys whose new name holds another value, printable, at most ``DataMove/conflictsMax``.
        public internal(set) var conflicts: [String] = []
        /// The reason why the move is incomplete; `nil` when it is complete.
        public internal(set) var failure: String?
    }

    /// The most conflicts that are listed.
    static let conflictsMax = 20
    private static let passesMax = 5
    private static let clientName = "switchboard-move-data"
    /// The period of checks whether a server is away, milliseconds.
    private static let lookEveryMs = 1_000

    let settings: MoveDataSettings
    let reactor: Reactor
    private let digest: ScriptID
    private let position: ScriptID
    /// The generation of the source's `+`; `nil` where it has none.
    private var generation: [UInt8]?
    private var source: WholeRedis?
    private var target: WholeRedis?
    private var timer: ReactorTimer?
    var outcome = Outcome()
    private var names = KeyMove(from: Keys(prefix: []), to: Keys(prefix: []), isSame: false)
    private var hasBegun = false
    /// The processes and slots of both ends at the start.
    private var lives: [[UInt8]] = []
    /// Whether this is the first pass, which changes nothing: it counts, and finds outboxes that are not empty.
    private var isLooking = true
    private var isSame = false
    private var pass = 0
    private var pageCursor: [UInt8] = []
    private var left = 0
    /// The keys changed, verified and foreign in this pass.
    private var changed = 0
    private var verified = 0
    private var foreign = 0

    /// Makes everything except the connections.
    public init(_ settings: MoveDataSettings) throws(StartProblem) {
        self.settings = settings
        let limits = DataMove.patient(settings.limits)
        let library = try ScriptLibrary(
            packs: [], directory: nil, namespaces: [String](), reservedPaths: [])
        do {
            // Only these scripts are loaded.
            let table = try ScriptTable(["key_digest", "position"].compactMap { library.table[$0]?.source })
            digest = try table.required("key_digest")
            position = try table.required("position")
            reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
            func whole(_ url: String) throws -> WholeRedis {
                try WholeRedis(
                    context, try RedisTarget.reading(url, limits: limits), name: DataMove.clientName,
                    registry: table.registry, tell: { [unowned self] in if $0.isChange { connected() } })
            }
            source = try whole(settings.from)
            target = try whole(settings.to)
            timer = try ReactorTimer(reactor) { [unowned self] in lookAround() }
        } catch {
            throw error as? StartProblem ?? StartProblem("cannot start: \(error)")
        }
    }

    /// The limits for keys of any size that Redis allows, and for the time that they take.
    private static func patient(_ limits: Limits) -> Limits {
        var limits = limits
        limits.redisReplyBytesMax = 1 << 30
        limits.redisReplyElementsMax = max(limits.redisReplyElementsMax, 1_000_000)
        limits.redisCallBytesMax = 1 << 30
        limits.redisOutboundBytesMax = 1 << 30
        limits.redisCallMs = 600_000
        limits.redisStallMs = 600_000
        return limits
    }

    /// Runs the move; returns when everything is moved and verified, or with the reason why not.
    public func run() -> Outcome {
        timer?.set(atMs: reactor.nowMs + settings.limits.redisConnectMs * 3)
        reactor.run()
        source?.stop()
        target?.stop()
        timer?.invalidate()
        return outcome
    }

    private func stop(_ failure: String?) {
        if outcome.failure == nil { outcome.failure = failure }
        reactor.stop()
    }

    // MARK: Beginning

    /// A connection was made, or a cluster has other masters.
    private func connected() {
        guard let source, let target else { return }
        guard !hasBegun else { return stopIfOthers() }
        guard source.isWhole, target.isWhole else { return }
        hasBegun = true
        lives = [source.life, target.life]
        timer?.set(atMs: reactor.nowMs + DataMove.lookEveryMs)
        isSame = !source.runIDs.isDisjoint(with: target.runIDs)
        guard !isSame || !source.link.isSharded && !target.link.isSharded else {
            return stop("--from and --to are servers of one cluster, where names are tagged already")
        }
        look { [self] found in
            switch found {
            case .failure(let problem): stop(problem.text)
            case .success(let layout):
                let from = Keys(prefix: Array(settings.redisPrefix.utf8), layout: layout)
                let to = Keys(prefix: Array(settings.redisPrefix.utf8), layout: settings.layout)
                names = KeyMove(from: from, to: to, isSame: isSame)
                PositionMove.generation(of: source, sealed: from.sealed) { [self] result in
                    guard case .success(let generation) = result else {
                        return stop(result.failed.map(KeyCopy.sentence))
                    }
                    self.generation = generation
                    begin()
                }
            }
        }
    }

    /// Stops when another process or master serves one end: its data may differ from those that were copied.
    private func stopIfOthers() {
        guard let source, let target else { return }
        for (whole, before) in zip([source, target], lives) where whole.isWhole && whole.life != before {
            stop("Redis was started again, or other masters have the slots; run it again to go on")
        }
    }

    /// Gives up when a server is away; called at the start, then periodically while calls may wait for long.
    private func lookAround() {
        guard let source, let target, let away = [source, target].first(where: { !$0.isWhole }) else {
            timer?.set(atMs: reactor.nowMs + DataMove.lookEveryMs)
            return
        }
        guard hasBegun else { return stop("Redis cannot be used: " + away.trouble) }
        stop("the connection to Redis was lost (\(away.trouble)); run it again to go on")
    }

    /// Checks whether the move may begin, and from which layout.
    private func look(_ completion: @escaping (Result<KeyLayout, MoveProblem>) -> Void) {
        guard let source, let target else { return }
        look(at: source).run { [self] result in
            guard case .success(let here) = result else { return completion(result.map { _ in .plain }) }
            guard !isSame else { return completion(here.layoutBefore(settings.layout)) }
            guard !here.isMoving else {
                return completion(
                    .failure(MoveProblem("a move within --from has begun and was not finished; end it first")))
            }
            look(at: target).run { [self] result in
                guard case .success(let there) = result else { return completion(result.map { _ in .plain }) }
                guard there.isFree(for: settings.layout) else {
                    return completion(.failure(MoveProblem("the Redis of --to has data of Switchboard already")))
                }
                completion(.success(here.layout ?? .plain))
            }
        }
    }

    private func look(at whole: WholeRedis) -> DataMoveLook {
        DataMoveLook(whole: whole, prefix: settings.redisPrefix, own: DataMove.clientName)
    }

    // MARK: Going through the keys

    private func begin() {
        pass += 1
        (changed, verified, foreign) = (0, 0, 0)
        outcome.conflicts = []
        scan(KeyPage.firstCursor)
    }

    private func scan(_ cursor: [UInt8]) {
        ask(KeyPage.call(at: cursor, count: settings.limits.scanKeys)) { [self] reply in
            guard let page = KeyPage(reply) else { return stop("SCAN was answered by something else") }
            pageCursor = page.cursor
            left = page.names.count
            guard left > 0 else { return pageEnded() }
            for name in page.names { take(name) }
        }
    }

    private func take(_ name: [UInt8]) {
        switch names.place(name) {
        case .mark, .done: ended()
        case .foreign:
            foreign += 1
            ended()
        case .outbox: checkEmpty(name)
        case .ours(let new) where isLooking:
            if !isSame || new != name { changed += 1 }
            ended()
        case .ours(let new) where isSame: rename(name, new)
        case .ours(let new): compare(name, new)
        }
    }

    private func checkEmpty(_ outbox: [UInt8]) {
        ask(RedisCall("XLEN", outbox)) { [self] reply in
            guard reply.integer == 0 else {
                return stop("the outbox is not empty: let a worker run until it is, then stop it")
            }
            ended()
        }
    }

    private func rename(_ name: [UInt8], _ new: [UInt8]) {
        guard let source, new != name else { return ended() }
        source.link.call(RedisCall("RENAMENX", name, new)) { [self] result in
            switch result {
            case .success(let value) where value.integer == 1: changed += 1
            case .success: conflict(name)
            // The key has expired meanwhile.
            case .failure(let failure) where failure.detail.contains("no such key"): break
            case .failure(let failure): return stop(KeyCopy.sentence(failure))
            }
            ended()
        }
    }

    private func compare(_ name: [UInt8], _ new: [UInt8]) {
        guard let source, let target else { return }
        let copy = KeyCopy(source: source.link, target: target.link, digest: digest)
        let isPosition = PositionMove.isPosition(name)
        copy.run(name, new, leavingOut: isPosition ? PositionMove.field : nil) { [self] outcome in
            switch outcome {
            case .gone: break
            case .copied: changed += 1
            case .verified:
                verified += 1
                if isPosition { return handOver(name, new) }
            case .different: conflict(name)
            case .failed(let sentence): return stop(sentence)
            }
            ended()
        }
    }

    private func handOver(_ name: [UInt8], _ new: [UInt8]) {
        guard let source, let target else { return }
        let move = PositionMove(source: source, target: target, position: position, generation: generation)
        move.run(name, new) { [self] failure in
            if let failure { return stop(KeyCopy.sentence(failure)) }
            ended()
        }
    }

    private func conflict(_ name: [UInt8]) {
        guard outcome.conflicts.count < DataMove.conflictsMax else { return }
        let shown = name.prefix(200).map { $0 >= 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }
        outcome.conflicts.append(String(decoding: shown, as: UTF8.self))
    }

    private func ended() {
        left -= 1
        if left == 0 { pageEnded() }
    }

    private func pageEnded() {
        guard outcome.failure == nil else { return }
        guard pageCursor == KeyPage.firstCursor else { return scan(pageCursor) }
        outcome.foreign = foreign
        if isLooking { return looked() }
        outcome.moved += changed
        if changed == 0 { return finish() }
        guard pass < DataMove.passesMax else {
            return stop("keys keep coming: stop whatever writes them, and run it again")
        }
        begin()
    }

    private func looked() {
        guard !settings.isDryRun else {
            outcome.moved = changed
            return stop(nil)
        }
        isLooking = false
        pass = 0
        // From now on no gateway or worker may start, in any layout, until the last key was moved.
        mark(isMoving: true) { [self] in begin() }
    }

    private func mark(isMoving: Bool, _ completion: @escaping () -> Void) {
        let mark = LayoutMark(settings.layout, format: ProductVersion.format, isMoving: isMoving)
        let to = Keys(prefix: Array(settings.redisPrefix.utf8), layout: settings.layout)
        target?.link.call(RedisCall("SET", to.layoutMark, mark.text)) { [self] result in
            if case .failure(let failure) = result { return stop(KeyCopy.sentence(failure)) }
            completion()
        }
    }

    private func finish() {
        outcome.verified = isSame ? outcome.moved : verified
        guard outcome.conflicts.isEmpty, let source, let target else { return stop(nil) }
        // On a cluster only one master has the mark that keeps others away, so connections made meanwhile are searched.
        look(at: source).users { [self] problem in
            if let problem { return stop(problem.text) }
            look(at: target).users { [self] problem in
                if let problem { return stop(problem.text) }
                mark(isMoving: false) { [self] in stop(nil) }
            }
        }
    }

    private func ask(_ call: RedisCall, _ completion: @escaping (RESPValue) -> Void) {
        source?.link.call(call) { [self] result in
            switch result {
            case .success(let value): completion(value)
            case .failure(let failure): stop(KeyCopy.sentence(failure))
            }
        }
    }
}
