import Commands
public import Configuration
import Core
import Reactors
import RedisLink
public import Service
import Transport

/// Gives keys the names of another layout, in their Redis or in another, while no gateway and no worker runs.
///
/// Renaming is one step of Redis for each key. A copy is made where there is none, and compared where there is one. So
/// whoever is killed and begins again does nothing twice. It goes through all keys until nothing is left to do: the last
/// time is the verification. Thread: the caller's.
public final class DataMove {
    /// What a move came to.
    public struct Outcome: Sendable {
        /// Keys that got their new name, or would get one.
        public internal(set) var moved = 0
        /// Keys that were found whole under their new name afterwards.
        public internal(set) var verified = 0
        /// Keys of other owners, which were left.
        public internal(set) var foreign = 0
        /// Keys whose new name another value has, printable, at most ``DataMove/conflictsMax``.
        public internal(set) var conflicts: [String] = []
        /// Why not everything was done; `nil` when it was.
        public internal(set) var failure: String?
    }

    /// Conflicts that are told.
    static let conflictsMax = 20
    private static let passesMax = 5
    private static let clientName = "switchboard-move-data"

    let settings: MoveDataSettings
    let reactor: Reactor
    private let digest: ScriptID
    private var servers: [LocalServers] = []
    private var source: CallLink?
    private var target: CallLink?
    private var timer: ReactorTimer?
    var outcome = Outcome()
    private var names = KeyMove(from: Keys(prefix: []), to: Keys(prefix: []))
    private var hasBegun = false
    /// The first round changes nothing: it counts, and finds outboxes that are not empty.
    private var isLooking = true
    private var isSame = false
    private var pass = 0
    private var pageCursor: [UInt8] = []
    private var left = 0
    /// What was changed, verified and seen of others in this pass.
    private var changed = 0
    private var verified = 0
    private var foreign = 0

    /// Makes everything but the connections.
    public init(_ settings: MoveDataSettings) throws(StartProblem) {
        self.settings = settings
        let limits = DataMove.patient(settings.limits)
        let library = try ScriptLibrary(
            packs: [], directory: nil, namespaces: NamespacePolicy.defaults.keys, reservedPaths: [])
        do {
            guard let entry = library.table["key_digest"] else {
                throw StartProblem("the embedded scripts are incomplete")
            }
            // This one alone is loaded.
            let table = try ScriptTable([entry.source])
            guard let only = table["key_digest"] else { throw StartProblem("the embedded scripts are incomplete") }
            digest = only.id
            reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
            func link(_ url: String) throws -> CallLink {
                let redis = try RedisTarget.reading(url, limits: limits)
                guard !redis.url.isCluster else {
                    throw StartProblem("move-data speaks to one server, and not to a cluster yet")
                }
                let server = try LocalServers(context, redis, name: DataMove.clientName)
                servers.append(server)
                return try CallLink(
                    context, redis, server.board, name: DataMove.clientName, registry: table.registry,
                    onReady: { [unowned self] _ in connected() })
            }
            source = try link(settings.from)
            target = try link(settings.to)
            timer = try ReactorTimer(reactor) { [unowned self] in
                guard !hasBegun else { return }
                let trouble = [source, target].compactMap { $0?.isReady == true ? nil : $0?.lastFailure }.first
                stop("Redis cannot be used: " + (trouble.map { "\($0.metricLabel) \($0.detail)" } ?? "no answer"))
            }
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("cannot start: \(error)")
        }
    }

    /// One key may be as large as Redis lets it be, and takes its time.
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

    /// Does the whole; returns when everything is moved and verified, or why it is not.
    public func run() -> Outcome {
        timer?.set(atMs: reactor.nowMs + settings.limits.redisConnectMs * 3)
        reactor.run()
        source?.stop()
        target?.stop()
        for server in servers { server.stop() }
        timer?.invalidate()
        return outcome
    }

    private func stop(_ failure: String?) {
        if outcome.failure == nil { outcome.failure = failure }
        reactor.stop()
    }

    // MARK: Beginning

    private func connected() {
        guard let source, let target, source.isReady, target.isReady else { return }
        guard !hasBegun else { return stop("the connection to Redis was lost; run it again to go on") }
        hasBegun = true
        isSame = source.facts?.runID == target.facts?.runID
        look { [self] found in
            switch found {
            case .failure(let problem): stop(problem.text)
            case .success(let layout):
                let from = Keys(prefix: Array(settings.redisPrefix.utf8), layout: layout)
                let to = Keys(prefix: Array(settings.redisPrefix.utf8), layout: settings.redisLayout)
                names = KeyMove(from: from, to: to)
                begin()
            }
        }
    }

    /// Finds out whether the move may begin, and from which layout.
    private func look(_ completion: @escaping (Result<KeyLayout, MoveProblem>) -> Void) {
        guard let source, let target else { return }
        DataMoveLook(link: source, prefix: settings.redisPrefix, own: DataMove.clientName).run { [self] result in
            guard case .success(let here) = result else { return completion(result.map { _ in .plain }) }
            guard !isSame else { return completion(here.layoutBefore(settings.redisLayout)) }
            guard !here.isMoving else {
                return completion(
                    .failure(MoveProblem("a move within --from has begun and was not finished; end it first")))
            }
            DataMoveLook(link: target, prefix: settings.redisPrefix, own: DataMove.clientName).run { [self] result in
                guard case .success(let there) = result else { return completion(result.map { _ in .plain }) }
                guard there.isFree(for: settings.redisLayout) else {
                    return completion(.failure(MoveProblem("the Redis of --to has data of Switchboard already")))
                }
                completion(.success(here.layout ?? .plain))
            }
        }
    }

