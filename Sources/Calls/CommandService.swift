public import Commands
import Configuration
public import Core
import EventLogs
import Operations
import Reactors
import RedisLink
public import Rights
import Service

/// Runs commands: checks rights, arguments and rates, then calls the script.
///
/// A call comes from a dialect or a route. The answer goes to the caller alone; events for others return through Redis
/// like any event. Thread: the shard's.
public final class CommandService {
    /// Receives the caller's answer.
    public typealias Completion = (Result<CommandAnswer, Refusal>) -> Void

    /// A call, as received.
    public struct Request: Sendable {
        /// The arguments of a JSON object; `nil` without a body.
        public var body: JSON.Value?
        /// The arguments in the path of a script's own route, decoded.
        public var path: [TextArgument] = []
        /// The arguments of a query, decoded.
        public var query: [TextArgument] = []
        /// Arguments that the connection implies, by name, so that the caller may omit them.
        public var known: [String: [UInt8]] = [:]
        /// Whether members of the body that the command does not know are left out.
        public var ignoresUnknown = false
        /// Identifies the call for a harmless retry, unless the arguments name an `id`.
        public var operation: OperationID?
        /// Random, the connection's own; empty where a connection means nothing.
        public var scope: [UInt8] = []
        /// Calls of one lane run in order.
        ///
        /// A read may wait for its turn, and then sees the results of later calls.
        public var lane: UInt64?
        /// The payer whose budget is charged; `nil`: the caller, at an unknown address.
        public var payer: Payer?

        /// A call; by default without arguments, operation, lane and payer.
        public init(
            body: JSON.Value? = nil, path: [TextArgument] = [], query: [TextArgument] = [],
            known: [String: [UInt8]] = [:], operation: OperationID? = nil, scope: [UInt8] = [], lane: UInt64? = nil,
            payer: Payer? = nil
        ) {
            self.body = body
            self.path = path
            self.query = query
            self.known = known
            self.operation = operation
            self.scope = scope
            self.lane = lane
            self.payer = payer
        }
    }

    private let context: CallsContext
    private let reads: SharedReader<Result<CommandAnswer, Refusal>>
    private let runner: CommandRunner
    private let statistics: ShardStatistics
    /// The questions to outside services.
    public let asks: CourierRequests
    private var heartbeats: [(command: CommandDescriptor, queue: HeartbeatQueue)]

    /// `top` is the last position of a topic, as far as this shard knows it.
    public init(_ context: CallsContext, top: @escaping (Topic) -> Position?) {
        self.context = context
        reads = SharedReader(context.reads)
        let (statistics, log) = (context.statistics, context.log)
        self.statistics = statistics
        asks = CourierRequests(context)
        runner = CommandRunner(
            link: context.link, replicas: context.replicas, scripts: context.library.table, settings: context.settings,
            commands: context.library.catalogue.command(named:), top: top
        ) { name, text in
            statistics.commandFaults.add(1)
            log.write(.error, "a script failed", [("script", name), ("fault", String(text.prefix(500)))])
        }
        heartbeats = context.library.catalogue.heartbeats.map {
            (
                $0,
                HeartbeatQueue(intervalMs: ($0.heartbeatSeconds ?? 20) * 1_000, notesDepartures: $0.takesDepartures)
            )
        }
    }

    /// Runs a command by its name.
    public func perform(_ name: String, _ request: Request, caller: Caller, _ completion: @escaping Completion) {
        guard let command = context.library.catalogue.command(named: name) else {
            // The hint names no command that the caller may not call.
            let names = context.library.catalogue.commands.filter { context.callRights.reaches($0, caller) }.map(\.name)
            let hint = NearestName.hint(names, to: name)
            return completion(
                .failure(Refusal(.notFound, "there is no command \(PrintableName.shown(name))" + hint)))
        }
        perform(command, request, caller: caller, completion)
    }

