internal import Connections
internal import Core
internal import Reactors

/// One Sentinel: a link for questions, and one on which it reports that a master has changed.
///
/// Thread: the reactor's.
final class SentinelVoice: PatternLinkOwner {
    private let onChange: (ArraySlice<UInt8>?) -> Void
    private var link: CallLink?
    private var ear: PatternLink?

    /// Begins to dial.
    ///
    /// `onChange` receives the name of the master that a Sentinel reports as changed. It receives `nil` when the
    /// Sentinel answers again, since a change may have been missed.
    init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String,
        onChange: @escaping (ArraySlice<UInt8>?) -> Void
    ) throws(Errno) {
        self.onChange = onChange
        var target = target
        target.callMs = target.sentinelCallMs
        let directory = PrimaryDirectory(fixed: target.url)
        link = try CallLink(context, target, directory, name: name + "-sentinel", registry: .none) { [weak self] _ in
            self?.onChange(nil)
        }
        ear = try PatternLink(
            context, target, directory, name: name + "-sentinel-events", patterns: [],
            channels: [Array("+switch-master".utf8)], pingMs: target.sentinelRefreshMs,
            pongMs: target.connectMs, owner: self)
    }

    /// Whether it can be asked.
    var isReady: Bool { link?.isReady == true }

    /// Ends both links.
    func stop() {
        link?.stop()
        ear?.stop()
    }

    /// Asks for a master by name; `completion` runs once, after `sentinelCallMs` at the latest.
    func ask(_ name: [UInt8], _ completion: @escaping (SentinelAnswer) -> Void) {
        guard let link else { return completion(.silent(RedisFailure(.disconnected))) }
        guard link.isReady else { return completion(.silent(link.lastFailure ?? RedisFailure(.disconnected))) }
        link.call(RedisCall("SENTINEL", Array("MASTER".utf8), name)) { completion(SentinelAnswer($0)) }
    }

    func patternsLive() {}
    func patternsLost(_ failure: RedisFailure) {}
    func patternMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        onChange(payload.prefix { $0 != UInt8(ascii: " ") })
    }
}
