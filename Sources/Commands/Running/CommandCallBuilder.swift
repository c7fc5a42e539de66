public import Core
import Rights

/// Makes the `KEYS` and `ARGV` of a call.
///
/// Pure: the time, randomness and the run of Redis are parameters.
public struct CommandCallBuilder: Sendable {
    /// The values that differ from call to call and do not come from the caller.
    public struct CallStamp: Sendable {
        /// Now, milliseconds since 1970.
        public var nowMs: Int
        /// The run of Redis, as ``CallLink/fence`` gives it.
        public var run: [UInt8]
        /// A candidate epoch, new for every call.
        public var epoch: [UInt8]
        /// 32 hexadecimal digits; only scripts that ask for randomness use them.
        public var random: [UInt8]

        /// Makes a moment.
        public init(nowMs: Int, run: [UInt8], epoch: [UInt8], random: [UInt8]) {
            self.nowMs = nowMs
            self.run = run
            self.epoch = epoch
            self.random = random
        }
    }

    /// `KEYS` and `ARGV`.
    public struct Call: Hashable, Sendable {
        /// `KEYS`.
        public var keys: [[UInt8]]
        /// `ARGV`.
        public var arguments: [[UInt8]]
    }

    /// The index of the run's fence in `ARGV`.
    static let fenceAt = 3

    private let settings: CommandSettings

    /// Makes a builder.
    public init(_ settings: CommandSettings) {
        self.settings = settings
    }

    /// Builds a call; `nil` while a value is not resolved, or when a name cannot be made.
    ///
    /// A catalogue excludes names that cannot be made, such as a topic of a namespace without a policy.
    ///
    /// `operation` is ignored by read-only and idempotent commands; `fence` is for refreshes. `top` returns the last
    /// event that the gateway knows of a topic.
    public func call(
        _ descriptor: CommandDescriptor, _ bound: BoundArguments, caller: CommandCaller, operation: OperationID?,
        fence: Int?, _ stamp: CallStamp, top: (Topic) -> Position? = { _ in nil }
    ) -> Call? {
        func value(_ name: String) -> [UInt8]? { bound.value(name, descriptor) }
        guard bound.resolved.count == descriptor.resolved.count else { return nil }
        let operation = descriptor.isReadOnly || descriptor.isIdempotent ? nil : operation
        let home = descriptor.placeTopic(value)
        let payer = CommandCallBuilder.payer(descriptor, caller, home)
        let outbox = settings.keys.outbox(settings.outbox.stream(settings.keys, home: home, payer: payer))
        var keys = [outbox, outbox]
        if let operation {
            guard let home else { return nil }
            keys[1] = settings.keys.done(home, digest: CommandCallBuilder.digest(caller, operation))
        }
        var arguments: [[UInt8]] = [
            decimal(stamp.nowMs), bound.actingUser ?? [], caller.roleText, stamp.run,
            stamp.epoch, operation == nil ? [] : CommandCallBuilder.fingerprint(descriptor, bound),
            decimal(settings.doneSeconds), descriptor.usesRandom || descriptor.mint != nil ? stamp.random : [],
            settings.keys.scriptPrefix,
            settings.outbox.terms(payer, caller.role), descriptor.refresh == nil ? [] : decimal(fence ?? 0),
            bound.values.map { UInt8(ascii: $0 == nil ? "0" : "1") } + (bound.mayBeMarked ? [] : [UInt8(ascii: "-")]),
        ]
        for template in descriptor.homeTopics {
            guard let topic = template.topic(value), let policy = settings.policies[template.namespace] else {
                return nil
            }
            keys += [settings.keys.log(topic), settings.keys.meta(topic)]
            arguments += [
                topic.bytes, settings.keys.channel(topic), policy.logBound(largestBytes: Int.max),
                decimal(policy.logSeconds), decimal(policy.positionSeconds), top(topic)?.fenceText ?? [],
            ]
        }
        for key in descriptor.keys {
            guard let name = key.template.key(settings.keys, value) else { return nil }
            keys.append(name)
        }
        for resolved in descriptor.resolved where descriptor.rereads(resolved) {
            guard let name = resolved.key.key(settings.keys, value) else { return nil }
            keys.append(name)
        }
        if descriptor.refresh != nil {
            guard let home else { return nil }
            keys.append(settings.keys.fence(home))
        }
        // When these keys lie in other slots, the outbox's key replaces them: the worker makes their changes.
        let isTagged = settings.keys.layout == .tagged
        arguments += bound.values.map { $0 ?? [] } + bound.derived + bound.resolved
        if descriptor.changesMembers {
            keys.append(isTagged ? outbox : settings.keys.removed)
            keys += descriptor.homeTopics.compactMap { $0.topic(value).map(settings.keys.members) }
            arguments.append(decimal(settings.membersMax))
        }
        if !descriptor.callsOut.isEmpty {
            keys += descriptor.services.map { isTagged ? outbox : settings.keys.calls(of: $0) }
            arguments.append(decimal(settings.callsMax))
        }
        if !descriptor.looked.isEmpty {
            guard let (looked, note) = looked(descriptor, bound) else { return nil }
            keys.append(note)
            arguments += looked
        }
        return Call(keys: keys, arguments: arguments)
    }