    /// Runs a command.
    public func perform(
        _ command: CommandDescriptor, _ request: Request, caller: Caller, _ completion: @escaping Completion
    ) {
        let commandCaller = CommandCaller(caller)
        let payer = request.payer ?? caller.payer(from: nil)
        var bound: BoundArguments
        do throws(Refusal) {
            if let refusal = context.callRights.refusal(command, caller) { throw refusal }
            if case .user(let identity) = caller, !caller.isService,
                let waitMs = context.rates.waitForUserAction(identity.user, nowMs: context.nowMs())
            {
                statistics.rateLimited.add(1)
                throw Refusal(
                    .rateLimited, "more than \(context.limits.userActionsPerSecond) commands a second",
                    retryAfterMs: waitMs)
            }
            bound = try ArgumentBinder.bind(
                command, body: request.body, path: request.path, query: request.query, known: request.known,
                caller: commandCaller, address: payer.address, ignoresUnknown: request.ignoresUnknown)
            if let refusal = CommandGrants.refusal(
                command, bound, caller, context.gate.authenticator.verifier.grants)
            {
                throw refusal
            }
            try pay(command, bound, payer, commandCaller)
        } catch {
            statistics.commandsRefused.add(1)
            return completion(.failure(error))
        }
        if command.isReadOnly {
            return read(command, bound, request, caller, payer, asking(command, completion))
        }
        let markWaitMs = context.budgets.waitForMark(
            command.rates, of: command.name, payer, role: commandCaller.role, nowMs: context.nowMs())
        bound.mayBeMarked = markWaitMs == 0
        statistics.commands.add(1)
        let operation = operation(bound.operation.map { .named($0) } ?? request.operation, request, caller)
        runner.run(
            command, bound, caller: commandCaller, operation: operation,
            refusal: { CommandGrants.outside(command, $0, caller) }, lane: request.lane
        ) { [context, statistics, bound] outcome in
            let result = outcome.result.mapError { $0.after(markWaitMs) }.flatMap {
                CommandGrants.sign($0, command, bound, context.gate.authenticator.verifier.grants)
            }
            switch result {
            case .success(let answer):
                // The weight is that of the script; the bytes it sent to others are known only now.
                context.budgets.charge(payer, us: answer.price * context.scripts.publishUs, nowMs: context.nowMs())
                if answer.bytesSent > 0, let sent = command.sent(bound, answer.bytesSent, context.settings.policies) {
                    context.budgets.chargeKept(payer, sent.events, on: sent.topic, nowMs: context.nowMs())
                }
                if answer.isMarked {
                    context.budgets.mark(
                        command.rates, of: command.name, payer, role: commandCaller.role, nowMs: context.nowMs())
                }
            case .failure:
                statistics.commandsRefused.add(1)
            }
            completion(result)
        }
    }

    /// The completion of a script: where an outside service answers, the script's result is the question.
    private func asking(_ command: CommandDescriptor, _ completion: @escaping Completion) -> Completion {
        guard let via = command.via else { return completion }
        return { [asks] result in
            guard case .success(let question) = result else { return completion(result) }
            asks.ask(via, command, question.json, completion)
        }
    }

    /// Counts the call against its script's rates, and charges the budget.
    ///
    /// A read is charged once it is known that no other caller's read answers it.
    private func pay(
        _ command: CommandDescriptor, _ bound: BoundArguments, _ payer: Payer, _ caller: CommandCaller
    ) throws(Refusal) {
        let refusal =
            command.isReadOnly
            ? context.budgets.keep(command.rates, of: command.name, payer, role: caller.role, nowMs: context.nowMs())
            : context.budgets.pay(
                payer, command.bill(bound, caller.role, context.settings.policies), nowMs: context.nowMs())
        if let refusal { throw refusal }
    }

    /// Runs a read-only command at its turn; callers with the same question meanwhile share its answer.
    ///
    /// A caller with pending commands reads alone, in the order of the lane: a shared read might run before them.
    private func read(
        _ command: CommandDescriptor, _ bound: BoundArguments, _ request: Request, _ caller: Caller,
        _ payer: Payer, _ completion: @escaping Completion
    ) {
        let commandCaller = CommandCaller(caller)
        let weightUs = command.priceMicroseconds
        let answer: (Result<Result<CommandAnswer, Refusal>, Refusal>) -> Void = { [statistics] outcome in
            let result = outcome.flatMap { $0 }
            if case .failure = result { statistics.commandsRefused.add(1) }
            completion(result)
        }
        func run(_ lane: UInt64?, _ done: @escaping Completion) {
            statistics.commands.add(1)
            runner.run(
                command, bound, caller: commandCaller, operation: nil,
                refusal: { CommandGrants.outside(command, $0, caller) }, lane: lane
            ) { [context] outcome in
                // The weight covered one run; the number of runs on a cluster is known only now.
                if case .answer(let answer) = outcome, answer.roundsElsewhere > 0 {
                    let us = answer.roundsElsewhere * weightUs + answer.elsewhereUs
                    context.budgets.charge(payer, us: us, nowMs: context.nowMs())
                }
                done(outcome.result)
            }
        }
        let isBusy = request.lane.map { runner.isBusy($0) } ?? false
        if !isBusy, let likeness = runner.likeness(command, bound, caller: commandCaller) {
            let key = SharedReader<Result<CommandAnswer, Refusal>>.Key(
                script: command.scriptName, keys: likeness.keys, arguments: likeness.arguments,
                isAnonymous: payer.kind == .anonymous)
            return reads.read(
                key, payer: payer, weightUs: weightUs,
                run: { done in run(nil) { done(.success($0)) } }, answer)
        }
        if let refusal = context.budgets.payOwn(payer, us: weightUs, nowMs: context.nowMs()) {
            return answer(.failure(refusal))
        }
        let read = ReadScheduler.Read(
            payer: payer,
            send: { over in
                run(request.lane) { result in
                    over()
                    answer(.success(result))
                }
            }, refuse: { answer(.failure($0)) })
        context.reads.add(read, weightUs: weightUs)
    }

