import RedisLink

/// Copies keys from one Redis to another, and compares existing copies.
///
/// Thread: the reactor's of the links.
struct KeyCopy {
    /// The result for one key.
    enum Outcome {
        /// The key has expired.
        case gone
        /// A copy was missing, and was made.
        case copied
        /// An identical copy existed.
        case verified
        /// Another value has the name of the copy.
        case different
        /// Redis refused; the sentence for the operator.
        case failed(String)
    }

    /// The Redis that holds the keys.
    let source: any RedisCalls
    /// The Redis that receives the copies.
    let target: any RedisCalls
    /// `key_digest.lua`.
    let digest: ScriptID

    /// Milliseconds by which the lives of a key and its copy may differ, since copying takes time.
    private static let lifeSlackMs = 60_000

    private struct Digest {
        let kind: String
        let digest: [UInt8]
        let ttlMs: Int
    }

    /// Copies a key to another name where no copy exists, and compares the two where one does.
    ///
    /// The comparison leaves out a field of a hash, if one is named.
    func run(
        _ name: [UInt8], _ new: [UInt8], leavingOut field: [UInt8]?, _ completion: @escaping (Outcome) -> Void
    ) {
        let fields = field.map { [$0] } ?? []
        look(source, name, fields, completion) { [self] original in
            look(target, new, fields, completion) { [self] copy in
                if original.kind == "none" { return completion(.gone) }
                if copy.kind == "none" { return restore(name, new, completion) }
                let isAlive =
                    (original.ttlMs < 0) == (copy.ttlMs < 0)
                    && abs(original.ttlMs - copy.ttlMs) < KeyCopy.lifeSlackMs
                let isSame = original.kind == copy.kind && original.digest == copy.digest && isAlive
                completion(isSame ? .verified : .different)
            }
        }
    }

    private func restore(_ name: [UInt8], _ new: [UInt8], _ completion: @escaping (Outcome) -> Void) {
        ask(source, RedisCall("PTTL", name), completion) { [self] life in
            ask(source, RedisCall("DUMP", name), completion) { [self] dump in
                guard let text = dump.bytes, let lifeMs = life.integer, lifeMs != -2 else { return completion(.gone) }
                var call = RedisCall("RESTORE", new)
                call.append(decimal: max(lifeMs, 0))
                call.append(text)
                ask(target, call, completion) { _ in completion(.copied) }
            }
        }
    }

    private func look(
        _ link: any RedisCalls, _ name: [UInt8], _ fields: [[UInt8]], _ completion: @escaping (Outcome) -> Void,
        _ then: @escaping (Digest) -> Void
    ) {
        link.run(ScriptCall(script: digest, keys: [name], arguments: fields), lane: nil) { result in
            switch result {
            case .failure(let failure): completion(.failed(KeyCopy.sentence(failure)))
            case .success(let value):
                guard let fields = value.elements, fields.count == 3, let kind = fields[0].bytes,
                    let digest = fields[1].bytes, let ttlMs = fields[2].integer
                else { return completion(.failed("a key's digest was answered by something else")) }
                then(Digest(kind: String(decoding: kind, as: UTF8.self), digest: digest, ttlMs: ttlMs))
            }
        }
    }

    private func ask(
        _ link: any RedisCalls, _ call: RedisCall, _ completion: @escaping (Outcome) -> Void,
        _ then: @escaping (RESPValue) -> Void
    ) {
        link.call(call) { result in
            switch result {
            case .success(let value): then(value)
            case .failure(let failure): completion(.failed(KeyCopy.sentence(failure)))
            }
        }
    }

    /// The message for the operator about a failed call.
    static func sentence(_ failure: RedisFailure) -> String {
        "\(failure.metricLabel) \(failure.detail); run it again to go on"
    }
}
