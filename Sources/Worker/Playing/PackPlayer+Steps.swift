import Commands
public import Core
import Reactors
import RedisLink
public import Rights

/// The steps of a test.
extension PackPlayer {
    /// Calls a command as a gateway does; `operation` is the name that makes a retry harmless.
    ///
    /// It throws only when it cannot be played: a refusal is a result.
    public func call(
        _ name: String, arguments: JSON.Value?, as caller: Caller, operation: MessageID? = nil
    ) throws(PlayFailure) -> Result<[UInt8], Refusal> {
        guard let command = catalogue.command(named: name) else {
            let hint = NearestName.hint(catalogue.commands.map(\.name), to: name)
            return .failure(Refusal(.notFound, "there is no command \(PrintableText.clean(name))" + hint))
        }
        let rights = CallRights(access, allowsAnonymous: true)
        if let refusal = rights.refusal(command, caller) { return .failure(refusal) }
        return try run(command, arguments, CommandCaller(caller), operation)
    }

    /// Calls a command as the worker or a courier does.
    public func callAsWorker(_ name: String, arguments: JSON.Value?) throws(PlayFailure) -> Result<[UInt8], Refusal> {
        guard let command = catalogue.command(named: name) else {
            let hint = NearestName.hint(catalogue.commands.map(\.name), to: name)
            return .failure(Refusal(.notFound, "there is no command \(PrintableText.clean(name))" + hint))
        }
        guard command.rights.roles.contains(.worker) else {
            return .failure(Refusal(.forbidden, "the command does not allow worker"))
        }
        return try run(command, arguments, .worker, nil)
    }

    private func run(
        _ command: CommandDescriptor, _ arguments: JSON.Value?, _ caller: CommandCaller, _ operation: MessageID?
    ) throws(PlayFailure) -> Result<[UInt8], Refusal> {
        let bound: BoundArguments
        do throws(Refusal) {
            bound = try ArgumentBinder.bind(command, body: arguments, caller: caller)
        } catch {
            return .failure(error)
        }
        let id = (bound.operation ?? operation).map { OperationID.named($0) }
        let outcome: CommandOutcome = try outcome { done in
            runner.run(command, bound, caller: caller, operation: id, done)
        }
        try settle()
        return outcome.result.map(\.json)
    }

    /// Publishes an event on a topic, as a service does.
    public func publish(_ topic: Topic, _ event: EventName, data: [UInt8]) throws(PlayFailure) {
        guard let policy = access.policy(of: topic) else {
            throw PlayFailure("there is no namespace \(String(decoding: topic.namespace, as: UTF8.self))")
        }
        let meta = parts.keys.meta(topic)
        let stamp = try stamp(of: meta)
        let call = PublishCall(topic, [PublishCall.Event(event, data: data, id: nil)]).call(
            parts.publish, keys: parts.keys, meta: meta, policy: policy, seenSeconds: parts.limits.relayedSeconds,
            stamp, top: nil)
        _ = try answer { redis.link.run(call, lane: nil, $0) }
        try settle()
    }

    /// Makes one call of Redis, as a backend does that writes past the scripts.
    public func write(_ words: [[UInt8]]) throws(PlayFailure) {
        _ = try reply(to: RedisCall(chosen: words))
        try settle()
    }

    /// The state that a caller receives when it joins a topic, `nil` for none; or the reason why it may not join.
    public func join(_ topic: Topic, as caller: Caller) throws(PlayFailure) -> Result<[UInt8]?, Refusal> {
        switch access.subscribe(topic, caller) {
        case .allow: break
        case .refuse(let refusal): return .failure(refusal)
        case .askMembership:
            guard case .user(let identity) = caller else { break }
            let isMember = try reply(to: RedisCall("SISMEMBER", parts.keys.members(topic), identity.user)).integer == 1
            if case .refuse(let refusal) = AccessPolicy.Decision.membership(isMember) { return .failure(refusal) }
        }
        let provider = catalogue.states[String(decoding: topic.namespace, as: UTF8.self)]
        let name = provider?.positionName ?? "position"
        guard let script = parts.library.table[name] else { throw PlayFailure("the script \(name) is missing") }
        let commandCaller = CommandCaller(caller)
        let user = commandCaller.user ?? StateProvider.nobody
        let own = (provider?.keys ?? []).compactMap { key in
            key.template.key(parts.keys) { $0 == "id" ? Array(topic.id) : user }
        }
        let meta = parts.keys.meta(topic)
        var arguments = [try stamp(of: meta).run]
        if provider?.isPersonal == true {
            arguments += StateProvider.arguments(topic, commandCaller, nowMs: nowMs)
        }
        let call = ScriptCall(script: script.id, keys: [parts.keys.log(topic), meta] + own, arguments: arguments)
        let result: Result<RESPValue, RedisFailure> = try outcome { redis.link.run(call, lane: nil, $0) }
        switch result {
        case .success(let value):
            let state = value.elements.flatMap { $0.count > 4 ? $0[4].bytes : nil }
            return .success(state)
        case .failure(let failure):
            if let refusal = provider?.refusal(failure.detail) { return .failure(refusal) }
            throw PlayFailure("\(name): " + script.source.translate(failure.detail))
        }
    }

    /// The oldest call of an outside service that waits, and forgets it; `nil` when none does.
    public func takeCall(
        of service: String
    ) throws(PlayFailure) -> (request: [UInt8], command: String, arguments: [UInt8])? {
        let stream = parts.keys.calls(of: service)
        let first = RedisCall("XRANGE", stream, Array("-".utf8), Array("+".utf8), Array("COUNT".utf8), Array("1".utf8))
        guard let entry = try reply(to: first).elements?.first?.elements, let id = entry.first?.bytes else {
            return nil
        }
        let words = (entry.last?.elements ?? []).map { $0.bytes ?? [] }
        func field(_ name: String) -> [UInt8] {
            stride(from: 0, to: words.count - 1, by: 2).first { words[$0].elementsEqual(name.utf8) }
                .map { words[$0 + 1] } ?? []
        }
        _ = try reply(to: RedisCall("XDEL", stream, id))
        return (field("r"), String(decoding: field("c"), as: UTF8.self), field("a"))
    }
}