    /// Names of operations of anonymous clients are bound to the connection: two clients may both use `op-1`.
    private func operation(_ given: OperationID?, _ request: Request, _ caller: Caller) -> OperationID? {
        guard caller.isAnonymous, case .named(let id) = given else { return given }
        return request.scope.isEmpty ? nil : .numbered(connection: request.scope, number: id.bytes)
    }

    // MARK: Data of a user

    /// Runs a read-only command of the gateway's own for one user; the caller's budget was charged before.
    public func run(_ command: CommandDescriptor, user: [UInt8], _ completion: @escaping Completion) {
        let arguments = [TextArgument(name: "userId", value: user)]
        do throws(Refusal) {
            let bound = try ArgumentBinder.bind(command, body: nil, path: arguments, caller: .worker)
            statistics.commands.add(1)
            runner.run(command, bound, caller: .worker, operation: nil) { completion($0.result) }
        } catch {
            completion(.failure(error))
        }
    }

    /// Puts a call of each command into the outbox, for one user, all of them or none; `nil` once Redis has stored
    /// them.
    public func queue(
        _ commands: [CommandDescriptor], user: [UInt8], caller: Caller, _ completion: @escaping (Refusal?) -> Void
    ) {
        var arguments = [UInt8(ascii: "{")]
        arguments.append(member: "userId", string: user)
        arguments.append(UInt8(ascii: "}"))
        let (keys, payer) = (context.settings.keys, CommandCaller(caller).payer)
        let stream = context.settings.outbox.stream(keys, home: nil, payer: payer)
        let call = ScriptCall(
            script: context.scripts.outboxPut, keys: [keys.outbox(stream), keys.outboxPayers(stream), keys.outbox],
            arguments: [context.settings.outbox.terms(payer, CommandCaller(caller).role)]
                + commands.flatMap { [Array($0.name.utf8), arguments] })
        context.link.run(call, lane: nil) { result in
            switch result {
            case .failure(let failure): completion(failure.refusal)
            case .success(let value) where value.integer == 1: completion(nil)
            case .success(let value) where value.integer == -1:
                completion(Refusal(.unavailable, "too much of what this caller has caused still waits"))
            case .success: completion(Refusal(.unavailable, "the outbox is full: is a worker running?"))
            }
        }
    }

    // MARK: Heartbeats

    /// A connection of a user was opened.
    public func came(_ user: [UInt8]) {
        for index in heartbeats.indices { heartbeats[index].queue.came(user, nowMs: context.nowMs()) }
    }

    /// A connection of a user was closed.
    public func left(_ user: [UInt8]) {
        for index in heartbeats.indices { heartbeats[index].queue.left(user) }
    }

    /// Runs the heartbeats that are due, and gives up questions that wait too long.
    public func sweep() {
        asks.sweep()
        for index in heartbeats.indices {
            let (command, max) = (heartbeats[index].command, context.limits.heartbeatsPerSweep)
            for user in heartbeats[index].queue.due(nowMs: context.nowMs(), max: max) { beat(command, user) }
            for user in heartbeats[index].queue.departures(max: max) { beat(command, user, isLast: true) }
        }
    }

    /// Runs a heartbeat; `isLast`: the user's last connection to this shard was closed.
    private func beat(_ command: CommandDescriptor, _ user: [UInt8], isLast: Bool = false) {
        var arguments = [TextArgument(name: "userId", value: user)]
        if command.takesDepartures {
            arguments.append(TextArgument(name: "by", value: Array("\(context.nodeName).\(context.shard)".utf8)))
            if isLast { arguments.append(TextArgument(name: "gone", value: Array("true".utf8))) }
        }
        guard let bound = try? ArgumentBinder.bind(command, body: nil, path: arguments, caller: .worker) else { return }
        // A failed one is made up for by the next; the presence it renews outlasts several.
        runner.run(command, bound, caller: .worker, operation: nil) { _ in }
    }
}
