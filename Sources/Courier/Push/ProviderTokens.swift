import Core
import Push
import Reactors
import RedisLink

/// The provider token that couriers share in Redis: read, made when there is none, and replaced before it ends.
///
/// Thread: the courier's.
final class ProviderTokens {
    typealias Completion = (ProviderToken?) -> Void

    private let apns: APNsKey
    private let link: any RedisCalls
    private let key: [UInt8]
    private let clock: NodeClock
    private var current: ProviderToken?
    private var waiting: [Completion] = []

    init(_ apns: APNsKey, _ link: any RedisCalls, _ keys: Keys, _ clock: NodeClock) {
        self.apns = apns
        self.clock = clock
        self.link = link
        key = keys.providerToken(of: apns.keyID)
    }

    private var second: Int { clock.wallMs / 1_000 }

    /// The token to send with; `nil` when Redis does not answer and no token is known.
    func token(_ completion: @escaping Completion) {
        if let current, current.isGood(at: second) { return completion(current) }
        waiting.append(completion)
        if waiting.count == 1 { read(isLast: false) }
    }

    /// Drops a token that APNs calls too old; `false` when it is too young to be replaced.
    func replace(_ refused: ProviderToken) -> Bool {
        guard current == refused else { return current != nil }
        guard refused.mayBeReplaced(at: second) else { return false }
        current = nil
        link.call(RedisCall("DEL", key)) { _ in }
        return true
    }

    private func read(isLast: Bool) {
        link.call(RedisCall("GET", key)) { [weak self] result in
            guard let self else { return }
            guard case .success(let value) = result else { return tell(nil) }
            let shared = value.bytes.flatMap { ProviderToken(shared: $0) }
            if let shared, shared.isGood(at: second) { return tell(shared) }
            if isLast { return tell(nil) }
            make(over: value.bytes != nil)
        }
    }

    /// Makes a token and offers it; another courier may have been faster, so the token then in Redis is used.
    private func make(over broken: Bool) {
        let second = self.second
        guard let text = apns.token(second: second) else { return tell(nil) }
        let made = ProviderToken(madeSecond: second, text: text)
        // An invalid token there comes from a clock that is ahead, or from a foreign writer.
        if broken { link.call(RedisCall("DEL", key)) { _ in } }
        var call = RedisCall("SET", key, made.shared)
        call.append("EX")
        call.append(decimal: ProviderToken.lifeSeconds)
        call.append("NX")
        link.call(call) { [weak self] result in
            guard case .success = result else { return self?.tell(nil) ?? () }
            self?.read(isLast: true)
        }
    }

    private func tell(_ found: ProviderToken?) {
        current = found
        let all = waiting
        waiting = []
        for completion in all { completion(found) }
    }
}

@available(*, unavailable)
extension ProviderTokens: Sendable {}