    /// The keys of another id that a script looks at, and the key in the script's own slot that notes the time of the
    /// last look; `nil` when a name cannot be made.
    func looked(_ descriptor: CommandDescriptor, _ bound: BoundArguments) -> (keys: [[UInt8]], note: [UInt8])? {
        func value(_ name: String) -> [UInt8]? { bound.value(name, descriptor) }
        guard let home = descriptor.placeTopic(value),
            let id = descriptor.looked.first?.template.variable.flatMap(value)
        else { return nil }
        let keys = descriptor.looked.compactMap { $0.template.key(settings.keys, value) }
        guard keys.count == descriptor.looked.count else { return nil }
        return (keys, settings.keys.done(home, digest: CommandCallBuilder.hash([Array("looked".utf8), id])))
    }

    /// Builds the call of `resolve.lua` that reads the values to resolve; `nil` when a name cannot be made.
    public func resolving(_ descriptor: CommandDescriptor, _ bound: BoundArguments) -> Call? {
        var call = Call(keys: [], arguments: [])
        for value in descriptor.resolved {
            guard let key = value.key.key(settings.keys, { bound.value($0, descriptor) }) else { return nil }
            call.keys.append(key)
            call.arguments.append(Array((value.field ?? "").utf8))
        }
        return call
    }

    /// The key of a read-only call: two calls with equal ones get the same answer.
    ///
    /// It has the call's keys and arguments without those that differ from call to call. `nil` when no call can be
    /// made, or when each call has randomness of its own.
    public func likeness(_ descriptor: CommandDescriptor, _ bound: BoundArguments, caller: CommandCaller) -> Call? {
        guard descriptor.isReadOnly, !descriptor.usesRandom else { return nil }
        let stamp = CallStamp(nowMs: 0, run: [], epoch: [], random: [])
        return call(descriptor, bound, caller: caller, operation: nil, fence: nil, stamp)
    }

    /// The payer of a call's entries in the outbox; for a worker without a payer this is the home.
    ///
    /// A read-only command adds no entries. It has one payer for all callers, so that equal reads of two callers are
    /// one call.
    private static func payer(
        _ descriptor: CommandDescriptor, _ caller: CommandCaller, _ home: Topic?
    ) -> [UInt8] {
        if descriptor.isReadOnly { return CommandCaller.nobody.payer }
        return caller.payer.isEmpty ? home?.bytes ?? [] : caller.payer
    }

    private func decimal(_ value: Int) -> [UInt8] {
        var text: [UInt8] = []
        text.append(decimal: value)
        return text
    }

    /// Names an operation of a caller: 32 hexadecimal digits.
    ///
    /// The command is not part of it, so that the use of one id for two commands is found and refused.
    static func digest(_ caller: CommandCaller, _ operation: OperationID) -> [UInt8] {
        Array(hash([Array(caller.role.rawValue.utf8), caller.principal] + operation.fields).prefix(32))
    }

    /// The digest of a command and its arguments: 64 hexadecimal digits.
    static func fingerprint(_ descriptor: CommandDescriptor, _ bound: BoundArguments) -> [UInt8] {
        var fields = [Array(descriptor.name.utf8)]
        for value in bound.values {
            fields.append([UInt8(ascii: value == nil ? "0" : "1")])
            fields.append(value ?? [])
        }
        return hash(fields)
    }

    /// SHA-256 of fields, each with its length, so that no two lists have one text.
    private static func hash(_ fields: [[UInt8]]) -> [UInt8] {
        var text: [UInt8] = []
        text.append(decimal: fields.count)
        for field in fields {
            text.append(UInt8(ascii: " "))
            text.append(decimal: field.count)
            text.append(UInt8(ascii: ":"))
            text += field
        }
        return Hexadecimal.text(Digest.sha256(text))
    }
}
