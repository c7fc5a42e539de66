public import Core
public import RedisLink
import Rights

/// Calls commands and refreshes in Redis.
///
/// Thread: the reactor's that owns the link.
public final class CommandRunner {
    /// What a call leads to.
    public typealias Completion = (Result<CommandAnswer, CommandFailure>) -> Void

    let link: any RedisCalls
    /// Tells whether the replicas have what was written; `nil` unless that is wanted of what is acknowledged.
    private let replicas: ReplicaWaits?
    let scripts: ScriptTable
    let builder: CommandCallBuilder
    let onScriptFault: (_ name: String, _ text: String) -> Void
    /// Lanes in which a call finds its keys.
    var turns: LaneTurns
    let settings: CommandSettings
    private let top: (Topic) -> Position?
    private var epochs = EpochSource()

    /// A call and what is given with it.
    struct Pending {
        let descriptor: CommandDescriptor
        var bound: BoundArguments
        let caller: CommandCaller
        let operation: OperationID?
        let fence: Int?
        /// The refusal of a caller that may not make the call; asked once its resolved values are known, or known to lack.
        let refusal: ((BoundArguments) -> Refusal?)?
    }

    /// Makes a runner on a link whose registry holds the scripts.
    ///
    /// `top` tells the last event known of a topic, so that a Redis whose data went backwards is noticed.
    /// `onScriptFault` is told what a script's author must mend: the script's name, and the fault with the lines of its
    /// file. It is called before the completion.
    public init(
        link: any RedisCalls, replicas: ReplicaWaits? = nil, scripts: ScriptTable, settings: CommandSettings,
        top: @escaping (Topic) -> Position? = { _ in nil },
        onScriptFault: @escaping (_ name: String, _ text: String) -> Void
    ) {
        self.link = link
        self.replicas = replicas
        self.scripts = scripts
        self.settings = settings
        self.top = top
        self.onScriptFault = onScriptFault
        builder = CommandCallBuilder(settings)
        turns = LaneTurns(waitingMax: link.callsMax)
    }

    /// Whether a call of the lane is in flight or waits.
    public func isBusy(_ lane: UInt64) -> Bool { turns.isTaken(lane) || link.isBusy(lane) }

    /// What makes two calls of a read-only command the same; `nil` when they never are.
    public func likeness(
        _ descriptor: CommandDescriptor, _ bound: BoundArguments, caller: CommandCaller
    ) -> CommandCallBuilder.Call? {
        builder.likeness(descriptor, bound, caller: caller)
    }

    /// Runs a command or a refresh; the caller's rights were checked.
    ///
    /// - Parameters:
    ///   - operation: What makes a retry harmless; `nil`: nothing does. Read-only and idempotent commands ignore it.
    ///   - fence: The token of the lease, for a refresh.
    ///   - refusal: Why the caller may not, told of the arguments once their resolved values are known; asked for a
    ///     command that has such values only.
    ///   - lane: Calls of one lane run in the order they were made; `nil` keeps no order.
    public func run(
        _ descriptor: CommandDescriptor, _ bound: BoundArguments, caller: CommandCaller, operation: OperationID?,
        fence: Int? = nil, refusal: ((BoundArguments) -> Refusal?)? = nil, lane: UInt64? = nil,
        _ completion: @escaping Completion
    ) {
        let call = Pending(
            descriptor: descriptor, bound: bound, caller: caller, operation: operation, fence: fence, refusal: refusal)
        run(call, lane: lane, completion)
    }

    private func run(_ call: Pending, lane: UInt64?, _ completion: @escaping Completion) {
        // Whoever waited asks again: one that waited before may have taken the lane.
        switch lane.map({ turns.ask($0) { [weak self] in self?.run(call, lane: lane, completion) } }) ?? .now {
        case .now where call.descriptor.resolved.isEmpty: runResolved(call, lane: lane, completion)
        case .now: resolveAndRun(call, lane: lane, completion)
        case .later: break
        case .full: completion(.failure(CommandFailure(RedisFailure(.inFlightFull).refusal)))
        }
    }

    /// Runs a call whose keys are known.
    func runResolved(_ call: Pending, lane: UInt64?, _ completion: @escaping Completion) {
        let (descriptor, bound) = (call.descriptor, call.bound)
        guard
            let run = link.fence(
                of: descriptor.home?.topic { bound.value($0, descriptor) }.map(settings.keys.meta)
                    ?? settings.keys.outbox)
        else {
            return completion(.failure(CommandFailure(RedisFailure(.disconnected).refusal)))
        }
        let moment = CommandCallBuilder.Moment(
            nowMs: settings.nowMs(), run: run, epoch: epochs.next(),
            random: descriptor.usesRandom || descriptor.mint != nil ? Hexadecimal.text(SecureRandom.bytes(16)) : [])
        guard let script = scripts[descriptor.scriptName],
            let made = builder.call(
                descriptor, bound, caller: call.caller, operation: call.operation, fence: call.fence, moment, top: top)
        else {
            onScriptFault(descriptor.scriptName, "no call can be made of these arguments")
            return completion(.failure(CommandFailure(Refusal(.internalError, "the command cannot be called"))))
        }
        // On a cluster a script that only reads may ask for topics of other masters.
        let elsewhere = link.isSharded && descriptor.isReadOnly ? ReadsElsewhere() : nil
        send(Run(descriptor: descriptor, script: script, call: made, elsewhere: elsewhere), lane: lane, completion)
    }

    private func send(_ run: Run, lane: UInt64?, _ completion: @escaping Completion) {
        let (descriptor, script, elsewhere) = (run.descriptor, run.script, run.elsewhere)
        let scriptCall = ScriptCall(
            script: script.id, keys: run.call.keys,
            arguments: run.call.arguments + (elsewhere.map { [$0.argument] } ?? []),
            fenceAt: CommandCallBuilder.fenceAt)
        let replicas = descriptor.isReadOnly ? nil : replicas
        link.run(scriptCall, lane: lane) { [self] result in
            if elsewhere != nil, case .success(let value) = result, let asked = ReadsElsewhere.asked(value) {
                return read(asked, run) { [self] outcome in
                    switch outcome {
                    case .failure(let failure): completion(.failure(failure))
                    case .success(let next): send(next, lane: lane, completion)
                    }
                }
            }
            tellElsewhere(result)
            let reading = CommandReply.read(result, descriptor, settings)
            if let fault = reading.fault { onScriptFault(descriptor.scriptName, script.source.translate(fault)) }
            guard let replicas, case .success = reading.result else {
                return completion(reading.result.map { $0.after(elsewhere) })
            }
            replicas.confirm(link.writer) { refusal in
                completion(refusal.map { .failure(CommandFailure($0)) } ?? reading.result)
            }
        }
    }
}

@available(*, unavailable)
extension CommandRunner: Sendable {}