    // MARK: Going through the keys

    private func begin() {
        pass += 1
        (changed, verified, foreign) = (0, 0, 0)
        outcome.conflicts = []
        scan(Array("0".utf8))
    }

    private func scan(_ cursor: [UInt8]) {
        guard let source else { return }
        var call = RedisCall("SCAN", cursor, Array("COUNT".utf8))
        call.append(decimal: settings.limits.scanKeys)
        ask(source, call) { [self] reply in
            guard let fields = reply.elements, fields.count == 2, let cursor = fields[0].bytes,
                let page = fields[1].elements?.compactMap(\.bytes)
            else { return stop("SCAN was answered by something else") }
            pageCursor = cursor
            left = page.count
            guard left > 0 else { return pageEnded() }
            for name in page { take(name) }
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
        guard let source else { return }
        ask(source, RedisCall("XLEN", outbox)) { [self] reply in
            guard reply.integer == 0 else {
                return stop("the outbox is not empty: let a worker run until it is, then stop it")
            }
            ended()
        }
    }

    private func rename(_ name: [UInt8], _ new: [UInt8]) {
        guard let source, new != name else { return ended() }
        source.call(RedisCall("RENAMENX", name, new)) { [self] result in
            switch result {
            case .success(let value) where value.integer == 1: changed += 1
            case .success: conflict(name)
            // It has come to the end of its life meanwhile.
            case .failure(let failure) where failure.detail.contains("no such key"): break
            case .failure(let failure): return stop("\(failure.metricLabel) \(failure.detail); run it again to go on")
            }
            ended()
        }
    }

    private func compare(_ name: [UInt8], _ new: [UInt8]) {
        guard let source, let target else { return }
        run(source, name) { [self] original in
            run(target, new) { [self] copy in
                if original.kind == "none" { return ended() }
                if copy.kind == "none" { return restore(name, new) }
                // A life may be the shorter by what the copy took.
                let isAlive = (original.ttlMs < 0) == (copy.ttlMs < 0) && abs(original.ttlMs - copy.ttlMs) < 60_000
                if original.kind == copy.kind && original.digest == copy.digest && isAlive {
                    verified += 1
                } else {
                    conflict(name)
                }
                ended()
            }
        }
    }

    private func restore(_ name: [UInt8], _ new: [UInt8]) {
        guard let source, let target else { return }
        ask(source, RedisCall("PTTL", name)) { [self] life in
            ask(source, RedisCall("DUMP", name)) { [self] dump in
                guard let text = dump.bytes, let lifeMs = life.integer, lifeMs != -2 else { return ended() }
                var call = RedisCall("RESTORE", new)
                call.append(decimal: max(lifeMs, 0))
                call.append(text)
                ask(target, call) { [self] _ in
                    changed += 1
                    ended()
                }
            }
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
        guard pageCursor == Array("0".utf8) else { return scan(pageCursor) }
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
        guard let target, !settings.isDryRun else {
            outcome.moved = changed
            return stop(nil)
        }
        isLooking = false
        pass = 0
        // From here on nobody may start, in whatever layout, until the last key was moved.
        mark(target, LayoutGuard.moving + settings.redisLayout.rawValue) { [self] in begin() }
    }

    private func mark(_ link: CallLink, _ text: String, _ completion: @escaping () -> Void) {
        let to = Keys(prefix: Array(settings.redisPrefix.utf8), layout: settings.redisLayout)
        ask(link, RedisCall("SET", to.layoutMark, Array(text.utf8))) { _ in completion() }
    }

    private func finish() {
        outcome.verified = isSame ? outcome.moved : verified
        guard outcome.conflicts.isEmpty, let target else { return stop(nil) }
        mark(target, settings.redisLayout.rawValue) { [self] in stop(nil) }
    }

    // MARK: Asking

    private struct Digest {
        var kind = "none"
        var digest: [UInt8] = []
        var ttlMs = -1
    }

    private func run(_ link: CallLink, _ name: [UInt8], _ completion: @escaping (Digest) -> Void) {
        link.run(ScriptCall(script: digest, keys: [name], arguments: []), lane: nil) { [self] result in
            guard case .success(let value) = result, let fields = value.elements, fields.count == 3,
                let kind = fields[0].bytes, let digest = fields[1].bytes, let ttlMs = fields[2].integer
            else {
                if case .failure(let failure) = result {
                    return stop("\(failure.metricLabel) \(failure.detail); run it again to go on")
                }
                return stop("a key's digest was answered by something else")
            }
            completion(Digest(kind: String(decoding: kind, as: UTF8.self), digest: digest, ttlMs: ttlMs))
        }
    }

    private func ask(_ link: CallLink, _ call: RedisCall, _ completion: @escaping (RESPValue) -> Void) {
        link.call(call) { [self] result in
            switch result {
            case .success(let value): completion(value)
            case .failure(let failure): stop("\(failure.metricLabel) \(failure.detail); run it again to go on")
            }
        }
    }
}
