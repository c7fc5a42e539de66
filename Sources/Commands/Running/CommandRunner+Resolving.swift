import Core
import RedisLink

/// Calls whose keys depend on values of other keys: these are read first, and read again inside the script.
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

    private func resolve(_ call: Pending, lane: UInt64?, triesLeft: Int, _ completion: @escaping Completion) {
        let descriptor = call.descriptor
        guard let script = scripts["resolve"], let names = builder.resolving(descriptor, call.bound) else {
            return completion(.refused(broken(descriptor, "the keys to resolve cannot be named")))
        }
        let read = ScriptCall(script: script.id, keys: names.keys, arguments: names.arguments)
        link.run(read, lane: lane) { [self] result in
            switch values(descriptor, result) {
            case .failure(let refusal):
                // A caller without the right to make the call must not learn from its failure what the key holds.
                let hidden = refusal.isUnavailable ? nil : call.refusal?(call.bound)
                completion(.refused(hidden ?? refusal))
            case .success(let values):
                var call = call
                call.bound.resolved = values
                if let refusal = call.refusal?(call.bound) { return completion(.refused(refusal)) }
                runResolved(call, lane: lane) { [self] outcome in
                    guard outcome == .stale, triesLeft > 1 else { return completion(outcome) }
                    resolve(call, lane: lane, triesLeft: triesLeft - 1, completion)
                }
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
