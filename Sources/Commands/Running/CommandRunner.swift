public import Core
public import RedisLink
import Rights

/// Calls commands and refreshes in Redis.
///
/// Thread: the reactor's that owns the link.
public final class CommandRunner {
    /// What a call leads to.
    public typealias Completion = (Result<CommandAnswer, CommandFailure>) -> Void

    private let link: CallLink
    private let scripts: ScriptTable
    private let settings: CommandSettings
    private let builder: CommandCallBuilder
    private let top: (Topic) -> Position?
    private let onScriptFault: (_ name: String, _ text: String) -> Void
    private var epochs = EpochSource()

    /// Makes a runner on a link whose registry holds the scripts.
    ///
    /// `top` tells the last event known of a topic, so that a Redis whose data went backwards is noticed.
    /// `onScriptFault` is told what a script's author must mend: the script's name, and the fault with the lines of its
    /// file. It is called before the completion.
    public init(
        link: CallLink, scripts: ScriptTable, settings: CommandSettings,
        top: @escaping (Topic) -> Position? = { _ in nil },
        onScriptFault: @escaping (_ name: String, _ text: String) -> Void
    ) {
        self.link = link
        self.scripts = scripts
        self.settings = settings
        self.top = top
        self.onScriptFault = onScriptFault
        builder = CommandCallBuilder(settings)
    }

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
    ///   - lane: Calls of one lane run in the order they were made; `nil` keeps no order.
    public func run(
        _ descriptor: CommandDescriptor, _ bound: BoundArguments, caller: CommandCaller, operation: OperationID?,
        fence: Int? = nil, lane: UInt64? = nil, _ completion: @escaping Completion
    ) {
        guard let run = link.facts?.fence else {
            return completion(.failure(CommandFailure(RedisFailure(.disconnected).refusal)))
        }
        let moment = CommandCallBuilder.Moment(
            nowMs: settings.nowMs(), run: run, epoch: epochs.next(),
            random: descriptor.usesRandom || descriptor.mint != nil ? Hexadecimal.text(SecureRandom.bytes(16)) : [])
        guard let script = scripts[descriptor.scriptName],
            let call = builder.call(
                descriptor, bound, caller: caller, operation: operation, fence: fence, moment, top: top)
        else {
            onScriptFault(descriptor.scriptName, "no call can be made of these arguments")
            return completion(.failure(CommandFailure(Refusal(.internalError, "the command cannot be called"))))
        }
        let scriptCall = ScriptCall(script: script.id, keys: call.keys, arguments: call.arguments)
        link.run(scriptCall, lane: lane) { [onScriptFault, settings] result in
            let reading = CommandReply.read(result, descriptor, settings)
            if let fault = reading.fault { onScriptFault(descriptor.scriptName, script.source.translate(fault)) }
            completion(reading.result)
        }
    }
}

@available(*, unavailable)
extension CommandRunner: Sendable {}
