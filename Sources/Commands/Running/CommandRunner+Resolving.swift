import Core
import RedisLink

/// Calls whose keys depend on values of other keys: these are read first. They are read again inside the script where it
/// reaches them.
extension CommandRunner {
    /// The most attempts of a call whose values changed in between.
    private static let triesMax = 3

    /// Resolves the values that a call needs, and runs it; the call keeps its lane until it is answered.
    func resolveAndRun(_ call: Pending, lane: UInt64?, _ completion: @escaping Completion) {
        guard let lane else { return resolve(call, lane: nil, triesLeft: CommandRunner.triesMax, completion) }
        turns.take(lane)
        resolve(call, lane: lane, triesLeft: CommandRunner.triesMax) { [self] result in
            // The calls that waited are sent before any later call of the caller.
            for begin in turns.end(lane) { begin() }
            completion(result)
        }
    }

    /// Reads the values and runs the call.
    ///
    /// `told` is the outcome of an earlier attempt: it counts when the values are
    /// still those.
    private func resolve(
        _ call: Pending, lane: UInt64?, triesLeft: Int, told: CommandOutcome? = nil, _ completion: @escaping Completion
    ) {
        let descriptor = call.descriptor
        guard !descriptor.resolved.isEmpty else {
            return attempt(call, lane: lane, triesLeft: triesLeft, completion)
        }
        guard let script = scripts["resolve"], let names = builder.resolving(descriptor, call.bound) else {
            return completion(.refused(broken(descriptor, "the keys to resolve cannot be named")))
        }
        let reads = zip(names.keys, names.arguments).map {
            ScriptCall(script: script.id, keys: [$0], arguments: [$1])
        }
        let together = ScriptCall(script: script.id, keys: names.keys, arguments: names.arguments)
        gather(link.isSharded ? reads : [together], lane: lane) { [self] result in
            switch values(descriptor, result) {
            case .failure(let refusal):
                // A caller without the right to make the call must not learn from its failure what the key holds.
                let hidden = refusal.isUnavailable ? nil : call.refusal?(call.bound)
                completion(.refused(hidden ?? refusal))
            case .success(let values):
                if let told, call.bound.resolved == values { return completion(told) }
                var call = call
                call.bound.resolved = values
                if let refusal = call.refusal?(call.bound) { return completion(.refused(refusal)) }
                attempt(call, lane: lane, triesLeft: triesLeft, completion)
            }
        }
    }

    private func attempt(_ call: Pending, lane: UInt64?, triesLeft: Int, _ completion: @escaping Completion) {
        runResolved(call, lane: lane) { [self] outcome in
            guard triesLeft > 1 else { return completion(outcome) }
            if outcome == .stale { return resolve(call, lane: lane, triesLeft: triesLeft - 1, completion) }
            // A value that is not read again inside the script may have been another by then: who has gone elsewhere is
            // not refused where the call has gone.
            guard case .refused(let refusal) = outcome, !refusal.isUnavailable,
                call.descriptor.resolved.contains(where: { !call.descriptor.rereads($0) })
            else { return completion(outcome) }
            resolve(call, lane: lane, triesLeft: triesLeft - 1, told: outcome, completion)
        }
    }

    /// Makes reads one after the other, and completes with all they found.
    private func gather(
        _ reads: [ScriptCall], lane: UInt64?, found: [RESPValue] = [],
        _ completion: @escaping (Result<RESPValue, RedisFailure>) -> Void
    ) {
        guard found.count < reads.count, let read = reads.dropFirst(found.count).first else {
            return completion(.success(.array(found.flatMap { $0.elements ?? [] })))
        }
        link.run(read, lane: lane) { [self] result in
            switch result {
            case .failure: completion(result)
            case .success(let value): gather(reads, lane: lane, found: found + [value], completion)
            }
        }
    }

    /// The resolved values, each an id; or the failure of the call.
    private func values(
        _ descriptor: CommandDescriptor, _ reply: Result<RESPValue, RedisFailure>
    ) -> Result<[[UInt8]], Refusal> {
        let found: [RESPValue]
        switch reply {
        case .failure(let failure): return .failure(failure.refusal)
        case .success(let value): found = value.elements ?? []
        }
        guard found.count == descriptor.resolved.count else {
            return .failure(broken(descriptor, "a reply of another shape"))
        }
        var values: [[UInt8]] = []
        for (declared, value) in zip(descriptor.resolved, found) {
            let bytes: [UInt8]
            switch (value.bytes, declared.absent) {
            case (let stored?, _): bytes = stored
            case (nil, .instead(let id)): bytes = id
            case (nil, .refused(let error, let sentence)): return .failure(Refusal(error, sentence))
            }
            guard Topic.isID(bytes) else {
                return .failure(broken(descriptor, "\(declared.key) holds no id, so there is no \(declared.name)"))
            }
            values.append(bytes)
        }
        return .success(values)
    }

    private func broken(_ descriptor: CommandDescriptor, _ fault: String) -> Refusal {
        onScriptFault(descriptor.scriptName, fault)
        return .brokenScript
    }
}
