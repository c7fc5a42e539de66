import Core
import RedisLink

/// Transfers the positions of topics to the Redis that has their logs now, so that clients resume there.
///
/// A position is valid only in the history of writes in which it was written (`run`, lua/README.md). Once log and
/// position are copied and compared, the copy gets the history of its new server. The original gets it as well, and so
/// becomes invalid. Otherwise the old server could continue from it, and reuse offsets that clients have received from
/// the new one.
///
/// Thread: the reactor's of the links.
struct PositionMove {
    /// Redis that has the positions.
    let source: WholeRedis
    /// Redis that receives the copies.
    let target: WholeRedis
    /// `position.lua`.
    let position: ScriptID
    /// The generation of the source's `+`, see lua/README.md; `nil` where it has no `+`.
    let generation: [UInt8]?

    /// The field of a position that names the history.
    static let field = Array("run".utf8)

    /// Whether a key of this installation holds a position.
    static func isPosition(_ name: [UInt8]) -> Bool { name.suffix(5).elementsEqual("#meta".utf8) }

    /// Asks the source whether its run has the `+`, as gateways have determined there.
    static func generation(
        of source: WholeRedis, sealed key: [UInt8], _ completion: @escaping (Result<[UInt8]?, RedisFailure>) -> Void
    ) {
        var call = RedisCall("HMGET", key)
        for name in ["run", "weak", "since"] { call.append(Array(name.utf8)) }
        source.link.call(call) { result in
            completion(
                result.map { reply in
                    let fields = reply.elements?.map(\.bytes) ?? []
                    guard fields.count == 3, fields[0] == source.runID(of: key), fields[1]?.isEmpty != false else {
                        return nil
                    }
                    return fields[2] ?? []
                })
        }
    }

    /// Transfers one position, if it is still valid at the source; completes with the failure of Redis, if any.
    func run(_ name: [UInt8], _ new: [UInt8], _ completion: @escaping (RedisFailure?) -> Void) {
        guard let fence = fence(of: name), let history = target.history(of: new) else {
            return completion(RedisFailure(.disconnected))
        }
        let keys = [name.dropLast(4) + Array("log".utf8), name]
        source.link.run(ScriptCall(script: position, keys: keys, arguments: [fence]), lane: nil) { result in
            guard case .success(let reply) = result else { return completion(result.failed) }
            guard let facts = reply.elements, facts.count > 2, facts[2].integer == 1 else { return completion(nil) }
            write(target, new, history) { failure in
                guard failure == nil else { return completion(failure) }
                write(source, name, history, completion)
            }
        }
    }

    /// The history in which positions of the source are valid.
    private func fence(of name: [UInt8]) -> [UInt8]? {
        guard let fence = source.link.fence(of: name), fence.last == UInt8(ascii: "+") else {
            return source.link.fence(of: name)
        }
        return generation.map { fence + $0 } ?? fence.dropLast()
    }

    private func write(
        _ whole: WholeRedis, _ key: [UInt8], _ history: [UInt8], _ completion: @escaping (RedisFailure?) -> Void
    ) {
        whole.link.call(RedisCall("HSET", key, PositionMove.field, history)) { completion($0.failed) }
    }
}

extension Result where Failure == RedisFailure {
    /// The reason why there is no value; `nil` when there is one.
    var failed: RedisFailure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
