public import Core
public import RedisLink
import Rights

/// Calls commands and refreshes in Redis.
///
/// Thread: the reactor's that owns the link.
public final class CommandRunner {
    /// Receives the outcome of a call.
    public typealias Completion = (CommandOutcome) -> Void

    let link: any RedisCalls
    /// Confirms that replicas have stored a write; `nil` unless acknowledged writes need that.
    private let replicas: ReplicaWaits?
    let scripts: ScriptTable
    let builder: CommandCallBuilder
    /// Returns the command of a name, for steps; `nil` when there is none.
    let commands: (String) -> CommandDescriptor?
    let onScriptFault: (_ name: String, _ text: String) -> Void
    /// The lanes whose current call first resolves its keys.
    var turns: LaneOrder
    let settings: CommandSettings
    private let top: (Topic) -> Position?
    private var epochs = EpochSource()

    /// A call with its parameters.
    struct Pending {
        let descriptor: CommandDescriptor
        var bound: BoundArguments
        let caller: CommandCaller
        let operation: OperationID?
        let fence: Int?
        /// The refusal of a caller without the right to make the call.
        ///
        /// It is asked once the values are resolved, or cannot be.
        let refusal: ((BoundArguments) -> Refusal?)?
    }

    /// Makes a runner on a link whose registry holds the scripts.
    ///
    /// `top` returns the last known event of a topic, so that a Redis whose data went backwards is noticed.
    ///
    /// `onScriptFault` receives a fault that the script's author must fix: the script's name, and a text with lines of
    /// its file. It is called before the completion.
    public init(
        link: any RedisCalls, replicas: ReplicaWaits? = nil, scripts: ScriptTable, settings: CommandSettings,
        commands: @escaping (String) -> CommandDescriptor?,
        top: @escaping (Topic) -> Position? = { _ in nil },
        onScriptFault: @escaping (_ name: String, _ text: String) -> Void
    ) {
        self.link = link
        self.replicas = replicas
        self.scripts = scripts
        self.settings = settings
        self.commands = commands
        self.top = top
        self.onScriptFault = onScriptFault
        builder = CommandCallBuilder(settings)
        turns = LaneOrder(waitingMax: link.callsMax)
    }

    /// Whether a call of the lane is in flight or waits.
    public func isBusy(_ lane: UInt64) -> Bool { turns.isTaken(lane) || link.isBusy(lane) }

    /// The key of a read-only command's call, equal for calls with the same answer; `nil` when no two calls are alike.
    public func likeness(
        _ descriptor: CommandDescriptor, _ bound: BoundArguments, caller: CommandCaller
    ) -> CommandCallBuilder.Call? {
        builder.likeness(descriptor, bound, caller: caller)
    }

    /// Runs a command or a refresh; the caller's rights were checked.
    ///
    /// - Parameters:
    ///   - operation: The name that makes a retry harmless; `nil`: a retry runs again. Read-only and idempotent
    ///     commands ignore it.
    ///   - fence: The token of the lease, for a refresh.
    ///   - refusal: Returns why the caller may not make the call. It is asked only for a command with resolved values,
    ///     once they are known.
    ///   - lane: Calls of one lane run in the order in which they were made; `nil` keeps no order.
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
        // A call that waited asks again, because a call before it may have taken the lane.
        switch lane.map({ turns.ask($0) { [weak self] in self?.run(call, lane: lane, completion) } }) ?? .now {
        case .now where !call.descriptor.takesSeveralCalls: runResolved(call, lane: lane, completion)
        case .now: resolveAndRun(call, lane: lane, completion)
        case .later: break
        case .full: completion(.refused(.storeOverloaded))
        }
    }

    /// Runs a call whose keys are known.
    func runResolved(_ call: Pending, lane: UInt64?, _ completion: @escaping Completion) {
        let (descriptor, bound) = (call.descriptor, call.bound)
        guard
            let run = link.fence(
                of: descriptor.placeTopic { bound.value($0, descriptor) }.map(settings.keys.meta)
                    ?? settings.keys.outbox)
        else {
            return completion(.refused(.storeUnavailable))
        }
        let stamp = CommandCallBuilder.CallStamp(
            nowMs: settings.nowMs(), run: run, epoch: epochs.next(),
            random: descriptor.usesRandom || descriptor.mint != nil ? Hexadecimal.text(SecureRandom.bytes(16)) : [])
        guard let script = scripts[descriptor.scriptName],
            let made = builder.call(
                descriptor, bound, caller: call.caller, operation: call.operation, fence: call.fence, stamp, top: top)
        else {
            onScriptFault(descriptor.scriptName, "no call can be made of these arguments")
            return completion(.refused(Refusal(.internalError, "the command cannot be called")))
        }
        // On a cluster a read-only script may ask for topics of other masters.
        let elsewhere = link.isSharded && descriptor.isReadOnly ? ReadsElsewhere() : nil
        let next = Run(
            descriptor: descriptor, script: script, call: made, caller: call.caller, elsewhere: elsewhere)
        guard !descriptor.looked.isEmpty else { return send(next, lane: lane, completion) }
        look(call, next, lane: lane, completion)
    }

    /// Reads the keys of another id that a script looks at on a cluster, and runs the script with what they hold.
    private func look(_ call: Pending, _ run: Run, lane: UInt64?, _ completion: @escaping Completion) {
        guard let script = scripts["look"], let (keys, _) = builder.looked(run.descriptor, call.bound) else {
            return completion(.refused(.brokenScript))
        }
        link.run(ScriptCall(script: script.id, keys: keys, arguments: []), lane: lane) { [self] result in
            switch result {
            case .failure(let failure): completion(.refused(failure.refusal))
            case .success(let found):
                var run = run
                run.call.arguments.append(found.bytes ?? [])
                send(run, lane: lane, completion)
            }
        }
    }

    func send(_ run: Run, lane: UInt64?, _ completion: @escaping Completion) {
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
                    case .failure(let refusal): completion(.refused(refusal))
                    case .success(let next): send(next, lane: lane, completion)
                    }
                }
            }
            reportElsewhere(result)
            let reading = CommandReply.read(result, descriptor, settings)
            if let fault = reading.fault { onScriptFault(descriptor.scriptName, script.source.translate(fault)) }
            guard case .answer(let answer) = reading.outcome else { return completion(reading.outcome) }
            let steps = CommandRunner.steps(result)
            guard let replicas else { return carry(steps[...], of: run, answer.after(elsewhere), completion) }
            replicas.confirm(link.writer) { [self] refusal in
                if let refusal { return completion(.refused(refusal)) }
                carry(steps[...], of: run, answer, completion)
            }
        }
    }
}

@available(*, unavailable)
extension CommandRunner: Sendable {}
